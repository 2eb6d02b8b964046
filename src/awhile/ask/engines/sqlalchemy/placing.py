"""Where in a text the thing stands that a database's message speaks of."""

from __future__ import annotations

import re

__all__ = ["placed"]

_NEAR = re.compile(r"near '(.*)' at line (\d+)", re.DOTALL)
_NAMED = re.compile(r"""'([^']+)'|"([^"]+)"|`([^`]+)`|: *([^\s:]+)\Z""")


def placed(message: str, sql: str) -> tuple[int | None, int | None]:
    """Line and column, counted from 1, where the message gives a place, or names one word that
    stands in the text just once; None and None otherwise."""
    if near := _NEAR.search(message):
        line = int(near[2])
        rest = sql.split("\n")[line - 1 : line]
        begin = rest[0].find(near[1].partition("\n")[0]) if rest and near[1] else -1
        return line, begin + 1 if begin >= 0 else None
    for found in _NAMED.finditer(message):
        name = next(part for part in found.groups() if part)
        # A name after a dot stands for itself: an alias before it is somebody else's word.
        word = name.rpartition(".")[2]
        whole = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
        places = [each.start() for each in whole.finditer(sql)]
        if len(places) == 1:
            ahead = sql[: places[0]]
            return ahead.count("\n") + 1, len(ahead) - (ahead.rfind("\n") + 1) + 1
    return None, None
