"""Which database a URL means, and what of it may be told."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast, get_args
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

Listen = Literal["auto", "off"]

POOL_SIZE = 5
"""Connections of one store at most, beside the one that listens. Writes share one of them."""

DEFAULTS = {
    "application_name": "awhile",
    "connect_timeout": "5",
    # A peer that vanished without a word is noticed in seconds, not after the system's two hours.
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
"""libpq's parameters that a URL need not give."""


_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,49}")


@dataclass(frozen=True, slots=True)
class Address:
    """A database, a schema in it, and how to use them."""

    conninfo: str = field(repr=False)
    """For libpq, with the password."""
    shown: str
    """The URL without its password: for messages."""
    secrets: tuple[str, ...] = field(repr=False)
    """What no message may hold."""
    schema: str
    listen: Listen
    pool_size: int

    @property
    def channel(self) -> str:
        """Where this schema's processes wake each other."""
        return f"{self.schema}_changed"

    def lock(self, kind: str) -> int:
        """The first key of advisory locks of that kind in this schema."""
        return zlib.crc32(f"{self.schema} {kind}".encode()) - 2**31

    @classmethod
    def parse(cls, url: str) -> Address:
        """Of ``postgresql://user:password@host:port/database?schema=awhile&sslmode=require``.

        ``schema``, ``listen`` and ``pool`` are ours, all else is libpq's.

        Raises:
            SettingsError: the URL cannot be one of a PostgreSQL store.
        """
        try:
            parts = urlsplit(url)
            asked = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True))
        except ValueError as error:
            raise SettingsError(_UNREADABLE) from (None if "@" in url else error)
        if parts.scheme not in {"postgresql", "postgres"} or not url.startswith(
            f"{parts.scheme}://"
        ):
            raise SettingsError(_UNREADABLE)
        schema = asked.pop("schema", "awhile")
        if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
            raise SettingsError(
                f"{schema!r} cannot be the store's schema: a name of 1 to 50 small letters, digits "
                "and underscores that does not begin with a digit or with 'pg_' can. Write "
                "'?schema=awhile'."
            )
        listen = asked.pop("listen", "auto")
        if listen not in get_args(Listen):
            raise SettingsError(
                f"listen={listen!r} is neither 'auto' (LISTEN where it works, which is tried out) "
                "nor 'off' (never, as behind a pooler in transaction mode)."
            )
        pool = asked.pop("pool", str(POOL_SIZE))
        if not pool.isascii() or not pool.isdigit() or not 2 <= int(pool) <= 100:
            raise SettingsError(
                f"pool={pool!r} is not a number of connections from 2 to 100: writing takes one, "
                "and reading another."
            )
        options = urlencode(asked, quote_via=quote)
        plain = f"postgresql://{parts.netloc}{parts.path}{'?' if options else ''}{options}"
        try:
            given = conninfo_to_dict(plain)
        except psycopg.Error:  # its words may repeat the password
            raise SettingsError(_UNREADABLE) from None
        ports = str(given.get("port", "")).split(",")
        if not all(one == "" or (one.isascii() and one.isdigit()) for one in ports):
            raise SettingsError(_UNREADABLE)
        password = given.get("password")
        return cls(
            conninfo=make_conninfo("", **{**DEFAULTS, **given}),
            shown=_shown(given),
            secrets=tuple({str(password), quote(str(password), safe="")} if password else ()),
            schema=schema,
            listen=cast("Listen", listen),
            pool_size=int(pool),
        )


_UNREADABLE = (
    "The store's URL cannot be read as a PostgreSQL database (it is not repeated here: it may hold "
    "a password). Write 'postgresql://user:password@host:5432/database?schema=awhile', with "
    "special characters of the password percent-encoded; beside schema, listen and pool, its "
    "options are those of libpq."
)


def _shown(given: Mapping[str, object]) -> str:
    user = f"{given['user']}@" if given.get("user") else ""
    port = f":{given['port']}" if given.get("port") else ""
    return f"postgresql://{user}{given.get('host', '')}{port}/{given.get('dbname', '')}"


__all__ = ["DEFAULTS", "POOL_SIZE", "Address", "Listen"]
