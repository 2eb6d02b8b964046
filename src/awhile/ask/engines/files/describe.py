"""The schema card of files: their views, and as much statistics as there is time for."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import duckdb

from awhile.ask.engines.card import Listed, Survey, time_limit
from awhile.ask.engines.duckdb.describe import SAMPLE_ROWS, asked, catalog, with_statistics
from awhile.ask.engines.files.catalog import Card, CardTable
from awhile.ask.engines.quoting import identifier
from awhile.ask.schema import Schema, Table, TableColumn

__all__ = ["schema"]

_UNCOUNTED = 1 << 62
"""Stands for a number of rows that is not known while keys are looked for: a column whose name
makes it the key is then believed, as it is in every large table."""


def schema(
    connection: duckdb.DuckDBPyConnection,
    card: Card,
    name: str,
    seconds: float,
    in_words: Callable[[duckdb.Error], str],
) -> Schema:
    """Read the card. Statistics stop after `seconds`, which a note then says.

    A small text file is loaded once, and then asked; of a large one, its beginning. `in_words` says
    what DuckDB's error about a file means.
    """
    end = time.monotonic() + seconds
    known = {table.name: table for table in card.tables}
    order = {name: place for place, name in enumerate(known)}
    loaded: dict[str, str] = {}
    listed: list[Listed] = []
    try:
        for each in sorted(catalog(connection), key=lambda each: order[each.table.name]):
            told = known[each.table.name]
            source, table = each.source, replace(each.table, row_count=told.rows)
            if told.rows is None:
                table, source = _loaded(connection, told, each, end - time.monotonic(), in_words)
                if source != each.source:
                    loaded[table.name] = source
            listed.append(Listed(table, source, is_view=True))
        survey = Survey(partial(asked, connection), max(end - time.monotonic(), 0.0))
        found = survey.schema(
            [_provisional(each) for each in listed],
            partial(_columns, survey, known, loaded),
            database=name,
            dialect="duckdb",
        )
    finally:
        for source in loaded.values():
            connection.execute(f"DROP TABLE IF EXISTS {source}")
    tables = tuple(
        replace(each, row_count=None) if each.row_count == _UNCOUNTED else each
        for each in found.tables
    )
    return replace(found, tables=tables, notes=(*card.notes, *found.notes))


def _provisional(each: Listed) -> Listed:
    if each.table.row_count is not None:
        return each
    return replace(each, table=replace(each.table, row_count=_UNCOUNTED))


def _columns(
    survey: Survey,
    known: Mapping[str, CardTable],
    loaded: Mapping[str, str],
    table: Table,
    source: str,
) -> Sequence[TableColumn]:
    if table.row_count == _UNCOUNTED:
        table = replace(table, row_count=None)
        # Without the beginning of it at hand, nothing of a text file is cheap to know.
        return with_statistics(survey, table, source) if table.name in loaded else table.columns
    return with_statistics(survey, table, source, known[table.name].sample)


def _loaded(
    connection: duckdb.DuckDBPyConnection,
    told: CardTable,
    each: Listed,
    seconds: float,
    in_words: Callable[[duckdb.Error], str],
) -> tuple[Table, str]:
    """The table with its rows counted, and a temporary copy of it or of its beginning."""
    table = replace(each.table, row_count=None)
    copy = f"temp.main.{identifier(f'awhile {told.name}')}"
    limit = "" if told.is_small else f" LIMIT {SAMPLE_ROWS}"
    if seconds <= 0:
        return table, each.source
    with time_limit(seconds, connection.interrupt) as is_up:
        try:
            rows = connection.execute(
                f"CREATE OR REPLACE TEMP TABLE {copy} AS FROM {each.source}{limit}"
            ).fetchall()
        except duckdb.InterruptException:
            if not is_up():
                raise
            return table, each.source
        except duckdb.Error as error:
            trouble = f"{table.comment}; queries will fail: {in_words(error)}"
            return replace(table, comment=trouble), each.source
    return replace(table, row_count=int(rows[0][0]) if told.is_small else None), copy
