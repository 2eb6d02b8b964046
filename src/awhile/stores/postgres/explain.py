"""What an error of PostgreSQL means for whoever runs this, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
from psycopg_pool import PoolTimeout

from awhile.errors import StoreError

if TYPE_CHECKING:
    from awhile.stores.postgres.address import Address


def explain(error: Exception, address: Address) -> StoreError:
    """The error to raise instead, without any password."""
    said = " ".join(str(error).split())
    for secret in address.secrets:
        said = said.replace(secret, "***")
    return StoreError(f"The store {address.shown!r} {_meaning(error, said)} (PostgreSQL: {said})")


def is_lost(error: Exception) -> bool:
    """Whether the connection, or the server, went away: to be tried again elsewhere or later."""
    if isinstance(error, (PoolTimeout, TimeoutError)):
        return True
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError)):
        return False
    state = error.sqlstate
    return state is None or state[:2] in {"08", "57"} or state == "25006"


def is_conflict(error: Exception) -> bool:
    """Whether the transaction was undone because of another one, and may just be tried again."""
    return isinstance(error, psycopg.Error) and (error.sqlstate or "")[:2] == "40"


def _meaning(error: Exception, said: str) -> str:
    state = (error.sqlstate or "") if isinstance(error, psycopg.Error) else ""
    for known, words in _MEANINGS.items():
        if state.startswith(known):
            return words
    if is_lost(error):  # a refusal while connecting comes without its state, in the server's words
        for part, known in _WHILE_CONNECTING.items():
            if part in said:
                return _MEANINGS[known]
        return (
            "cannot be reached. Nothing that was confirmed is lost. Look whether the server runs "
            "and takes connections from here (`pg_isready` says so), and try again."
        )
    return "could not do this."


_WHILE_CONNECTING = {
    "password authentication failed": "28",
    "no password supplied": "28",
    "no pg_hba.conf entry": "28",
    "role ": "28",
    "permission denied for database": "42501",
    "database ": "3D",
    "too many clients": "53300",
    "remaining connection slots": "53300",
    "starting up": "57P03",
    "shutting down": "57P03",
    "recovery mode": "57P03",
}

_MEANINGS = {
    "28": (
        "refuses this user or this password. Mend the URL (special characters of a password are "
        "percent-encoded in it), or let the user in (`pg_hba.conf`)."
    ),
    "3D": (
        "does not exist. Create the database (`createdb NAME`), or name another one in the URL."
    ),
    "42501": (
        "does not give this user the rights it needs. Let the database's owner run `GRANT CREATE "
        "ON DATABASE ... TO ...`, or create the schema for it: `CREATE SCHEMA awhile "
        "AUTHORIZATION ...`."
    ),
    "42P01": (
        "has lost its tables while it was open. Open it again: they are created anew, or restore "
        "a backup."
    ),
    "3F": (
        "has lost its schema while it was open. Open it again: it is created anew, or restore a "
        "backup."
    ),
    "53100": (
        "is on a full disk. This change was not kept; everything confirmed before is safe. Make "
        "room and try again."
    ),
    "53300": (
        "has no connection left. Give the server more (`max_connections`), each store fewer "
        "(`?pool=`), or put PgBouncer between them."
    ),
    "53": (
        "is out of memory or of something like it. This change was not kept; everything confirmed "
        "before is safe. Look at the server's log."
    ),
    "57P03": "is just starting or stopping. Try again in a moment.",
    "25006": (
        "takes no writes: it is a standby, or set to read only. Name the primary in the URL, or "
        "all of them with `target_session_attrs=read-write`."
    ),
    "40": "could not do this beside what others did at the same time. Try again.",
    "55P03": (
        "waited in vain for a lock that somebody else holds, such as an administrator who changes "
        "its tables (`SELECT * FROM pg_locks` says who). Nothing was changed. Try again later."
    ),
    "22": "refused the change, which it cannot keep as it is.",
    "23": "refused the change, which it cannot keep as it is.",
    "58": (
        "could not be read or written by its server. This change was not confirmed; everything "
        "confirmed before is safe. Look at the server's disk and log."
    ),
    "XX000": (
        "could not do this: an error inside its server. This change was not kept. Look at the "
        "server's log: a limit of the system (of a file's size, of a quota) reads like this, too."
    ),
    "XX": "is damaged, by its server's own account. Look at the server's log, restore a backup.",
}

__all__ = ["explain", "is_conflict", "is_lost"]
