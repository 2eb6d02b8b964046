"""Where the command line writes: answers to standard output, everything else to standard error.

What others wrote (names, values, messages, errors) is made visible on its way (`awhile.visible`).
"""

from __future__ import annotations

import json
import sys

from rich.console import Console
from rich.text import Text

from awhile.errors import AwhileError, SettingsError
from awhile.visible import visible, visible_lines


class _Screen(Console):
    def on_broken_pipe(self) -> None:
        """Let the error through; rich ends the program itself, with whatever is under way in it."""
        raise  # rich calls this while it handles the error


def out() -> Console:
    """Standard output, for what was asked for. Data is never read as markup."""
    return _Screen(markup=False, highlight=False, emoji=False)


def err() -> Console:
    """Standard error, for everything said about the work."""
    return _Screen(stderr=True, markup=False, highlight=False, emoji=False)


def moves(screen: Console) -> bool:
    """Whether a line can be written over there: a terminal, and not a dumb one."""
    return screen.is_terminal and not screen.is_dumb_terminal


def say(text: str, *, aside: bool = False) -> None:
    """A sentence about the work: folded to the terminal, or one line where there is none.

    Args:
        text: what to say; made visible.
        aside: whether it only accompanies what the terminal is otherwise shown.
    """
    screen = err()
    line = Text(visible_lines(text), style="dim" if aside else "")
    screen.print(line, soft_wrap=not screen.is_terminal)


def complain(error: AwhileError) -> None:
    """An error as one clear line; what is wrong with all that was given, a line each."""
    screen = err()
    said = visible_lines(str(error)) if isinstance(error, SettingsError) else visible(str(error))
    line = Text.assemble(("awhile: ", "bold red"), said)
    screen.print(line, soft_wrap=not screen.is_terminal)


def stopped() -> None:
    """What a server says when Ctrl-C has ended it; below the ``^C`` that a terminal wrote."""
    say("\nStopped." if err().is_terminal else "Stopped.")


def as_json(value: object) -> str:
    """JSON for standard output: letters as they are, and only ASCII where a terminal shows it, to
    which some letters beyond mean something."""
    return json.dumps(value, ensure_ascii=sys.stdout.isatty(), indent=2)


__all__ = [
    "as_json",
    "complain",
    "err",
    "moves",
    "out",
    "say",
    "stopped",
    "visible",
    "visible_lines",
]
