"""A table that is longer than the terminal, in the user's pager: every row, fetched as one reads.

A row is one line there, however long, and the pager moves sideways (``less -S``).
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio.from_thread
import anyio.to_thread
from rich.cells import cell_len
from rich.text import Text

from awhile.ask.cli import shown
from awhile.ask.cli.rows import PAGE_ROWS, page_of
from awhile.cli.keyboard import at_a_terminal
from awhile.cli.screen import moves, out, visible

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping

    from rich.console import Console

    from awhile.ask.cli.reach import Reached

    Row = list[str | None]

PAGERS = ("less", "more")

LESS = "-RSX"
"""Colours, sideways instead of folding, and what was read stays on the screen."""

WIDEST = 60
"""Cells of the terminal that a text column takes at the most; longer texts push the rest aside."""

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


async def show_or_page(
    there: Reached, answer: Mapping[str, Any], *, quiet: bool, may_page: bool
) -> None:
    """An answer with its table: on the screen where all its rows fit there, else in the pager."""
    screen = out()
    rows: list[Row] = answer.get("rows") or []
    total = int(answer.get("row_count") or 0)
    with screen.capture() as captured:
        shown.show_table(answer.get("columns") or [], rows, screen)
    fits = len(rows) >= total and captured.get().count("\n") < screen.height
    pager = None if fits or not may_page else _pager(screen)
    if pager is None:
        shown.show_answer(answer, screen, quiet=quiet)
        return
    await _page(there, answer, screen, pager, quiet=quiet)
    if not quiet:
        screen.print(Text(shown.footer(answer, total), style="dim"))


def _pager(screen: Console) -> list[str] | None:
    """The pager's command; None where none can be used."""
    if not (moves(screen) and at_a_terminal()):
        return None
    wanted = shlex.split(os.environ.get("PAGER", ""))
    for command in [wanted] if wanted else [[one] for one in PAGERS]:
        if found := shutil.which(command[0]):
            return [found, *command[1:]]
    return None


async def _page(
    there: Reached, answer: Mapping[str, Any], screen: Console, pager: list[str], *, quiet: bool
) -> None:
    with screen.capture() as captured:
        if not quiet:
            shown.show_head(answer, screen)
    head = captured.get()
    run_id, total = str(answer["run_id"]), int(answer.get("row_count") or 0)
    first = await page_of(there, run_id, 0, PAGE_ROWS)
    columns: list[dict[str, str]] = answer.get("columns") or []
    plain = screen.no_color

    def rows() -> Generator[list[Row]]:
        yield first
        offset = len(first)
        while 0 < offset < total:
            page = anyio.from_thread.run(page_of, there, run_id, offset, PAGE_ROWS)
            if not page:
                return
            yield page
            offset += len(page)

    def lines() -> Generator[str]:
        yield head
        yield from _table(columns, rows(), plain=plain)

    await anyio.to_thread.run_sync(_feed, pager, lines())


def _feed(pager: list[str], lines: Iterable[str]) -> None:
    """Hand lines to the pager as fast as it takes them, until it ends."""
    environment = {**os.environ, "LESS": os.environ.get("LESS") or LESS}
    with (
        suppress(BrokenPipeError),  # it was left before the last row
        subprocess.Popen(
            pager, stdin=subprocess.PIPE, env=environment, encoding="utf-8", errors="replace"
        ) as process,
    ):
        assert process.stdin is not None
        for line in lines:
            process.stdin.write(line)


def _table(
    columns: list[dict[str, str]], pages: Iterable[list[Row]], *, plain: bool
) -> Generator[str]:
    """A head and a line for each row; the first page says how wide columns are."""
    bold, dim, end = ("", "", "") if plain else (BOLD, DIM, PLAIN)
    names = [visible(column["name"]) for column in columns]
    numeric = [shown.is_number(column) for column in columns]
    widths: list[int] | None = None
    for page in pages:
        if widths is None:
            widths = _widths(names, numeric, page)
            yield f"{bold}{_line(names, widths, numeric)}{end}\n"
            yield f"{dim}{'─' * (sum(widths) + 2 * (len(widths) - 1))}{end}\n"
        for row in page:
            yield _line(["NULL" if one is None else visible(one) for one in row], widths, numeric)
            yield "\n"


def _widths(names: list[str], numeric: list[bool], rows: list[Row]) -> list[int]:
    return [
        max(
            cell_len(names[at]),
            *(
                length if numeric[at] else min(length, WIDEST)
                for length in (cell_len(visible(row[at] or "NULL")) for row in rows)
            ),
            0,
        )
        for at in range(len(names))
    ]


def _line(cells: list[str], widths: list[int], numeric: list[bool]) -> str:
    padded: list[str] = []
    for cell, width, number in zip(cells, widths, numeric, strict=True):
        room = " " * max(0, width - cell_len(cell))
        padded.append(f"{room}{cell}" if number else f"{cell}{room}")
    return "  ".join(padded).rstrip()


__all__ = ["show_or_page"]
