"""Tasks in one SQLite file: for one machine, any number of processes."""

from awhile.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
