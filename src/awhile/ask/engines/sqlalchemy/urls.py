"""A URL as SQLAlchemy takes it, and what of it is meant for us rather than for the driver.

``mysql://reader@host:3306/shop?functions=fiscal_year``

- ``functions=``: functions of the database's own that queries may call, by name
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from awhile.ask.engines.sqlalchemy.address import Address, Kind
from awhile.ask.engines.sqlalchemy.dialects import check_driver, sqlglot_name

__all__ = ["address_of"]

_OURS = "functions"
_KINDS: dict[str, Kind] = {"mysql": "mysql", "mariadb": "mysql", "sqlite": "sqlite"}
_SECRET = ("key", "password", "pwd", "secret", "token")
"""What the names of options have in them whose values nobody may see."""


def address_of(text: str) -> Address:
    """Raises `ValueError` with a sentence that repeats nothing secret."""
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ValueError(
            "the database's URL cannot be read; write it as mysql://user@host:port/database, with "
            "% escapes in a password"
        ) from None
    dialect = sqlglot_name(url)
    kind = _KINDS.get(url.get_backend_name(), "other")
    if kind == "mysql":
        # One driver, whose stream, fields and interrupt are known.
        url = url.set(drivername="mysql+pymysql")
        if not url.database:
            raise ValueError("the URL names no database; add it: mysql://user@host/database")
    check_driver(url)
    query = dict(url.query)
    asked = query.pop(_OURS, "")
    functions = asked if isinstance(asked, str) else ",".join(asked)
    where = f"{url.host or 'this machine'}{f':{url.port}' if url.port else ''}"
    url = url.set(query=query)
    return Address(
        url=url.render_as_string(hide_password=False),
        kind=kind,
        product=_product(text, url),
        dialect=dialect,
        name=f"{url.database!r} at {where}",
        database=Path(url.database or "").stem if kind == "sqlite" else url.database or "",
        functions=frozenset(one.casefold() for one in functions.split(",") if one),
        options=_options(url) if kind == "mysql" else {},
        secrets=_secrets(url),
    )


def _options(url: URL) -> dict[str, Any]:
    """What PyMySQL takes, as SQLAlchemy reads it from the URL."""
    return dict(url.get_dialect()().create_connect_args(url)[1])


def _product(text: str, url: URL) -> str:
    if url.get_backend_name() == "mysql":
        return "MariaDB" if text.startswith("mariadb") else "MySQL"
    return {"sqlite": "SQLite", "mssql": "SQL Server", "bigquery": "BigQuery"}.get(
        url.get_backend_name(), url.get_backend_name().capitalize()
    )


def _secrets(url: URL) -> tuple[str, ...]:
    plain = [url.password or ""]
    for name, value in url.query.items():
        # The last is a whole connection string, as SQL Server's drivers take one.
        if any(word in name.casefold() for word in _SECRET) or name == "odbc_connect":
            plain += [value] if isinstance(value, str) else value
    written = [form for one in plain if one for form in (one, quote(one, safe=""), quote_plus(one))]
    return tuple(sorted(set(written), key=len, reverse=True))
