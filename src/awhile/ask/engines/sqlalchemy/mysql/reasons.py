"""What a server or its driver says, as a sentence with the next step."""

from __future__ import annotations

from collections.abc import Iterable

import pymysql

from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.workers.serving import Stopped

__all__ = ["plain", "refuse_the_lost", "why_not_connected"]

_INTERRUPTED = 1317
_KILLED = 1927
_LOST = (2006, 2013)
_SHUT_DOWN = 1053
_TOOK_TOO_LONG = (1969, 3024)
_LOCKED = 1205
_UNKNOWN = (1054, 1109, 1146)
_NO_FUNCTION = (1305, 1370)

_CUT = (1260, 1301)
"""Warnings of a value that was larger than some limit of the server's."""

_REFUSED = (1044, 1045, 1698)
_NO_DATABASE = 1049
_TOO_MANY = (1040, 1203, 1226)


def plain(error: pymysql.Error, *, interrupted: bool = False) -> Exception:
    """What to raise for an error: `Stopped` where it is the answer to our own interrupt."""
    code = error.args[0] if error.args else None
    said = str(error.args[-1]) if error.args else str(error)
    if interrupted and code in (_INTERRUPTED, _KILLED, *_LOST):
        return Stopped()
    if code in (_INTERRUPTED, _KILLED):
        return QueryError(f"somebody ended it on the server ({said}); ask again")
    if code in _TOOK_TOO_LONG:
        return QueryError(
            f"the server ended it, because it took longer than it may ({said}); ask for less at "
            "once, or have that limit raised"
        )
    if code == _LOCKED:
        return QueryError(
            f"a table was locked by somebody else and was for some seconds ({said}); ask again"
        )
    if code in _NO_FUNCTION:
        return QueryError(f"there is no such function, or it may not be called ({said})")
    if code in _LOST or code == _SHUT_DOWN or not isinstance(code, int) or code == 0:
        said = said or "it said nothing"
        return QueryError(f"the connection to the server is lost ({said}); ask again")
    return QueryError(said, unknown_name=code in _UNKNOWN)


def refuse_the_lost(warnings: Iterable[tuple[int, str]]) -> None:
    """Raise `QueryError` where the server has put NULL, or a part, in place of a value."""
    for code, said in warnings:
        if code in _CUT:
            raise QueryError(
                "a value was larger than the server makes, which gives NULL or a part of it in its "
                f"place ({said}), so nothing is shown; ask for a smaller one, or raise that limit"
            )


def why_not_connected(name: str, code: object, said: str) -> str:
    """Why the server would not have us; `said` holds nothing secret."""
    if code in _REFUSED:
        return (
            f"{name} refused the user or the password ({said}); give them in the URL by "
            "AWHILE_DATABASE"
        )
    if code == _NO_DATABASE:
        return f"there is no such database: {name} ({said})"
    if code in _TOO_MANY:
        return f"{name} takes no more connections ({said}); try again"
    return f"{name} cannot be reached ({said}); is it running, and the name right?"
