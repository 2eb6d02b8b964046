"""Where the command line writes: answers to standard output, everything else to standard error."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from awhile.errors import AwhileError


def out() -> Console:
    """Standard output, for what was asked for. Data is never read as markup."""
    return Console(markup=False, highlight=False, emoji=False)


def err() -> Console:
    """Standard error, for everything said about the work."""
    return Console(stderr=True, markup=False, highlight=False, emoji=False)


def complain(error: AwhileError) -> None:
    """An error as one clear line, folded to the terminal; whole where there is none."""
    text = visible(str(error))
    if not sys.stderr.isatty():
        sys.stderr.write(f"awhile: {text}\n")
        return
    err().print(Text.assemble(("awhile: ", "bold red"), text))


def visible(text: str) -> str:
    """Text for a terminal: what would move the cursor, colour or reorder it is written out.

    Names and values of a database may hold anything, also sequences that drive a terminal.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def visible_lines(text: str) -> str:
    """The same for text of several lines, whose line ends and tabs stay."""
    return "\n".join(visible(line.expandtabs(4)) for line in text.splitlines())


__all__ = ["complain", "err", "out", "visible", "visible_lines"]
