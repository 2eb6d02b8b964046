"""A name as SQL takes it whatever is in it: in double quotes, by the standard."""

from __future__ import annotations

__all__ = ["identifier"]


def identifier(name: str) -> str:
    """The name in double quotes."""
    return '"' + name.replace('"', '""') + '"'
