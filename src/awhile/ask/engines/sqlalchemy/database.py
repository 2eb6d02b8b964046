"""What a session needs of a connection; what differs between databases is behind it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from awhile.ask.engines.contract import Column, Scalar
from awhile.ask.engines.sqlalchemy.statement import Statement

if TYPE_CHECKING:
    import sqlalchemy as sa

__all__ = ["Database", "Rows"]


class Rows(Protocol):
    """The rows of a query that has begun."""

    @property
    def schema(self) -> pa.Schema: ...

    def columns(self) -> tuple[Column, ...]:
        """Names and types, as far as they are known."""
        ...

    def batches(self, each: Callable[[], None]) -> Generator[pa.RecordBatch]:
        """The rows, in batches of bounded size; `each` is called after every row."""
        ...


class Database(Protocol):
    """One connection. Everything but `interrupt` is for one thread.

    What a database says no to is raised as `QueryError`; what was ended by `interrupt`, as
    `Stopped`.
    """

    @property
    def token(self) -> object:
        """See `Session.token`."""
        ...

    @property
    def usable(self) -> bool:
        """Whether another query can run on it."""
        ...

    def checked(self, sql: str, parameters: Mapping[str, Scalar]) -> Statement:
        """The text as it may run here. Raises `QueryRefused`, `QueryError`."""
        ...

    def reading(self, seconds: float | None) -> AbstractContextManager[None]:
        """A transaction that only reads, ended by the server after `seconds` where it can."""
        ...

    def look(self, statement: Statement) -> None:
        """Have the database look every name up, without running the query, where it can."""
        ...

    def rows(self, statement: Statement) -> AbstractContextManager[Rows]:
        """Begin a query; what is left of it afterwards is thrown away."""
        ...

    def catalog(self) -> AbstractContextManager[sa.Connection]:
        """The connection as SQLAlchemy's inspector takes it."""
        ...

    def limited(self, seconds: float) -> AbstractContextManager[None] | None:
        """A while in which every statement ends within `seconds`; None where that cannot be had."""
        ...

    def tables(self) -> list[str] | None:
        """Tables that SQLAlchemy's inspector may not list, or None where it lists all."""
        ...

    def interrupt(self) -> None:
        """Ask for the running query to be stopped; from another thread, repeatedly."""
        ...

    def stopped(self) -> bool:
        """Whether it is certain that nothing of an interrupted query runs any more."""
        ...

    def end(self, token: object) -> None:
        """See `Session.end`."""
        ...

    def close(self) -> None: ...
