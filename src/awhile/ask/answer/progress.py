"""What a run reports of the engine's work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from awhile.tasks.record import nth

if TYPE_CHECKING:
    from collections.abc import Callable

    from awhile.ask.engines.contract import Progress

__all__ = ["Report", "told"]


class Report(Protocol):
    """Takes how far a run is (`awhile.Run.report` is one)."""

    def __call__(
        self, done: float | None = None, total: float | None = None, message: str | None = None
    ) -> None: ...


def told(report: Report) -> Callable[[Progress], None]:
    """What an engine is given to report to, so that the run tells it in a person's words."""

    def tell(at: Progress) -> None:
        if at.stage == "waiting":
            report(message="Waiting for a place" + _in_line(at.before))
        elif at.stage == "running":
            report(at.percent, None if at.percent is None else 100, "Running the query")
        else:
            report(at.rows, message="Fetching rows")

    return tell


def _in_line(before: int | None) -> str:
    return "" if before is None else f": {nth(before + 1)} in line"
