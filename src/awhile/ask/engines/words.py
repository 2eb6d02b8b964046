"""The first word of a statement, to name it by in a refusal."""

from __future__ import annotations

import re

__all__ = ["first_word"]

_SKIPPED = re.compile(r"(?:[\s;(]|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]+|\S")


def first_word(sql: str) -> str:
    """The first word that is no part of a comment, in capitals; empty where there is none."""
    skipped = _SKIPPED.match(sql)
    found = _WORD.match(sql, skipped.end() if skipped else 0)
    return found[0][:40].upper() if found else ""
