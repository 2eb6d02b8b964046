"""What Ctrl-C means, asked of whoever pressed it: keep it running, stop it, or go on waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

import anyio
from rich.text import Text

from awhile.cli.interrupts import Interrupts
from awhile.cli.keyboard import pressed_key, single_keys
from awhile.cli.screen import err

if TYPE_CHECKING:
    from rich.console import Console


class Choice(Enum):
    """What to do with work that is going on."""

    KEEP = "k"
    STOP = "s"
    WAIT = "w"


WORDS: Mapping[Choice, str] = {
    Choice.KEEP: "keep it running",
    Choice.STOP: "stop it",
    Choice.WAIT: "go on waiting",
}

_GO_ON = ("w", "\r", "\n", "\x1b")
"""Enter and Escape, too: what changes nothing is the easiest to hit."""


async def choose(interrupts: Interrupts, *, run_id: str | None, kept: str | None) -> Choice:
    """The choice that is made; another Ctrl-C keeps it running, and where it cannot be kept, too,
    it is left as it is.

    Args:
        interrupts: Ctrl-C.
        run_id: its id; None for work that cannot be come back to, so that it cannot be kept.
        kept: what is to be known about keeping it.
    """
    presses = interrupts.presses
    screen = err()
    offered = [one for one in Choice if one is not Choice.KEEP or run_id is not None]
    chosen: Choice | None = None
    with single_keys():
        _print_menu(screen, offered, run_id, kept)
        try:
            async with anyio.create_task_group() as either:

                async def pressed_again() -> None:
                    nonlocal chosen
                    await interrupts.wait(presses + 1)
                    chosen = Choice.KEEP
                    either.cancel_scope.cancel()

                either.start_soon(pressed_again)
                chosen = await _typed(offered)
                either.cancel_scope.cancel()
        finally:
            screen.print("" if chosen is None else _said(chosen, run_id))
    assert chosen is not None  # else it was cancelled
    return chosen


def _print_menu(
    screen: Console, offered: Sequence[Choice], run_id: str | None, kept: str | None
) -> None:
    name = "" if run_id is None else f" (id {run_id})"
    screen.print(Text(f"It is still running{name}. What now?", style="bold"))
    for one in offered:
        line = Text.assemble((f"  {one.value}  ", "bold"), WORDS[one])
        if one is Choice.KEEP and kept is not None:
            line.append(f", {kept}", style="dim")
        screen.print(line)
    screen.print(f"{', '.join(one.value for one in offered)} (Ctrl-C leaves): ", end="")


async def _typed(offered: Sequence[Choice]) -> Choice:
    while True:
        try:
            key = (await pressed_key()).lower()
        except EOFError:
            return Choice.KEEP
        if key in _GO_ON:
            return Choice.WAIT
        if key in {one.value for one in offered}:
            return Choice(key)


def _said(chosen: Choice, run_id: str | None) -> str:
    return "leave" if chosen is Choice.KEEP and run_id is None else WORDS[chosen]


__all__ = ["Choice", "choose"]
