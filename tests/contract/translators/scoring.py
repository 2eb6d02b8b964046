"""Right, wrong, asked back or refused: one question scored by the rows its SQL returns."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from awhile.ask.translators.contract import QuestionBack, Sql

if TYPE_CHECKING:
    import duckdb

    from awhile.ask.translators.contract import Translation

Score = Literal["right", "wrong", "asked back", "refused"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the SQL whose rows are right, or `expect` "back" or "not_sql"."""

    question: str
    expect: Literal["sql", "back", "not_sql"]
    gold: str = ""
    ordered: bool = False
    held_out: bool = False
    note: str = ""


def questions() -> tuple[Question, ...]:
    """All of `shop_questions.json`."""
    text = Path(__file__).with_name("shop_questions.json").read_text(encoding="utf-8")
    return tuple(Question(**each) for each in json.loads(text))


def score(asked: Question, found: Translation, con: duckdb.DuckDBPyConnection) -> Score:
    """An answer to what cannot be answered is wrong; not answering it is right."""
    if not isinstance(found, Sql):
        kind: Score = "asked back" if isinstance(found, QuestionBack) else "refused"
        if asked.expect == "not_sql" or (asked.expect == "back" and kind == "asked back"):
            return "right"
        return kind
    if asked.expect != "sql":
        return "wrong"
    same = same_rows(
        con.execute(found.sql).fetchall(), con.execute(asked.gold).fetchall(), asked.ordered
    )
    return "right" if same else "wrong"


def same_rows(got: list[Any], gold: list[Any], ordered: bool) -> bool:
    """Whether some choice of the columns got has the gold's rows; extra columns do not matter."""
    if len(got) != len(gold):
        return False
    if not gold:
        return True
    got_columns = [[_plain(cell) for cell in column] for column in zip(*got, strict=True)]
    gold_columns = [[_plain(cell) for cell in column] for column in zip(*gold, strict=True)]
    fitting = [
        [at for at, column in enumerate(got_columns) if Counter(column) == Counter(wanted)]
        for wanted in gold_columns
    ]
    gold_rows = list(zip(*gold_columns, strict=True))
    for choice in itertools.product(*fitting):
        if len(set(choice)) == len(choice):
            rows = list(zip(*(got_columns[at] for at in choice), strict=True))
            if rows == gold_rows if ordered else Counter(rows) == Counter(gold_rows):
                return True
    return False


def _plain(cell: Any) -> Any:
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time().isoformat() == "00:00:00" else str(cell)
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, (Decimal, float, int)) and not isinstance(cell, bool):
        return round(float(cell), 4)
    return cell
