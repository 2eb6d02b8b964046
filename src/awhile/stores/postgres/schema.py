"""The store's schema: created, migrated, or refused. The decision record 0018 has the rule.

Each migration is a file; the number of the last one is the schema's version. Old and new code share
a schema while a deploy rolls: a migration only adds (nullable or defaulted columns, tables,
indexes), and code names every column it uses, so that older code does not notice. One that takes
something away raises the schema's ``min_version``, the oldest code that can still use it, and comes
a release after the code that no longer needs it. Code refuses a schema only if that says so.
"""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

import anyio
import psycopg
from psycopg import errors

from awhile.errors import StoreError
from awhile.stores.postgres.connections import in_schema
from awhile.stores.postgres.explain import explain

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from awhile.stores.postgres.address import Address
    from awhile.stores.postgres.connections import Connections, Raw

logger = logging.getLogger("awhile.stores.postgres")

OLDEST_SERVER = 140000
"""PostgreSQL 14, as ``server_version`` counts."""

ANSWER_SECONDS = 20.0
"""How long the server may take, at a start, to let us in and to answer. Then it hangs, or something
between does: a process that says so can be started again, and one that waits cannot be helped."""

LOCK_SECONDS = 15.0
"""How long a migration waits for a lock that somebody else holds."""

_RAISES = re.compile(r"^-- min_version: (\d+)$", re.MULTILINE)


def migrations() -> Sequence[str]:
    """The migrations in order, as they stand in the files."""
    folder = files("awhile.stores.postgres") / "migrations"
    found = sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=str)
    for number, one in enumerate(found):
        if not one.name.startswith(f"{number:04}_"):
            raise AssertionError(f"Migration {one.name!r} is out of order: expected {number:04}_.")
    return [one.read_text(encoding="utf-8") for one in found]


async def prepare(connections: Connections, known: Sequence[str]) -> None:
    """Bring the database to the schema of the migrations ``known``, or leave a newer one alone.

    Raises:
        StoreError: the database cannot be reached or used; it says what to do.
    """
    address = connections.address
    try:
        with _bounded():
            on = await connections.connect()
        try:
            if on.info.server_version < OLDEST_SERVER:
                raise StoreError(
                    f"The store {address.shown!r} is on PostgreSQL "
                    f"{on.info.server_version // 10000}; Awhile needs 14 or newer."
                )
            with _bounded():
                found = await _version(on, address)
            if found is None or found < len(known) - 1:
                await _migrate(on, address, known)
            with _bounded():
                await _check(connections, on, known)
                await connections.rows(on, "move_revs", prepare=False)
        finally:
            await on.close()
    except (psycopg.Error, TimeoutError) as error:
        raise explain(error, address) from error


@contextmanager
def _bounded() -> Generator[None]:
    with anyio.move_on_after(ANSWER_SECONDS) as bound:
        yield
    if bound.cancelled_caught:
        raise TimeoutError(f"no answer for {ANSWER_SECONDS:g} s")


async def _version(on: Raw, address: Address) -> int | None:
    """The schema's version; None where there is no store."""
    # A query and not `to_regclass`, which still says no to who waited for another's migration.
    there = await on.execute(
        b"SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace "
        b"WHERE nspname = %s AND relname = 'store'",
        [address.schema],
    )
    if await there.fetchone() is None:
        return None
    version = await on.execute(in_schema("SELECT version FROM awhile.store", address).encode())
    row = await version.fetchone()
    return row[0] if row else None


async def _migrate(on: Raw, address: Address, known: Sequence[str]) -> None:
    """Apply what is missing, all of it or nothing, one process at a time."""
    async with on.transaction():
        # In this transaction only: behind a pooler the session is somebody else's afterwards.
        bound = [f"{LOCK_SECONDS * 1000:.0f}ms"]
        await on.execute(b"SELECT set_config('lock_timeout', %s, true)", bound)
        try:
            await on.execute(b"SELECT pg_advisory_xact_lock(%s::int, 0)", [address.lock("schema")])
        except errors.LockNotAvailable as error:
            raise StoreError(
                f"The store {address.shown!r} is being created or migrated by another process, for "
                f"longer than {LOCK_SECONDS:g} s. Nothing was changed: start this one again once "
                "that is done. An advisory lock in `pg_locks` shows who is at it, by pid; "
                "`SELECT pg_terminate_backend(PID)` ends a session that was left behind."
            ) from error
        version = await _version(on, address)  # somebody else may have been first
        if version is None:
            exists = await on.execute(
                b"SELECT FROM pg_namespace WHERE nspname = %s", [address.schema]
            )
            if await exists.fetchone() is None:
                await on.execute(f'CREATE SCHEMA "{address.schema}"'.encode())
        for number in range(0 if version is None else version + 1, len(known)):
            await on.execute(in_schema(known[number], address).encode())
            if number == 0:
                continue
            raised = _RAISES.search(known[number])
            await on.execute(
                in_schema(
                    "UPDATE awhile.store SET version = %s, min_version = greatest(min_version, %s)",
                    address,
                ).encode(),
                [number, int(raised[1]) if raised else 1],
            )


async def _check(connections: Connections, on: Raw, known: Sequence[str]) -> None:
    address = connections.address
    [(version, min_version, encoding, fsync, commit, standby)] = await connections.rows(
        on, "identity", prepare=False
    )
    if min_version > len(known) - 1:
        raise StoreError(
            f"The store {address.shown!r} has schema {version!r}, which only an Awhile that knows "
            f"schema {min_version!r} can use; this one knows schemas up to {len(known) - 1!r}. "
            "Install the newer version of Awhile, or use another schema "
            "(`?schema=`)."
        )
    if encoding != "UTF8":
        raise StoreError(
            f"The store {address.shown!r} is a database in {encoding}, which cannot hold every "
            "text. Create it with `createdb --encoding=UTF8 --template=template0 NAME`."
        )
    if standby:
        raise StoreError(
            f"The store {address.shown!r} takes no writes: it is a standby. Name the primary in "
            "the URL, or all of them with `target_session_attrs=read-write`."
        )
    if fsync == "off" or commit == "off":
        logger.warning(
            "The store %r confirms what is not on the disk yet (fsync=%s, synchronous_commit=%s): "
            "a crash of its server may lose tasks that were confirmed.",
            address.shown,
            fsync,
            commit,
        )


__all__ = ["OLDEST_SERVER", "migrations", "prepare"]
