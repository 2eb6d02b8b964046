"""The one line that says how work stands: live where a terminal can write over it, else plain."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from awhile.cli.pace import Sample, sampled, seconds_left
from awhile.cli.screen import visible
from awhile.cli.words import (
    StopRequest,
    last_news_in_words,
    left_in_words,
    percent_in_words,
    rows_in_words,
    ticking,
    words_for,
)
from awhile.client import State

if TYPE_CHECKING:
    from rich.console import RenderableType

    from awhile.cli.words import Subject
    from awhile.client import Known, Now

SHORTEST_BAR = 8
LONGEST_BAR = 30


class Line:
    """What there is to say of one piece of work, as it changes."""

    def __init__(self, of: Subject) -> None:
        self._of = of
        self._spinner = Spinner("dots")
        self._samples: tuple[Sample, ...] = ()

    def hear(self, now: Now) -> None:
        """Take in how far it is; the time that is left is told from what was heard."""
        if now.percent is None or now.ended:
            self._samples = ()
        else:
            self._samples = sampled(self._samples, Sample(time.monotonic(), now.percent))

    def words(self, known: Known, now: Now, now_ms: int, request: StopRequest) -> str:
        """Its state; for work that is going on, what it says of itself."""
        said = words_for(known, now_ms=now_ms, of=self._of, request=request)
        if now.state is State.NEEDS_INPUT and now.detail and said.sentence is None:
            return f"{said.badge}: {_one_line(now.detail)}"
        message = _one_line(_message(known, now) or "")
        if now.state is not State.WORKING or said.sentence is not None or not message:
            return said.line
        return (
            message if self._of.stages and said.badge == "Running" else f"{said.badge}: {message}"
        )

    def plain(self, words: str, now: Now, known: Known, now_ms: int) -> str:
        """All of it, as text."""
        figures = [figure for figure, _ in self._figures(now, known, now_ms)]
        return ", ".join([words, *figures])

    def live(self, words: str, now: Now, known: Known, now_ms: int, width: int) -> RenderableType:
        """One line of the terminal. Figures are whole or not there; the bar has what room is left,
        and the words are cut last."""
        figures = self._figures(now, known, now_ms)
        wanted = min(cell_len(words), width * 2 // 5)
        while len(figures) > 1 and cell_len(f"_ {_joined(figures)} ") + wanted > width:
            figures.remove(max(figures, key=lambda one: one[1]))
        told = _joined(figures)
        text = Text(words, style="bold")
        text.truncate(max(1, width - cell_len(f"_ {told} ")), overflow="ellipsis")
        room = width - cell_len(f"_ {words} {told} ")
        # Every column has its width: rich takes what is missing from all of them alike.
        row = Table.grid(padding=(0, 1))
        row.add_column(width=1)
        row.add_column(width=text.cell_len, no_wrap=True)
        cells: list[RenderableType] = [self._spinner, text]
        if self._shows_bar(now) and room >= SHORTEST_BAR:
            length = min(room, LONGEST_BAR)
            row.add_column(width=length)
            cells.append(
                ProgressBar(
                    total=100, completed=now.percent or 0, width=length, complete_style="cyan"
                )
            )
        row.add_column(width=cell_len(told), no_wrap=True)
        row.add_row(*cells, Text(told))
        return row

    @staticmethod
    def _shows_bar(now: Now) -> bool:
        return now.percent is not None and now.state is not State.UNREACHABLE

    def _figures(self, now: Now, known: Known, now_ms: int) -> list[tuple[str, int]]:
        """Each with how well it can be missed."""
        if now.state is State.UNREACHABLE:
            return [(_away(known, now, now_ms), 0), ("trying again", 1)]
        told: list[tuple[str | None, int]] = [
            (self._how_far(now), 1),
            (self._counted(now), 2),
            (ticking(now.elapsed_seconds), 0),
            (self._left(now), 4),
            (_news(now), 3),
        ]
        return [(figure, missed) for figure, missed in told if figure is not None]

    def _how_far(self, now: Now) -> str | None:
        if now.percent is None or now.ended:
            return None
        estimated = " (the engine's estimate)" if self._of.estimates else ""
        return f"{percent_in_words(now.percent)}{estimated}"

    def _counted(self, now: Now) -> str | None:
        if now.done is None or now.ended:
            return None
        if now.total is None:
            if not now.done and not self._of.counts:
                return None  # nothing is counted yet
            counted = rows_in_words(int(now.done)) if self._of.counts else f"{now.done:,.12g}"
            return f"{counted} so far"
        # Of a total that is 100 the percentage says it all.
        return None if now.total == 100 else f"{now.done:,.12g} of {now.total:,.12g}"

    def _left(self, now: Now) -> str | None:
        left = seconds_left(self._samples) if now.state is State.WORKING else None
        return None if left is None else left_in_words(left)


def _message(known: Known, now: Now) -> str | None:
    """What the work says of itself. A server that counts attempts is ours, and its status message
    beyond that is about the task ("Started."), which is said by the state already."""
    task = known.task
    if task is None or task.attempt is None:
        return now.message
    return task.progress.message if task.progress else None


def _away(known: Known, now: Now, now_ms: int) -> str:
    away_ms = known.unreachable_since_ms
    if away_ms is None:
        return ticking(now.elapsed_seconds)
    answers = "only errors" if known.answers_with_errors else "no answer"
    return f"{answers} for {ticking(max(0, now_ms - away_ms) / 1000)}"


def _news(now: Now) -> str | None:
    if now.last_news_seconds is None:
        return None
    return last_news_in_words(now.last_news_seconds)


def _joined(figures: list[tuple[str, int]]) -> str:
    return " · ".join(figure for figure, _ in figures)


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))


__all__ = ["Line"]
