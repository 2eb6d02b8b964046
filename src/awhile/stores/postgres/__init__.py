"""Tasks in a PostgreSQL database: for any number of processes on any number of machines."""

from awhile.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
