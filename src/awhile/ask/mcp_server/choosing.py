"""Questions of a run as forms that an MCP client fills in (2025-11-25 and 2026-07-28,
``client/elicitation``): a choice by its label, and a text that may be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.ask.answer.choosing import Choose, Chosen, NobodyToAsk, NotChosen, ToChoose
from awhile.runtime.ending import CannotAsk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.runtime.run import Run

__all__ = ["chooser", "form"]

CHOICE, CHANGED = "choice", "changed"
"""The fields of the form."""

LONGEST_SHOWN = 4_000
"""Characters of a text to be changed that the form begins with; a longer one is left out."""


def chooser(run: Run) -> Choose:
    """Asks by the run's task. An answer that an earlier attempt was given counts (`Run.ask`)."""

    async def choose(asked: ToChoose) -> Chosen | NotChosen:
        try:
            said = await run.ask(form(asked), key=asked.about)
        except CannotAsk as cannot:
            raise NobodyToAsk(str(cannot)) from cannot
        return _read(asked, cast("Mapping[str, Any]", said))

    return choose


def form(asked: ToChoose) -> dict[str, Any]:
    """The request that asks this."""
    fields: dict[str, Any] = {
        CHOICE: {"type": "string", "title": "Your choice", "enum": list(asked.labels)}
    }
    if asked.editable is not None:
        editable = asked.editable
        fields[CHANGED] = {
            "type": "string",
            "title": editable.what[0].upper() + editable.what[1:],
            "description": "What is run is what stands here.",
        }
        if len(editable.text) <= LONGEST_SHOWN:
            fields[CHANGED]["default"] = editable.text
        else:
            fields[CHANGED]["description"] = f"Another {editable.what}; empty: the same."
    schema = {"type": "object", "properties": fields, "required": [CHOICE]}
    params = {"mode": "form", "message": asked.text, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def _read(asked: ToChoose, said: Mapping[str, Any]) -> Chosen | NotChosen:
    if said.get("action") != "accept":
        if "action" not in said:  # an error: the client has nobody who answers
            raise NobodyToAsk("The client refused the question.")
        return NotChosen(dismissed=said["action"] != "decline")
    content = cast("Mapping[str, Any]", said.get("content") or {})
    label = str(content.get(CHOICE))
    if label not in asked.labels:  # forms are checked on their way; this one passed an old version
        raise NobodyToAsk(f"{label!r} was none of the choices.")
    return Chosen(label=label, changed=_changed(asked, content.get(CHANGED)))


def _changed(asked: ToChoose, text: object) -> str | None:
    """The text, where it is another than the form began with."""
    if asked.editable is None or not isinstance(text, str) or not text.strip():
        return None
    return None if text.strip() == asked.editable.text.strip() else text.strip()
