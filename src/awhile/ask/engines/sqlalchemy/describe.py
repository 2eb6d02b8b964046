"""The schema card by SQLAlchemy's inspector, and statistics where they can be ended in time."""

# ruff: noqa: S608 - every name put into a statement comes from the catalog and is quoted

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from awhile.ask.engines.card import VALUE_CHARACTERS, Listed, Survey
from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.sqlalchemy.database import Database
from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

__all__ = ["catalog", "schema"]

_CATALOG_SECONDS = 20.0
"""How long the catalog may take; tables not read by then are left out."""
_NO_VALUES = "no values were read: this database can be asked nothing that is sure to end in time"


def catalog(database: Database) -> list[Listed]:
    """What the user may read, without a look at its rows. Raises `QueryError`."""
    return _catalog(database)[0]


def schema(database: Database, name: str, dialect: str, seconds: float) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says.

    Raises `QueryError`.
    """
    listed, notes = _catalog(database)
    with database.catalog() as connection:
        quoted = connection.dialect.identifier_preparer.quote_identifier

        def ask(sql: str, seconds: float) -> list[tuple[Any, ...]] | None:
            limit = database.limited(seconds)
            if limit is None:
                return None
            try:
                with limit:
                    return [tuple(row) for row in connection.execute(sa.text(_plain_text(sql)))]
            except SQLAlchemyError:
                # The time is up; or a view or type this statistic has no sense for.
                return None
            finally:
                connection.rollback()

        survey = Survey(ask, seconds, quoted)

        def columns(table: Table, source: str) -> Sequence[TableColumn]:
            return [
                _with_values(survey, table, source, quoted(each.name), each)
                for each in table.columns
            ]

        card = survey.schema(listed, columns, database=name, dialect=dialect)
    if any(table.row_count is not None for table in card.tables) or not card.tables:
        return replace(card, notes=(*card.notes, *notes))
    return replace(card, notes=(_NO_VALUES, *notes))


def _catalog(database: Database) -> tuple[list[Listed], list[str]]:
    end = time.monotonic() + _CATALOG_SECONDS
    found: list[Listed] = []
    left_out = 0
    try:
        with database.catalog() as connection:
            inspector = sa.inspect(connection)
            quoted = connection.dialect.identifier_preparer.quote_identifier
            tables = database.tables() or inspector.get_table_names()
            for is_view, names in ((False, tables), (True, inspector.get_view_names())):
                for name in names:
                    if time.monotonic() > end:
                        left_out += 1
                    else:
                        table = _table(inspector, name, is_view, connection.dialect)
                        found.append(Listed(table, quoted(name), is_view))
    except SQLAlchemyError as error:
        raise QueryError(f"the catalog could not be read ({type(error).__name__})") from None
    notes = [f"{left_out} tables are left out: reading them took too long"] if left_out else []
    return found, notes


def _table(inspector: sa.Inspector, name: str, is_view: bool, dialect: sa.Dialect) -> Table:
    columns = tuple(_column(each, dialect) for each in inspector.get_columns(name))
    try:
        comment = inspector.get_table_comment(name).get("text")
    except NotImplementedError:
        comment = None
    if is_view:
        return Table(name, columns, comment=comment or None)
    primary = inspector.get_pk_constraint(name).get("constrained_columns") or ()
    keys = [
        ForeignKey(
            tuple(each["constrained_columns"]),
            each["referred_table"],
            tuple(each["referred_columns"]),
        )
        for each in inspector.get_foreign_keys(name)
        if not each.get("referred_schema")
    ]
    return Table(name, columns, tuple(primary), tuple(keys), comment=comment or None)


def _column(found: Any, dialect: sa.Dialect) -> TableColumn:
    try:
        kind = str(found["type"].compile(dialect=dialect))
    except SQLAlchemyError:
        kind = "ANY"
    return TableColumn(
        str(found["name"]), _type(kind), bool(found["nullable"]), found.get("comment") or None
    )


def _type(kind: str) -> str:
    """A type as its database writes it, without what says nothing of its values."""
    kind = re.sub(r" (?:CHARACTER SET|COLLATE) \S+", "", kind)
    kind = re.sub(r"\((\d+), (\d+)\)", r"(\1,\2)", kind)
    # How wide a client might show a number.
    return re.sub(r"^((?:TINY|SMALL|MEDIUM|BIG)?INT(?:EGER)?)\(\d+\)", r"\1", kind)


def _with_values(
    survey: Survey, table: Table, source: str, name: str, column: TableColumn
) -> TableColumn:
    if table.row_count is None:
        return column
    if column.kind in ("date", "timestamp"):
        found = survey.rows(f"SELECT min({name}), max({name}) FROM {source}")
        ends = [None if each is None else str(each) for each in found[0]] if found else [None, None]
        return replace(column, minimum=ends[0], maximum=ends[1])
    if column.kind != "text":
        return column
    counted = survey.rows(
        f"SELECT count(v), max(length(v)) FROM (SELECT DISTINCT {name} AS v FROM {source}) d"
    )
    if not counted:
        return column
    distinct, longest = int(counted[0][0]), int(counted[0][1] or 0)
    values = f"SELECT DISTINCT substr({name}, 1, {VALUE_CHARACTERS}) FROM {source}"
    return survey.with_values(column, distinct, longest, f"{values} WHERE {name} IS NOT NULL")


def _plain_text(sql: str) -> str:
    """A statement in which no colon marks a value."""
    return sql.replace(":", "\\:")
