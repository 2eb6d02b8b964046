"""A URL of a PostgreSQL database, and what of it is meant for us rather than for the driver.

``postgresql://user@host/database?roles=principal&functions=fiscal_year,st_area``

- ``roles=principal``: every query runs as the role that is called like the person who asks
- ``functions=``: functions of the database's own that queries may call, by name
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

__all__ = ["Address", "address_of"]

_OURS = ("roles", "functions")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to connect, and how queries run there."""

    conninfo: str
    """As libpq takes it; it may hold a password."""
    name: str
    """Which database on which server, without anything secret."""
    database: str
    role_by_principal: bool
    functions: frozenset[str]


def address_of(url: str) -> Address:
    """Raises `ValueError` with a sentence that repeats nothing of the URL."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        options = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        raise ValueError(
            "the database's URL cannot be read; write it as postgresql://user@host:port/database, "
            "with % escapes in a password"
        ) from None
    ours = {name: value for name, value in options if name in _OURS}
    if ours.get("roles", "principal") != "principal":
        raise ValueError(
            f"roles is {ours['roles']!r} in the database's URL, and only 'principal' is known"
        )
    others = [(name, value) for name, value in options if name not in _OURS]
    conninfo = urlunsplit(
        ("postgresql", parts.netloc, parts.path, urlencode(others, quote_via=quote), "")
    )
    database = parts.path.removeprefix("/") or (parts.username or "")
    where = f"{host or 'this machine'}{f':{port}' if port else ''}"
    return Address(
        conninfo=conninfo,
        name=f"{database!r} at {where}",
        database=database,
        role_by_principal="roles" in ours,
        functions=frozenset(one for one in ours.get("functions", "").split(",") if one),
    )
