"""Where to connect, and how queries run there: what a worker needs to know.

Here is no word of SQLAlchemy's: to import it costs a tenth of a second, which not every worker has
to pay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Address", "Kind"]

Kind = Literal["mysql", "sqlite", "other"]
"""Which databases are known well: a server of MySQL's or MariaDB's, a SQLite file, or neither."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to connect, and how queries run there."""

    url: str = field(repr=False)
    """As SQLAlchemy takes it; it may hold a password."""
    kind: Kind
    product: str
    """What the database is, in its makers' spelling where that is known."""
    dialect: str
    """SQLGlot's name of its SQL."""
    name: str
    """Which database on which server, without anything secret."""
    database: str
    functions: frozenset[str]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    """As a driver takes them that is used without SQLAlchemy."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """What must be in nothing that is shown."""

    def hidden(self, text: str) -> str:
        """A driver's words, without what is secret in the URL."""
        for secret in self.secrets:
            text = text.replace(secret, "***")
        return text
