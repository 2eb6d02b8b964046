"""Questions of the work, put to whoever sits at the terminal: a choice by its number, or a text.

Forms of MCP (2025-11-25 and 2026-07-28, ``client/elicitation``). An empty line takes what is there
already, or says no where nothing is; pages to open and anything but forms are declined, which is
said.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import anyio
from rich.text import Text

from awhile.cli.screen import err, say, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DECLINED: Mapping[str, Any] = {"action": "decline"}

LONGEST_NOW = 200
"""Characters of a text that is there already which are shown with the question."""


def at_a_terminal() -> bool:
    """Whether somebody sits here who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def fill_in(request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to one question; whoever waits for it may be cancelled meanwhile."""
    params = cast("Mapping[str, Any]", request.get("params") or {})
    if request.get("method") != "elicitation/create" or params.get("mode", "form") != "form":
        say("The work asks for something that cannot be answered in a terminal; declined.")
        return DECLINED
    err().print(Text(visible_lines(str(params.get("message") or "A question:")), style="bold"))
    schema = cast("Mapping[str, Any]", params.get("requestedSchema") or {})
    fields = cast("Mapping[str, Mapping[str, Any]]", schema.get("properties") or {})
    required = cast("Sequence[str]", schema.get("required") or ())
    content: dict[str, Any] = {}
    for name, field in fields.items():
        value = await _filled(name, field)
        if value is not None:
            content[name] = value
        elif name in required:
            return DECLINED
    return {"action": "accept", "content": content}


async def _filled(name: str, field: Mapping[str, Any]) -> Any:
    """What somebody puts into one field; None where they leave it out."""
    title = visible(str(field.get("title") or name))
    choices = _choices(field)
    if choices:
        return await _chosen(title, choices, field.get("default"))
    now = field.get("default")
    hint = "Enter for none" if now is None else f"Enter for {_short(now)}"
    while True:
        said = await _line(f"{title} ({hint}): ")
        if not said:
            return now
        value = _read(said, str(field.get("type")))
        if value is not None:
            return value
        say(f"That is no {field.get('type')}.")


async def _chosen(title: str, choices: Sequence[tuple[Any, str]], now: Any) -> Any:
    for number, (_, label) in enumerate(choices, start=1):
        err().print(Text.assemble((f"  {number}  ", "bold"), visible(label)))
    hint = "Enter for none" if now is None else f"Enter for {_short(now)}"
    while True:
        said = await _line(f"{title} (1 to {len(choices)}, {hint}): ")
        if not said:
            return now
        if said.isascii() and said.isdecimal() and 1 <= int(said) <= len(choices):
            return choices[int(said) - 1][0]


def _choices(field: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """The values that may be chosen, each with its label; none for a free field."""
    if field.get("type") == "boolean":
        return [(True, "yes"), (False, "no")]
    titled = cast("list[Mapping[str, Any]]", field.get("oneOf") or [])
    if titled:
        return [(one.get("const"), str(one.get("title") or one.get("const"))) for one in titled]
    values = cast("list[Any]", field.get("enum") or [])
    names = cast("list[Any]", field.get("enumNames") or values)
    return [(value, str(label)) for value, label in zip(values, names, strict=False)]


def _read(said: str, kind: str) -> Any:
    """A line as a field's type has it; None where it is none."""
    try:
        match kind:
            case "integer":
                return int(said)
            case "number":
                return float(said)
            case _:
                return said
    except ValueError:
        return None


def _short(value: Any) -> str:
    text = visible(" ".join(str(value).split()))
    return text if len(text) <= LONGEST_NOW else f"{text[:LONGEST_NOW]}…"


async def _line(prompt: str) -> str:
    """A line that is typed, without its end. Waiting for it can be cancelled."""
    err().print(prompt, end="", soft_wrap=True)
    await anyio.wait_readable(sys.stdin)
    return sys.stdin.readline().strip()


__all__ = ["at_a_terminal", "fill_in"]
