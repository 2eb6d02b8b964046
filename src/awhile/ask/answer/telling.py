"""What a model is told of an error, so that it can write its SQL again: names, and no values.

An engine may quote the very cell it stumbled over ("invalid input syntax for type integer: 'Jo'").
Rows never go to a model, so whatever is quoted stays out unless the model or the schema has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from awhile.ask.answer.hints import hints
from awhile.ask.engines.errors import QueryError, QueryRefused

if TYPE_CHECKING:
    from awhile.ask.engines.errors import EngineError
    from awhile.ask.schema import Schema

__all__ = ["for_a_model"]

_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"|`([^`]*)`")
_LONGEST = 400


def for_a_model(error: EngineError, sql: str, schema: Schema) -> str | None:
    """The error's words for the model that wrote the SQL, or None where writing again cannot help:
    the database is gone, or the time is used up."""
    if isinstance(error, QueryRefused):
        return f"{error.word!r} may not be used: {error.why}"
    if not isinstance(error, QueryError):
        return None
    names = {one.name for one in schema.tables}
    names |= {column.name for one in schema.tables for column in one.columns}
    known = {name.casefold() for name in names}
    written = sql.casefold()

    def shown(found: re.Match[str]) -> str:
        inner = next(group for group in found.groups() if group is not None)
        is_known = inner.casefold() in known or inner.casefold() in written
        return found[0] if is_known else "…"

    first = next(iter(error.message.splitlines()), "")
    told = _QUOTED.sub(shown, first)[:_LONGEST]
    return " ".join([told, *hints(sql, error, schema)])
