"""What somebody may have meant by a name that the database does not have."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Literal

from awhile.ask.schema import Schema

__all__ = ["Unknown", "did_you_mean"]

_MOST = 3
_ALIKE = 0.6
"""Of 1: `custmer` for `customers`, and not `stock` for `orders`."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name in a statement that nothing in the database has."""

    kind: Literal["table", "column"]
    name: str
    advised: bool = False
    """Whether the engine's own words say what may have been meant."""


def did_you_mean(unknown: Unknown, sql: str, schema: Schema) -> str:
    """A question that names the nearest tables or columns; empty where nothing is near."""
    if unknown.advised:
        return ""
    wanted = _bare(unknown.name)
    if unknown.kind == "table":
        names = {table.name: _bare(table.name) for table in schema.tables}
    else:
        words = {word.casefold() for word in re.findall(r"\w+", sql)}
        tables = [table for table in schema.tables if _bare(table.name) in words]
        names = {
            f"{table.name}.{column.name}": column.name.casefold()
            for table in tables or schema.tables
            for column in table.columns
        }
    alike = {
        name: difflib.SequenceMatcher(None, wanted, bare).ratio() for name, bare in names.items()
    }
    near = sorted(alike, key=alike.__getitem__, reverse=True)[:_MOST]
    found = [repr(name) for name in near if alike[name] >= _ALIKE]
    return f"did you mean {' or '.join(found)}?" if found else ""


def _bare(name: str) -> str:
    return name.rpartition(".")[2].strip('"`[]').casefold()
