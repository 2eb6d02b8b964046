"""From an engine's byte position in a text to a line and a column."""

from __future__ import annotations

__all__ = ["place_of"]


def place_of(sql: str, position: str | int | None) -> tuple[int | None, int | None]:
    """Line and column, counted from 1, of a byte offset into the UTF-8 text."""
    if position is None:
        return None, None
    before = sql.encode()[: int(position)].decode(errors="ignore")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
