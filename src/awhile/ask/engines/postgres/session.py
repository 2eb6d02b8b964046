"""A PostgreSQL connection in a worker: a weak role, read-only transactions, one at a time."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
from psycopg import pq

from awhile.ask.engines.card import identity
from awhile.ask.engines.contract import Column, Estimate, Scalar
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError, QueryRefused
from awhile.ask.engines.postgres import describe
from awhile.ask.engines.postgres.address import Address
from awhile.ask.engines.postgres.guard import checked
from awhile.ask.engines.postgres.link import connected
from awhile.ask.engines.postgres.resolving import check_names
from awhile.ask.engines.postgres.role import check_role
from awhile.ask.engines.postgres.values import arrow_schema, batch_of
from awhile.ask.engines.quoting import identifier
from awhile.ask.engines.workers.messages import Fetched, ToEstimate, ToRun
from awhile.ask.engines.workers.serving import Running, Stopped, serve, write_rows
from awhile.ask.schema import Schema
from awhile.processes import Link

__all__ = ["PostgresSettings", "serve_postgres"]

_MOST_ROWS = 10_000
_BATCH_BYTES = 8 * 1024 * 1024
_GROWTH = 4
"""How much larger a batch may be than the one before: the first is a single row, for nobody knows
yet how large one is."""

_LIMITS = {
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "60s",
    # The server notices within this that a killed worker is gone, and stops.
    "client_connection_check_interval": "1s",
    # The whole result is wanted, and not its first tenth soon.
    "cursor_tuple_fraction": "1",
    # The same text everywhere, and all of it.
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "extra_float_digits": "1",
    "bytea_output": "hex",
}
_CATALOG_SECONDS = 10.0
_SPARE_SECONDS = 2.0
"""How much longer the server goes on by itself than whoever asked waits."""


@dataclass(frozen=True, slots=True)
class PostgresSettings:
    """What a worker needs to know before its first order."""

    address: Address
    release_after_seconds: float


def serve_postgres(link: Link, settings: PostgresSettings) -> None:
    """The worker process (`awhile.ask.engines.workers.serving`)."""
    serve(link, partial(_Session, settings), settings.release_after_seconds)


class _Session:
    """One connection. After a cancel it is of no more use: the cancel may still be under way, and
    must not meet the next query."""

    def __init__(self, settings: PostgresSettings) -> None:
        self._address = settings.address
        self._server = connected(settings.address)
        self._cancelled = False
        self._expected_rows: float | None = None
        try:
            check_role(self._server, settings.address.database)
            [(process, since)] = self._server.rows(
                b"SELECT pid, backend_start FROM pg_catalog.pg_stat_activity "
                b"WHERE pid = pg_backend_pid()"
            )
        except QueryError as error:
            self._server.close()
            raise DatabaseNotOpened(
                f"{settings.address.name} could not be asked about its role: {error.message}"
            ) from None
        except DatabaseNotOpened:
            self._server.close()
            raise
        self.token: object = (process, since)

    def stale(self) -> bool:
        return self._cancelled or not self._server.idle

    def close(self) -> None:
        self._server.close()

    def catalog(self, principal: str | None) -> str:
        with self._reading(principal, _CATALOG_SECONDS):
            return identity(describe.catalog(self._server))

    def describe(self, seconds: float, principal: str | None) -> Schema:
        with self._reading(principal, _CATALOG_SECONDS + seconds):
            return describe.schema(self._server, self._address.database, seconds)

    def estimate(self, order: ToEstimate) -> Estimate | None:
        with self._reading(order.principal, None):
            return self._estimate(*self._checked(order.sql, order.parameters))

    def run(self, order: ToRun, running: Running) -> Fetched:
        self._expected_rows = None
        with self._reading(order.principal, order.seconds):
            sql, values = self._checked(order.sql, order.parameters)
            running.check()
            self._expected_rows = self._estimate(sql, values).rows
            declare = "DECLARE awhile_rows NO SCROLL CURSOR WITHOUT HOLD FOR "
            self._server.ask((declare + sql).encode(), values, before=len(declare))
            running.check()
            first = self._fetch(1)
            if not first.nfields:
                raise QueryError(
                    "this SELECT has no columns, so there is nothing to show; name some"
                )
            return write_rows(
                order,
                running,
                self._columns(first),
                arrow_schema(first),
                self._batches(first),
            )

    def percent(self, running: Running) -> float | None:
        if running.stage != "fetching" or not self._expected_rows:
            return None
        return min(99.0, 100 * running.rows / self._expected_rows)

    def interrupt(self) -> None:
        self._cancelled = True
        self._server.cancel()

    def end(self, token: object) -> None:
        match token:
            case (str(process), str(since)):
                self._server.end(process, since)
            case _:
                raise QueryError(f"{token!r} is no process of this server's")

    def _checked(self, sql: str, parameters: Mapping[str, Scalar]) -> tuple[str, list[Scalar]]:
        statement = checked(
            sql,
            parameters,
            self._address.functions,
            private=self._address.role_by_principal,
        )
        check_names(self._server, statement, self._address.functions)
        return statement.sql, [parameters[name] for name in statement.parameters]

    def _estimate(self, sql: str, values: list[Scalar]) -> Estimate:
        explain = "EXPLAIN (FORMAT JSON) "
        result = self._server.ask((explain + sql).encode(), values, before=len(explain))
        told: Any = json.loads(result.get_value(0, 0) or b"[]")
        plan = told[0]["Plan"]
        return Estimate(rows=float(plan["Plan Rows"]), cost=float(plan["Total Cost"]))

    def _fetch(self, rows: int) -> pq.abc.PGresult:
        return self._server.ask(f"FETCH FORWARD {rows} FROM awhile_rows".encode())

    def _batches(self, result: pq.abc.PGresult) -> Generator[pa.RecordBatch]:
        schema, rows = arrow_schema(result), 1
        while count := result.ntuples:
            batch = batch_of(result, schema)
            result.clear()  # it is in the batch, and a cell may be hundreds of megabytes
            yield batch
            if count < rows:
                return
            fitting = _BATCH_BYTES // max(batch.nbytes // batch.num_rows, 1)
            rows = max(1, min(_MOST_ROWS, rows * _GROWTH, fitting))
            del batch
            result = self._fetch(rows)

    def _columns(self, result: pq.abc.PGresult) -> tuple[Column, ...]:
        """Names, and the types' own names in the server's words."""
        types = [(result.ftype(each), result.fmod(each)) for each in range(result.nfields)]
        named: dict[tuple[int, int], str] = {}
        for oid, modifier in set(types):
            [(name,)] = self._server.rows(
                b"SELECT pg_catalog.format_type($1::oid, $2::int)", [str(oid), str(modifier)]
            )
            named[oid, modifier] = str(name).upper()
        return tuple(
            Column((result.fname(place) or b"").decode(errors="backslashreplace"), named[kind])
            for place, kind in enumerate(types)
        )

    @contextmanager
    def _reading(self, principal: str | None, seconds: float | None) -> Generator[None]:
        """A read-only transaction with every limit set, left without a trace."""
        self._server.ask(b"BEGIN TRANSACTION READ ONLY")
        try:
            limits = dict(_LIMITS)
            if seconds is not None:
                limits["statement_timeout"] = f"{int((seconds + _SPARE_SECONDS) * 1000)}ms"
            self._server.limit(limits)
            if self._address.role_by_principal:
                self._become(principal)
            yield
        finally:
            self._roll_back()

    def _become(self, principal: str | None) -> None:
        if not principal:
            raise QueryRefused("roles", "who asks is not known, so no role can be taken for it")
        try:
            self._server.ask(f"SET LOCAL ROLE {identifier(principal)}".encode())
            check_role(self._server, self._address.database)
        except (QueryError, DatabaseNotOpened) as no:
            raise QueryRefused(
                principal, f"a query cannot run as the role of that name: {no}"
            ) from None

    def _roll_back(self) -> None:
        try:
            self._server.ask(b"ROLLBACK")
        except (QueryError, Stopped):
            self._cancelled = True
