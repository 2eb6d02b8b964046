"""Drafting a semantic file from a schema card: what can be seen, for a person to put right.

Source: ours. What is certain is written out; what is only likely is a comment. The draft can be
used as it is.
"""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING

import yaml

from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Sql
from awhile.ask.translators.examples import examples
from awhile.ask.translators.figures import Figures
from awhile.ask.translators.intent import ColumnRef, Product
from awhile.ask.translators.joins import Joins
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.names import column_words, hidden_words, one_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from awhile.ask.schema import Schema, Table, TableColumn

__all__ = ["draft"]

_TECHNICAL = re.compile(
    r"(?:crtd|created|inserted|updated|modified|deleted|loaded|etl|sys|row)_?(?:ts|at|on|by|dt|"
    r"date|time|timestamp|version|hash)$|password|passwd|secret|token|salt$|hash$",
    re.IGNORECASE,
)
"""Columns nobody asks about, or that nobody should."""
_CODED_VALUES = 12
_SOME_DAY = date(2000, 1, 1)


def draft(schema: Schema) -> str:
    """The text of a semantic file for a database."""
    figures = Figures(schema, Joins(schema))
    return "\n".join(_lines(schema, figures)) + "\n"


def _lines(schema: Schema, figures: Figures) -> Iterator[str]:
    yield f"# What the words of {schema.database or 'this database'} mean. docs/semantic-file.md"
    yield "# says what each key is. Drafted from the schema; put right what is not."
    yield "version: 1"
    yield ""
    yield '# "last month" is that before today; or, for data that ended, "last day of the data".'
    yield "times: today"
    yield ""
    yield "entities:" if schema.tables else "entities: {}"
    for table in schema.tables:
        yield from _entity(table, figures)
    yield ""
    yield from _measures(schema, figures)
    yield ""
    yield from _joins(schema)
    yield ""
    yield from _examples(schema)


def _entity(table: Table, figures: Figures) -> Iterator[str]:
    yield f"  {_scalar(table.name)}:"
    yield f"    name: {_scalar(one_of(table.name))}"
    yield f"    synonyms: {_list(_synonyms(one_of(table.name)))}"
    entity = figures.entity(table.name)
    if entity and entity.labels:
        yield f"    label: {_list(entity.labels)}"
    dates = figures.dates(table.name)
    if len(dates) == 1:
        yield f"    date: {_scalar(dates[0].column)}"
    elif dates:
        yield f"    # date: one of {', '.join(each.column for each in dates)}"
    lines = [line for column in table.columns for line in _column(table, column)]
    if lines:
        yield "    columns:"
        yield from lines


def _column(table: Table, column: TableColumn) -> Iterator[str]:
    """A column whose name hides its words, or that is not for people."""
    plain = " ".join(re.split(r"[\W_]+", column.name.casefold()))
    said = " ".join(hidden_words(table).get(column.name) or column_words(column.name, table.name))
    keys = {*table.primary_key, *(name for key in table.foreign_keys for name in key.columns)}
    technical = _TECHNICAL.search(column.name) is not None
    opened = said != plain and not plain.startswith(said) and column.name not in keys
    codes = [each for each in column.sample_values if len(each) <= 2]
    coded = 0 < len(codes) == len(column.sample_values) <= _CODED_VALUES
    if not (technical or opened or coded):
        return
    yield f"      {_scalar(column.name)}:"
    if opened:
        yield f"        name: {_scalar(said)}"
    if technical:
        yield "        hide: true"
    elif coded:
        yield f"        # values: {{{', '.join(f'{_scalar(code)}: …' for code in codes)}}}"
    if not (opened or technical):
        yield "        hide: false"


def _measures(schema: Schema, figures: Figures) -> Iterator[str]:
    found = figures.revenue()
    if len(found) != 1:
        yield "# revenue: which amounts count? For example"
        yield "#   revenue: {table: order_lines, sql: quantity * unit_price, synonyms: [sales]}"
        yield "measures: {}"
        return
    of = found[0]
    sql = ""
    if isinstance(of, Product):
        sql = f"{_named(of.quantity, schema)} * {_named(of.price, schema)}"
    elif isinstance(of, ColumnRef):
        sql = _named(of, schema)
    yield "measures:"
    yield "  revenue:"
    yield f"    table: {_scalar(of.table)}"
    yield f"    sql: {_scalar(sql)}"
    yield "    aggregate: sum"
    yield "    synonyms: [sales, turnover]"


def _joins(schema: Schema) -> Iterator[str]:
    inferred = [
        (table.name, key)
        for table in schema.tables
        for key in table.foreign_keys
        if not key.declared and len(key.columns) == 1
    ]
    if not inferred:
        yield "joins: []"
        return
    yield "# Not declared in the database, but likely by their names."
    yield "joins:"
    for table, key in inferred:
        yield f"  - from: {_scalar(f'{table}.{key.columns[0]}')}"
        yield f"    to: {_scalar(f'{key.table}.{key.referenced_columns[0]}')}"


def _examples(schema: Schema) -> Iterator[str]:
    translator = BuiltInTranslator()
    told = [
        (question, answer.sql)
        for question in examples(schema)
        if isinstance(answer := translator.translate_now(question, schema, _SOME_DAY), Sql)
        and str(_SOME_DAY.year) not in answer.sql
        and str(_SOME_DAY.year - 1) not in answer.sql
    ]
    yield "# A question that is asked in these words is answered by this SQL."
    if not told:
        yield "examples: []"
        return
    yield "examples:"
    for question, sql in told[:2]:
        yield f"  - question: {_scalar(question)}"
        yield "    sql: |"
        yield from (f"      {line}" for line in sql.splitlines())


def _named(ref: ColumnRef, schema: Schema) -> str:
    plain = re.fullmatch(r"[a-z_][a-z0-9_]*", ref.column)
    mark = "`" if schema.dialect == "mysql" else '"'
    return ref.column if plain else f"{mark}{ref.column}{mark}"


def _synonyms(one: str) -> list[str]:
    return sorted(
        word for group in ENGLISH.synonyms if one in group for word in group if word != one
    )


def _scalar(text: str) -> str:
    """A text as YAML writes it on one line; JSON is YAML, too."""
    plain = re.fullmatch(r"[A-Za-z_][\w .*]*\w|[A-Za-z]", text) and yaml.safe_load(text) == text
    return text if plain else json.dumps(text, ensure_ascii=False)


def _list(texts: list[str] | tuple[str, ...]) -> str:
    return f"[{', '.join(map(_scalar, texts))}]"
