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


class Left(Enum):
    """What becomes of work that is left."""

    RUNS_ON = "keep it running"
    ENDS = "leave"
    """Nothing leads back to it."""


_WORDS: Mapping[Choice, str] = {Choice.STOP: "stop it", Choice.WAIT: "go on waiting"}

_GO_ON = ("w", "\r", "\n", "\x1b")
"""Enter and Escape, too: what changes nothing is the easiest to hit."""


async def choose(interrupts: Interrupts, *, run_id: str | None, left: Left) -> Choice:
    """The choice that is made; another Ctrl-C leaves.

    Args:
        interrupts: Ctrl-C.
        run_id: its id, where it has one.
        left: what becomes of it when it is left.
    """
    presses = interrupts.presses
    screen = err()
    offered = [one for one in Choice if one is not Choice.KEEP or left is not Left.ENDS]
    chosen: Choice | None = None
    with single_keys():
        _print_menu(screen, offered, run_id, left)
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
            screen.print("" if chosen is None else _WORDS.get(chosen, left.value))
    assert chosen is not None  # else it was cancelled
    return chosen


def _print_menu(screen: Console, offered: Sequence[Choice], run_id: str | None, left: Left) -> None:
    name = "" if run_id is None else f" (id {run_id})"
    screen.print(Text(f"It is still running{name}. What now?", style="bold"))
    for one in offered:
        screen.print(Text.assemble((f"  {one.value}  ", "bold"), _WORDS.get(one, left.value)))
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


__all__ = ["Choice", "Left", "choose"]
