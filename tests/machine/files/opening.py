"""Files opened as a worker opens them, in this process."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from awhile.ask.engines.duckdb.session import Limits
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files.session import FilesSession, FilesSettings
from awhile.ask.engines.workers.messages import ToRun
from awhile.ask.engines.workers.serving import Running
from awhile.ask.results import page
from awhile.ask.schema import Schema

__all__ = ["Opened", "opened", "refusal"]


class Opened:
    """A session, and what is asked of it."""

    def __init__(self, session: FilesSession, folder: Path) -> None:
        self.session = session
        self._folder = folder

    def unguarded(self, sql: str) -> list[tuple[Any, ...]]:
        """What DuckDB makes of any text: no guard has seen it."""
        return self.session.confined(lambda: self.session.connection.execute(sql).fetchall())

    def rows(self, sql: str, running: Running | None = None) -> list[list[str | None]]:
        """The rows of a query that is run as a worker runs it."""
        destination = self._folder / "result.parquet"
        order = ToRun(sql, 1_000_000, 2**40, destination)
        self.session.run(order, running or Running(threading.Event()))
        return page(destination, 0, 1000).rows

    def card(self) -> Schema:
        """The schema card."""
        return self.session.describe(10.0, None)

    def columns(self, table: str) -> dict[str, str]:
        """Names and types of a table's columns."""
        found = self.card().table(table)
        assert found is not None
        return {column.name: column.type for column in found.columns}

    def comment(self, table: str) -> str:
        """What the card says of a table."""
        found = self.card().table(table)
        assert found is not None
        return found.comment or ""


@contextmanager
def opened(folder: Path, *paths: Path, named: Sequence[str] = ()) -> Generator[Opened]:
    """The files of a session; `folder` is for what it needs beside them."""
    private = folder / "of the session"
    for name in ("catalogs", "spill", "results"):
        (private / name).mkdir(parents=True, exist_ok=True)
    settings = FilesSettings(
        paths=(*paths, *(folder / name for name in named)),
        name="files",
        catalogs=private / "catalogs",
        cache=private / "converted",
        limits=Limits(private / "spill", 10**9, 10**9, threads=2),
        release_after_seconds=1.0,
    )
    session = FilesSession(settings)
    try:
        yield Opened(session, private / "results")
    finally:
        session.close()


def refusal(folder: Path, *named: str) -> str:
    """Why these files cannot be opened."""
    with pytest.raises(DatabaseNotOpened) as refused, opened(folder, named=named):
        pass
    return str(refused.value)
