"""A text that may run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from awhile.ask.engines.contract import Scalar

__all__ = ["Statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A text that the guard let pass, and what it names that only the database can resolve."""

    sql: str
    """Without comments, its parameters marked as asked."""
    tables: frozenset[str] = frozenset()
    """Those named without a schema, and defined nowhere in the text, casefolded."""
    bound: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    """Values for the driver to bind, by the names the text has for them."""
