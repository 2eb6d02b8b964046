"""``awhile tasks`` and ``awhile cancel``: the runs there are, and stopping one of them."""

from __future__ import annotations

import json
import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import anyio.to_thread
import typer
from rich.table import Table
from rich.text import Text

from awhile.ask.cli.reach import found, reached
from awhile.cli import ends
from awhile.cli.attend import Manner, attend, stop_words
from awhile.cli.interrupts import Interrupts
from awhile.cli.screen import out, say, visible
from awhile.cli.settings import Effective, option, read_settings
from awhile.cli.words import QUERY, duration, words_for
from awhile.client import CancelOutcome, Known, Ledger, show
from awhile.errors import Unreachable
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.client import Entry

SHOWN_ID_LETTERS = 8
"""As much of an id as `awhile attach` needs, in all likelihood; ``--json`` has the whole."""


def tasks(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="How many to show.", min=1, max=1000)] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as a JSON array.")] = False,
    server_url: Annotated[str | None, option("server_url")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """List your runs, newest first: running and ended ones.

    Where no server answers, this shows how the runs of this terminal stood when last seen.
    """
    anyio.run(_tasks, read_settings(ctx.params), limit, as_json)


def cancel(
    ctx: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a run, or its beginning.")],
    server_url: Annotated[str | None, option("server_url")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Ask for a run to be stopped, wait, and say what came of it.

    Ends with 0 once it is known not to be running any more, and with 5 while it is not known.
    """
    raise typer.Exit(anyio.run(_cancel, read_settings(ctx.params), run_id))


async def _cancel(effective: Effective, run_id: str) -> int:
    async with (
        Interrupts.listening() as interrupts,
        found(effective, run_id) as (_, handle),
    ):
        manner = Manner(of=QUERY, stop=True)
        attended = await attend(handle, interrupts, manner)
        say(stop_words(attended, manner, handle.id) or "")
        if attended.left or attended.outcome is CancelOutcome.NOT_STOPPED_YET:
            return ends.NOT_STOPPED
        if attended.outcome is CancelOutcome.FINISHED_ANYWAY:
            say(f"Its result: awhile attach {handle.id}")
        return ends.RESULT


async def _tasks(effective: Effective, limit: int, as_json: bool) -> None:
    try:
        async with reached(effective, start=False) as there:
            runs: list[dict[str, Any]] = (await there.call("list_runs", {"limit": limit}))["runs"]
            rows = [_row(run) for run in runs]
    except Unreachable as why:
        if effective.settings.server_url is not None:
            raise
        runs = await anyio.to_thread.run_sync(_last_seen, effective, limit)
        rows = [_row(run) for run in runs]
        if not rows:
            raise
        say(f"{why} Below: the runs of this terminal, as last seen.", aside=True)
    if as_json:
        out().print(json.dumps(runs, ensure_ascii=False, indent=2), soft_wrap=True)
        return
    if not rows:
        say('No runs yet. Ask something: awhile ask "how many orders are there?"')
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("ID", no_wrap=True)
    table.add_column("Started", no_wrap=True)
    table.add_column("Took", no_wrap=True, justify="right")
    table.add_column("State", overflow="fold")
    table.add_column("Question or SQL", overflow="fold")
    for row in rows:
        table.add_row(*row)
    out().print(table)


OUTCOME_WORDS: Mapping[Any, str] = {
    "refusal": "Not answered",
    "question_back": "Asks you back",
    "not_run": "Not run",
}
"""For runs that finished without a table; every other word is the client's."""


def _row(run: Mapping[str, Any]) -> tuple[Text, Text, Text, Text, Text]:
    seen_at = run.get("last_seen_at")
    at_ms = _ms(seen_at) if seen_at else time.time_ns() // 1_000_000
    known = Known(task=_snapshot(run))
    now = show(known, now_ms=at_ms)
    words = words_for(known, now_ms=at_ms, of=QUERY, outcome=run.get("outcome")).line
    if seen_at and not now.ended:
        words = f"{words} (as of {_when(seen_at)})"
    text = " ".join(str(run.get("question") or run.get("sql") or run.get("tool") or "").split())
    return (
        Text(str(run["run_id"])[:SHOWN_ID_LETTERS]),
        Text(_when(run["created_at"])),
        Text(duration(now.elapsed_seconds)),
        Text(visible(words), style="" if now.ended else "bold"),
        Text(visible(text)),
    )


def _snapshot(run: Mapping[str, Any]) -> Snapshot:
    """What a listing says of a run, as the client has it, so that the words are the same."""
    ended = run.get("ended_at")
    asked = run.get("cancel_asked_at")
    how = run.get("stopped_how")
    return Snapshot(
        task_id=str(run["run_id"]),
        status=Status(run["status"]),
        status_message=run.get("status_message"),
        created_at_ms=_ms(run["created_at"]),
        last_updated_at_ms=_ms(ended or run["created_at"]),
        result={"isError": bool(run.get("is_error"))},
        cancel_asked_at_ms=_ms(asked) if asked else None,
        stopped_how=StoppedHow(how) if how else None,
    )


def _when(instant: str) -> str:
    return f"{datetime.fromisoformat(instant).astimezone():%d %b %H:%M}"


def _ms(instant: str) -> int:
    return round(datetime.fromisoformat(instant).timestamp() * 1000)


def _last_seen(effective: Effective, limit: int) -> list[dict[str, Any]]:
    ledger = Ledger(effective.settings.ledger)
    try:
        return [_of_entry(one) for one in ledger.entries()[:limit]]
    finally:
        ledger.close()


def _of_entry(entry: Entry) -> dict[str, Any]:
    def instant(at_ms: int) -> str:
        return datetime.fromtimestamp(at_ms / 1000).astimezone().isoformat()

    ending = entry.ending
    result: Mapping[str, Any] = (ending.result if ending else None) or {}
    answer: Mapping[str, Any] = result.get("structuredContent") or {}
    return {
        "run_id": entry.task_id,
        "tool": entry.tool,
        "question": entry.arguments.get("question"),
        "sql": entry.arguments.get("sql"),
        "status": entry.status,
        "status_message": entry.message,
        "created_at": instant(entry.created_at_ms),
        "ended_at": instant(ending.last_updated_at_ms) if ending else None,
        "last_seen_at": instant(entry.updated_at_ms),
        "outcome": next((one for one in OUTCOME_WORDS if one in answer), None),
        "is_error": bool(result.get("isError")),
        "cancel_asked_at": instant(entry.cancel_asked_at_ms) if entry.cancel_asked_at_ms else None,
        "stopped_how": ending.stopped_how.value if ending and ending.stopped_how else None,
    }


__all__ = ["cancel", "tasks"]
