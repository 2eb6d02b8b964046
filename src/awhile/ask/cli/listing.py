"""Runs as a list: as the server tells them, or as this terminal last saw them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from awhile.cli.line import Line
from awhile.cli.screen import visible
from awhile.cli.words import (
    QUERY,
    WORK,
    StopRequest,
    duration,
    percent_in_words,
    ticking,
    words_for,
)
from awhile.client import Known, State, show
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from awhile.client import Entry, Now

SHOWN_ID_LETTERS = 8
"""As much of an id as `awhile attach` needs, in all likelihood; ``--json`` has the whole."""

RunFacts = Mapping[str, Any]
"""A run as ``list_runs`` tells it."""

OUTCOMES = ("refusal", "question_back", "not_run")

HEADS = ("ID", "Started", "Took", "State", "Result", "Question or SQL")
STATE, RESULT = 3, 4
GAP = 2
WIDE = 100
"""Narrower terminals have no room for names of results."""
LEAST_STATE, LEAST_QUESTION = 24, 4
"""Cells of the terminal that these columns have at the least."""

STYLES = {
    State.NEEDS_INPUT: "bold yellow",
    State.CANCEL_REQUESTED: "bold yellow",
    State.FAILED: "red",
    State.FAILED_AFTER_CANCEL: "red",
    State.NOT_STOPPED_YET: "bold red",
}


def is_live(run: RunFacts) -> bool:
    """Whether it may still change, and the server of the list would tell."""
    return "server" not in run and not Status(run["status"]).ended


def as_table(
    runs: Sequence[RunFacts], width: int | None, watched: Mapping[str, Known] | None = None
) -> Table:
    """The list, a line for each.

    Args:
        runs: the runs, in their order.
        width: of the terminal, to which states and questions are cut; None cuts nothing.
        watched: what more is known of some, by id.
    """
    heads = list(HEADS)
    rows = [_row(run, (watched or {}).get(str(run["run_id"]))) for run in runs]
    narrow = width is not None and width < WIDE
    if narrow or not any(row[RESULT].plain for row in rows):
        del heads[RESULT]
        for row in rows:
            del row[RESULT]
    widths = [max(len(head), *(row[at].cell_len for row in rows)) for at, head in enumerate(heads)]
    if width is not None:
        widths[STATE] = min(widths[STATE], max(LEAST_STATE, width // 4))
        widths[-1] = max(LEAST_QUESTION, width - sum(widths[:-1]) - GAP * (len(heads) - 1))
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for head, one in zip(heads, widths, strict=True):
        right: Any = "right" if head == "Took" else "left"
        table.add_column(head, justify=right, no_wrap=True, overflow="ellipsis", width=one)
    for row in rows:
        table.add_row(*row)
    return table


def _row(run: RunFacts, watched: Known | None) -> list[Text]:
    seen_at = run.get("last_seen_at")
    at_ms = _ms(seen_at) if seen_at else time.time_ns() // 1_000_000
    known = Known(task=_snapshot(run)) if watched is None else watched
    now = show(known, now_ms=at_ms)
    words = _state(known, now, at_ms, run)
    if seen_at and not now.ended:
        words = f"{words} (as of {_when(seen_at)})"
    took = duration(now.elapsed_seconds) if now.ended else ticking(now.elapsed_seconds)
    return [
        Text(visible(str(run["run_id"])[:SHOWN_ID_LETTERS])),
        Text(_when(run["created_at"])),
        Text(took),
        Text(words, style=STYLES.get(now.state, "" if now.ended else "bold")),
        Text(visible(str(run.get("result_name") or ""))),
        Text(_title(run)),
    ]


def _state(known: Known, now: Now, at_ms: int, run: RunFacts) -> str:
    of = WORK if "server" in run else QUERY
    if now.ended:
        return words_for(known, now_ms=at_ms, of=of, outcome=run.get("outcome")).badge
    words = Line(of).words(known, now, at_ms, StopRequest.NONE)
    return words if now.percent is None else f"{words}, {percent_in_words(now.percent)}"


def _title(run: RunFacts) -> str:
    said = run.get("title") or run.get("question") or run.get("sql") or run.get("tool") or ""
    at = f" at {run['server']}" if run.get("server") else ""
    return visible(" ".join(f"{said}{at}".split()))


def _snapshot(run: RunFacts) -> Snapshot:
    """What a listing says of a run, as the client has it, so that the words are the same."""
    ended, asked = run.get("ended_at"), run.get("cancel_asked_at")
    how = run.get("stopped_how")
    stopped = ended if asked and run["status"] == Status.CANCELLED.value else None
    return Snapshot(
        task_id=str(run["run_id"]),
        status=Status(run["status"]),
        status_message=run.get("status_message"),
        created_at_ms=_ms(run["created_at"]),
        last_updated_at_ms=_ms(ended or run["created_at"]),
        result={"isError": bool(run.get("is_error"))},
        cancel_asked_at_ms=_ms(asked) if asked else None,
        stopped_at_ms=_ms(stopped) if stopped else None,
        stopped_how=StoppedHow(how) if how else None,
        attempt=run.get("attempt"),
    )


def of_entry(entry: Entry, *, elsewhere: bool = False) -> dict[str, Any]:
    """What this terminal has noted of work, as ``list_runs`` would tell it."""

    def instant(at_ms: int) -> str:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().isoformat()

    ending = entry.ending
    result: Mapping[str, Any] = (ending.result if ending else None) or {}
    answer: Mapping[str, Any] = result.get("structuredContent") or {}
    return {
        "run_id": entry.task_id,
        "tool": entry.tool,
        **({"server": entry.server} if elsewhere else {}),
        "question": entry.arguments.get("question"),
        "sql": entry.arguments.get("sql"),
        "status": entry.status,
        "status_message": entry.message,
        "created_at": instant(entry.created_at_ms),
        "ended_at": instant(ending.last_updated_at_ms) if ending else None,
        "last_seen_at": instant(entry.updated_at_ms),
        "outcome": next((one for one in OUTCOMES if one in answer), None),
        "is_error": bool(result.get("isError")),
        "cancel_asked_at": instant(entry.cancel_asked_at_ms) if entry.cancel_asked_at_ms else None,
        "stopped_how": ending.stopped_how.value if ending and ending.stopped_how else None,
    }


def merged(runs: Sequence[RunFacts], elsewhere: Sequence[RunFacts], most: int) -> list[RunFacts]:
    """All runs and, up to ``most`` in all, what was begun elsewhere; the newest first. What both
    have is a run."""
    known = {run["run_id"] for run in runs}
    rest = [run for run in _newest(elsewhere) if run["run_id"] not in known]
    rest = rest[: max(0, most - len(runs))]
    return _newest([*runs, *rest])


def _newest(runs: Sequence[RunFacts]) -> list[RunFacts]:
    return sorted(runs, key=lambda run: _ms(run["created_at"]), reverse=True)


def _when(instant: str) -> str:
    return f"{datetime.fromisoformat(instant).astimezone():%d %b %H:%M}"


def _ms(instant: str) -> int:
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


__all__ = ["OUTCOMES", "RunFacts", "as_table", "is_live", "merged", "of_entry"]
