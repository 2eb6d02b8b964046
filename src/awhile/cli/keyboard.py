"""What is typed at this terminal: a line, or one key. Waiting for either can be cancelled."""

from __future__ import annotations

import os
import sys
import termios
from contextlib import contextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.cli.screen import err

if TYPE_CHECKING:
    from collections.abc import Generator

LOCAL_MODES, CONTROLS = 3, 6
"""Where `termios.tcgetattr` has them (source: its documentation)."""

MOST_BYTES = 65_536


def at_a_terminal() -> bool:
    """Whether somebody sits here who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def typed_line(prompt: str) -> str:
    """The line typed after a prompt, without the blanks around it; empty for Enter and Ctrl-D."""
    err().print(prompt, end="", soft_wrap=True)
    # Not through sys.stdin: what its buffer holds would not make the file readable.
    await anyio.wait_readable(sys.stdin)
    said = os.read(sys.stdin.fileno(), MOST_BYTES)  # a terminal gives one line at a time
    if not said:
        err().print()  # Ctrl-D leaves the cursor behind the prompt
    return said.decode(errors="replace").strip()


@contextmanager
def single_keys() -> Generator[None]:
    """Have `pressed_key` return with each key, without Enter; what was typed before is forgotten,
    since it was not meant for what is asked now."""
    with _modes(off=termios.ICANON | termios.ECHO, at_once=True, forget_typed=True):
        yield


async def pressed_key() -> str:
    """The next key, inside of `single_keys`; of several at once ("s" and Enter) the first. Empty
    for one that is more than a letter, such as an arrow.

    Raises:
        EOFError: the terminal has gone.
    """
    await anyio.wait_readable(sys.stdin)
    said = os.read(sys.stdin.fileno(), MOST_BYTES)
    if not said:
        raise EOFError
    keys = said.decode(errors="replace")
    return "" if keys.startswith("\x1b") and len(keys) > 1 else keys[0]


@contextmanager
def quiet_controls() -> Generator[None]:
    """Keep the terminal from writing ``^C`` into a line, which would leave the line behind."""
    if not sys.stdin.isatty():
        yield
        return
    with _modes(off=termios.ECHOCTL):
        yield


@contextmanager
def _modes(*, off: int, at_once: bool = False, forget_typed: bool = False) -> Generator[None]:
    before = termios.tcgetattr(sys.stdin)
    changed = [*before]
    changed[LOCAL_MODES] &= ~off
    if at_once:  # a read returns with the first byte
        changed[CONTROLS] = [*changed[CONTROLS]]
        changed[CONTROLS][termios.VMIN], changed[CONTROLS][termios.VTIME] = 1, 0
    when = termios.TCSAFLUSH if forget_typed else termios.TCSADRAIN
    termios.tcsetattr(sys.stdin, when, changed)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


__all__ = ["at_a_terminal", "pressed_key", "quiet_controls", "single_keys", "typed_line"]
