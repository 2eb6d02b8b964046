"""Names and texts as SQL takes them whatever is in them, by the standard."""

from __future__ import annotations

__all__ = ["identifier", "literal"]


def identifier(name: str) -> str:
    """The name in double quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """The text in single quotes."""
    return "'" + text.replace("'", "''") + "'"
