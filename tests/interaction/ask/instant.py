"""DuckDB in the tests' own process: for what is about the app, not about how an engine stops."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

from awhile.ask.engines.contract import (
    Budget,
    Capabilities,
    Column,
    Estimate,
    OnStopped,
    Progress,
    QueryResult,
    Report,
    Scalar,
)
from awhile.ask.engines.duckdb import describe
from awhile.ask.engines.duckdb.guard import check
from awhile.ask.engines.duckdb.session import plain
from awhile.ask.engines.parameters import bound
from awhile.ask.engines.parquet import ParquetResult
from awhile.ask.schema import Schema

_CARDS: dict[Path, Schema] = {}


class Instant:
    """One file, read at once. With a price list: every join costs 1,000. Notes what it runs."""

    capabilities = Capabilities(
        name="DuckDB",
        dialect="duckdb",
        percent="none",
        estimate="rows_and_cost",
        interrupt="prompt",
        stop_within_seconds=1,
        stop_is_proven=False,
        side_by_side=1,
    )

    def __init__(self, database: Path) -> None:
        self._database = database
        self.ran: list[str] = []

    async def open(self) -> None:
        self._connection = duckdb.connect(str(self._database), read_only=True)
        self._connection.execute("SET errors_as_json = true")
        if self._database not in _CARDS:
            _CARDS[self._database] = describe.schema(self._connection, self._database, 1)

    async def close(self) -> None:
        self._connection.close()

    async def describe(self, *, principal: str | None = None) -> Schema:
        return _CARDS[self._database]

    async def changed(self, since: Schema, *, principal: str | None = None) -> bool:
        return False

    def check(self, sql: str, parameters: Mapping[str, Scalar] | None = None) -> None:
        check(sql, parameters)

    async def estimate(
        self,
        sql: str,
        *,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> Estimate | None:
        self.check(sql, parameters)
        text, values = _bound(f"EXPLAIN {sql}", parameters)
        try:
            self._connection.execute(text, values).fetchall()
        except duckdb.Error as error:
            raise plain(error, text, len("EXPLAIN ")) from None
        return Estimate(rows=2.0, cost=1000.0 * sql.count("JOIN"))

    async def run(
        self,
        sql: str,
        *,
        report: Report,
        budget: Budget,
        destination: Path,
        on_stopped: OnStopped | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        principal: str | None = None,
    ) -> QueryResult:
        self.check(sql, parameters)
        self.ran.append(sql)
        report(Progress(None, 0, 0.0, "running"))
        text, values = _bound(sql, parameters)
        row_count = 0
        try:
            rows = self._connection.sql(text, params=values)
            columns = tuple(
                Column(*one) for one in zip(rows.columns, map(str, rows.types), strict=True)
            )
            batches = rows.to_arrow_reader(1024)
            with ParquetResult(destination, columns, batches.schema) as result:
                for batch in batches:
                    row_count += batch.num_rows
                    result.write(batch)
                result.finish(truncated=False)
        except duckdb.Error as error:
            raise plain(error, text) from None
        return QueryResult(columns, row_count, False, destination, 0.0)


def _bound(
    sql: str, parameters: Mapping[str, Scalar] | None
) -> tuple[str, dict[str, Scalar] | None]:
    return bound(sql, parameters or {}, lambda name: f"${name}"), dict(parameters or {}) or None
