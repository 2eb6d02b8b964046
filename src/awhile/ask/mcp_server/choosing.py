"""Questions of a run as forms that an MCP client fills in (2025-11-25 and 2026-07-28,
``client/elicitation``): a choice by its label, or a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.ask.answer.choosing import NobodyToAsk, NotAnswered
from awhile.runtime.ending import CannotAsk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.answer.choosing import ToChange, ToChoose
    from awhile.runtime.run import Run

__all__ = ["Caller"]

LONGEST_SHOWN = 4_000
"""Characters of a text to be changed that the form begins with; a longer one is left out."""


class Caller:
    """The run's caller, asked by its task (`awhile.ask.answer.choosing.Person`).

    An answer that an earlier attempt was given counts (`Run.ask`).
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    async def choose(self, asked: ToChoose) -> str | NotAnswered:
        field = {"type": "string", "title": "Your choice", "enum": list(asked.labels)}
        said = await self._ask(asked.about, asked.text, "choice", field)
        if isinstance(said, str) and said not in asked.labels:
            raise NobodyToAsk(f"{said!r} is none of the choices.")  # clients' forms are checked
        return said

    async def change(self, asked: ToChange) -> str | NotAnswered:
        field: dict[str, Any] = {
            "type": "string",
            "title": asked.what[0].upper() + asked.what[1:],
            "minLength": 1,
        }
        if len(asked.now) <= LONGEST_SHOWN:
            field["default"] = asked.now
        said = await self._ask(asked.about, asked.text, asked.what.lower(), field)
        return said.strip() if isinstance(said, str) else said

    async def _ask(
        self, about: str, text: str, name: str, field: Mapping[str, Any]
    ) -> str | NotAnswered:
        schema = {"type": "object", "properties": {name: field}, "required": [name]}
        params = {"mode": "form", "message": text, "requestedSchema": schema}
        try:
            told = await self._run.ask(
                {"method": "elicitation/create", "params": params}, key=about
            )
        except CannotAsk as cannot:
            raise NobodyToAsk(str(cannot)) from cannot
        said = cast("Mapping[str, Any]", told)
        if "action" not in said:  # an error: this client has nobody who answers
            raise NobodyToAsk("The client refused the question.")
        if said["action"] != "accept":
            return NotAnswered(dismissed=said["action"] != "decline")
        content = cast("Mapping[str, Any]", said.get("content") or {})
        return str(content.get(name))
