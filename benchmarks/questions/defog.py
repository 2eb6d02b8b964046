"""The public sets of defog (`data/defog/README.md`): their databases and questions by dialect.

What is changed on loading: the types and casts of PostgreSQL where the dialect is another, and
everything relative to the day it is run (`CURRENT_DATE`, `'now'`), which becomes `TODAY`.
"""

from __future__ import annotations

import csv
import re
from datetime import datetime
from typing import TYPE_CHECKING, Literal

import duckdb
import sqlglot
from sqlglot import exp

from benchmarks.questions.asked import DATA, Question, expanded
from benchmarks.questions.databases import TODAY

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ALSO_RIGHT", "BASES", "HELD_OUT", "Dialect", "questions", "statements"]

Dialect = Literal["sqlite", "postgres"]
BASES = (
    "academic",
    "advising",
    "car_dealership",
    "derm_treatment",
    "restaurants",
    "scholar",
    "yelp",
)
HELD_OUT = ("scholar", "yelp")
"""Databases whose questions are only run: the parser is not developed with them."""
ALSO_RIGHT = {
    "What is the average weight in kg of patients treated with the drug named 'Drugalin'? "
    "Return the average weight.": "SELECT avg(weight_kg) FROM patients WHERE patient_id IN "
    "(SELECT patient_id FROM treatments JOIN drugs ON treatments.drug_id = drugs.drug_id "
    "WHERE drug_name = 'Drugalin')",
}
"""Where the set's own answer counts a row once for each of several others, and the question asks
for the rows: both are accepted. Each case is named in docs/questions.md."""
_FILES = ("questions_gen", "instruct_basic", "instruct_advanced")


def statements(base: str, dialect: Dialect) -> list[str]:
    """What makes one of the databases in a dialect."""
    text = (DATA / "defog" / f"{base}.sql").read_text(encoding="utf-8").replace("public.", "")
    text = re.sub(r"CURRENT_DATE|NOW\(\)", f"DATE '{TODAY}'", text)
    with duckdb.connect() as calculator:
        return [
            _plain(each, calculator).sql(dialect=dialect)
            for each in sqlglot.parse(text, read="postgres")
            if each
        ]


def questions(base: str, dialect: Dialect) -> tuple[Question, ...]:
    """The questions on one of the databases, with golds in a dialect."""
    found: list[Question] = []
    for file in _FILES:
        with (DATA / "defog" / f"{file}_{dialect}.csv").open(encoding="utf-8", newline="") as lines:
            found += [
                Question(
                    row["question"],
                    tuple(_golds(f"{row['query']};{ALSO_RIGHT.get(row['question'], '')}")),
                    note=row["query_category"],
                )
                for row in csv.DictReader(lines)
                if row["db_name"] == base
            ]
    return tuple(found)


def _golds(queries: str) -> Iterator[str]:
    for query in queries.split(";"):
        if query.strip():
            yield from map(_today, expanded(query.strip()))


def _today(gold: str) -> str:
    gold = gold.replace("'now'", f"'{TODAY}'")
    return re.sub(r"\bCURRENT_DATE\b(?!\()", f"DATE '{TODAY}'", gold, flags=re.I)


def _plain(tree: exp.Expr, calculator: duckdb.DuckDBPyConnection) -> exp.Expr:
    """The statement with every computed value worked out: a date before the day, a default."""

    def worked_out(node: exp.Expr) -> exp.Expr:
        in_place = isinstance(node.parent, exp.Tuple | exp.DefaultColumnConstraint)
        if not in_place or isinstance(
            node, exp.Literal | exp.Null | exp.Boolean | exp.Neg | exp.Identifier
        ):
            return node
        row = calculator.execute(f"SELECT {node.sql(dialect='duckdb')}").fetchone()
        value = row[0] if row else None
        if isinstance(value, datetime):
            value = value.date()
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return exp.Literal.number(value) if number else exp.Literal.string(str(value))

    return tree.transform(worked_out)
