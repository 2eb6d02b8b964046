"""Questions of the work, put to whoever sits at the terminal, one field after the other.

An empty line takes what is there already, or says no where nothing is. Pages to open, and anything
but forms, are declined, which is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from rich.text import Text

from awhile.cli.forms import Field, Misfit, fields_of, in_words, read
from awhile.cli.keyboard import typed_line
from awhile.cli.screen import err, say, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

DECLINED: Mapping[str, Any] = {"action": "decline"}

SURE = Field(
    name="", title="Your answer", kind="yes_no", required=True,
    options=((True, "yes"), (False, "no")),
)  # fmt: skip
"""For a question without a field: it is there to be agreed to."""

LONGEST_NOW = 200
"""Characters of a text that is there already which are shown with the question."""


async def fill_in(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to one question; whoever waits for it may be cancelled meanwhile."""
    params = cast("Mapping[str, Any]", request.get("params") or {})
    if request.get("method") != "elicitation/create" or params.get("mode", "form") != "form":
        say("The work asks for something that cannot be answered in a terminal; declined.")
        return DECLINED
    err().print(Text(visible_lines(str(params.get("message") or "A question:")), style="bold"))
    fields = fields_of(cast("Mapping[str, Any]", params.get("requestedSchema") or {}))
    if not fields:
        return {"action": "accept", "content": {}} if await _filled(SURE) else DECLINED
    content: dict[str, Any] = {}
    for field in fields:
        value = await _filled(field)
        if value is not None:
            content[field.name] = value
        elif field.required:
            return DECLINED
    return {"action": "accept", "content": content}


async def _filled(field: Field) -> Any:
    """What somebody puts into one field; None where they leave it out."""
    if field.help:
        err().print(Text(f"  {visible(field.help)}", style="dim"))
    for number, (_, label) in enumerate(field.options, start=1):
        err().print(Text.assemble((f"  {number}  ", "bold"), visible(label)))
    hints = [_choose(field)] if field.options else []
    if field.default is not None:
        hints.append(f"Enter for {_short(in_words(field, field.default))}")
    else:
        hints.append("Enter declines" if field.required else "Enter for none")
    prompt = f"{visible(field.title)} ({', '.join(hints)}): "
    while True:
        said = await typed_line(prompt)
        if not said:
            return field.default
        try:
            return read(field, said)
        except Misfit as wanted:
            say(f"It has to be {wanted}.")


def _choose(field: Field) -> str:
    several = ", several with commas" if field.kind == "choices" else ""
    return f"1 to {len(field.options)}{several}"


def _short(value: str) -> str:
    text = visible(" ".join(value.split()))
    return text if len(text) <= LONGEST_NOW else f"{text[:LONGEST_NOW]}…"


__all__ = ["fill_in"]
