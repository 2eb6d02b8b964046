"""One connection to a server, spoken to in the extended protocol alone: one statement at a time.

Results are taken as PostgreSQL's own text, which loses nothing; the driver's types (a month that
becomes 30 days, no date before Christ) never see them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

import psycopg
from psycopg import pq

from awhile.ask.engines.contract import Scalar
from awhile.ask.engines.errors import DatabaseNotOpened, QueryError
from awhile.ask.engines.postgres.address import Address
from awhile.ask.engines.postgres.binding import bindings
from awhile.ask.engines.workers.serving import Stopped

__all__ = ["Server", "connected"]

_CONNECT_SECONDS = 10
_CANCEL_SECONDS = 2.0
_CANCELED = "57014"
_ENDED = {
    "55P03": "a table was locked by somebody else and was for some seconds ({}); ask again",
    _CANCELED: "the server ended it, because it took longer than it may ({}); ask for less at "
    "once, or have that limit raised",
    "57P01": "somebody ended it on the server ({}); ask again",
}
"""What ended a query that is not about its text."""
_UNKNOWN = ("42P01", "42703", "3F000")
"""No such table, column or schema."""
_END_SECONDS = 4.0
_LOOK_SECONDS = 0.02
_SINCE = {"client_connection_check_interval": 140_000}
"""Since which version of the server there are settings that not all have."""

_WHERE = b"FROM pg_catalog.pg_stat_activity WHERE pid = $1::int AND backend_start = $2::timestamptz"
_THERE = b"SELECT pid " + _WHERE
_TERMINATE = b"SELECT pg_catalog.pg_terminate_backend(pid) " + _WHERE


class Server:
    """A connection; every method but `cancel` is for one thread."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection
        self._raw = connection.pgconn

    @property
    def process(self) -> int:
        """The server's process for this connection."""
        return self._raw.backend_pid

    @property
    def idle(self) -> bool:
        """Whether it is whole, and in no transaction."""
        return (
            self._raw.status == pq.ConnStatus.OK
            and self._raw.transaction_status == pq.TransactionStatus.IDLE
        )

    def ask(self, sql: bytes, values: Sequence[Scalar] = (), *, before: int = 0) -> pq.abc.PGresult:
        """Run one statement, its values bound.

        `before` is how many characters stand before a person's own text, for the place of an
        error. Raises `QueryError`, or `Stopped` where it was cancelled.
        """
        texts, types = bindings(values)
        try:
            result = self._raw.exec_params(sql, texts, types)
        except psycopg.Error as error:
            raise QueryError(f"the connection to the server is lost ({error}); ask again") from None
        if result.status in (
            pq.ExecStatus.TUPLES_OK,
            pq.ExecStatus.COMMAND_OK,
            pq.ExecStatus.EMPTY_QUERY,
        ):
            return result
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
        said = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message
        message = (said or b"").decode(errors="replace").strip()
        if state == _CANCELED and "user request" in message:
            raise Stopped
        if state in _ENDED:
            raise QueryError(_ENDED[state].format(message))
        if self._raw.status == pq.ConnStatus.BAD:
            why = _first(self._raw.error_message)
            raise QueryError(f"the server ended the connection ({why}); ask again")
        hint = result.error_field(pq.DiagnosticField.MESSAGE_HINT)
        if hint:
            message = f"{message} ({hint.decode(errors='replace')})"
        at = result.error_field(pq.DiagnosticField.STATEMENT_POSITION)
        place = _place(sql, None if at is None else int(at), before)
        raise QueryError(message, *place, state in _UNKNOWN)

    def rows(self, sql: bytes, values: Sequence[Scalar] = ()) -> list[tuple[str | None, ...]]:
        """Every row of a statement, as text."""
        result = self.ask(sql, values)
        return [
            tuple(_text(result.get_value(row, column)) for column in range(result.nfields))
            for row in range(result.ntuples)
        ]

    def limit(self, settings: Mapping[str, str]) -> None:
        """Set settings for the rest of the transaction."""
        known = [
            (name, value)
            for name, value in settings.items()
            if self._raw.server_version >= _SINCE.get(name, 0)
        ]
        places = range(1, 2 * len(known), 2)
        calls = ", ".join(f"pg_catalog.set_config(${at}, ${at + 1}, true)" for at in places)
        self.ask(f"SELECT {calls}".encode(), [each for pair in known for each in pair])

    def end(self, process: str, since: str) -> None:
        """End the server's process for another connection of this role, and see it gone.

        `since` is when that process began: its number may be another's by now. Raises
        `QueryError` if it is there still after some seconds.
        """
        deadline = time.monotonic() + _END_SECONDS
        while self.rows(_THERE, [process, since]):
            if time.monotonic() > deadline:
                raise QueryError(f"the server's process {process} does not end")
            self.rows(_TERMINATE, [process, since])
            time.sleep(_LOOK_SECONDS)

    def cancel(self) -> None:
        """Ask the server to stop what it does for this connection; from any thread."""
        with suppress(psycopg.Error):
            self._connection.cancel_safe(timeout=_CANCEL_SECONDS)

    def close(self) -> None:
        self._connection.close()


def connected(address: Address) -> Server:
    """A new connection. Raises `DatabaseNotOpened`; nothing secret is in its words."""
    try:
        return Server(
            psycopg.connect(
                address.conninfo,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name="awhile",
                client_encoding="UTF8",
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
            )
        )
    except psycopg.OperationalError as error:
        raise DatabaseNotOpened(_why(address, str(error))) from None
    except psycopg.Error:
        raise DatabaseNotOpened(
            "the database's URL cannot be read; write it as postgresql://user@host:port/database, "
            "with % escapes in a password"
        ) from None


def _why(address: Address, said: str) -> str:
    """The driver's words about a server that would not have us, with the next step."""
    if "password authentication failed" in said or "no password supplied" in said:
        return (
            f"{address.name} refused the password, or there was none; give it in the URL by "
            "AWHILE_DATABASE, or in a .pgpass file"
        )
    if "does not exist" in said:
        return f"there is no such database or role: {address.name} ({_last(said)})"
    if "pg_hba.conf" in said:
        return f"{address.name} takes no connection from here ({_last(said)})"
    if "too many" in said or "remaining connection slots" in said:
        return f"{address.name} takes no more connections ({_last(said)}); try again"
    return f"{address.name} cannot be reached ({_last(said)}); is it running, and the name right?"


def _last(said: str) -> str:
    """The last thing that went wrong, without where it was tried."""
    lines = [line for line in said.splitlines() if line.strip() and not line.startswith("\t")]
    return re.split(r"FATAL:|failed:", lines[-1] if lines else "no reason is known")[-1].strip()


def _first(said: bytes) -> str:
    """The first thing that went wrong: what follows is only that the connection is gone."""
    lines = said.decode(errors="replace").strip().splitlines()
    return lines[0].removeprefix("FATAL:").strip() if lines else "no reason is known"


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="backslashreplace")


def _place(sql: bytes, at: int | None, before: int) -> tuple[int | None, int | None]:
    """Line and column, counted from 1, of a character counted from 1."""
    if at is None or at <= before:
        return None, None
    ahead = sql.decode()[before : at - 1]
    return ahead.count("\n") + 1, len(ahead) - (ahead.rfind("\n") + 1) + 1
