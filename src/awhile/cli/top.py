"""``awhile top``: what a store holds right now, live at a terminal."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from awhile.cli.overseen import Seen, as_json, look, overseen, shown_url
from awhile.cli.screen import out, visible
from awhile.cli.settings import option, read_settings
from awhile.stores.operated import QUEUED, STOPPING
from awhile.stores.sealing import without_seals
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType

    from awhile.tasks import TaskRecord

MOST = 100
"""How many of each list are read; a terminal shows fewer."""

ROWS = 10
"""How many of each are shown live, so that everything stays on one screen."""

STATES = (QUEUED, Status.WORKING.value, Status.INPUT_REQUIRED.value, STOPPING)

ENDED_STYLES = {Status.FAILED: "red", Status.CANCELLED: "yellow"}


def top(
    ctx: typer.Context,
    store: Annotated[str | None, option("store")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    as_one_json: Annotated[
        bool, typer.Option("--json", help="Print it once, as one JSON object.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Print it once.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0.2, help="How often to look.")
    ] = 2.0,
) -> None:
    """Show a store: its workers, its queue, what runs, what is to stop, what ended.

    Live at a terminal (Ctrl-C ends), once where there is none. It reads what is living, so it costs
    a large store no more than a small one.
    """
    settings = read_settings(ctx.params).settings
    url = settings.store

    async def run() -> None:
        screen = out()
        async with overseen(settings) as opened:
            if as_one_json or once or not screen.is_terminal:
                seen = await look(opened, limit=MOST)
                if as_one_json:
                    said = json.dumps(as_json(url, seen), indent=2)
                    screen.print(said, soft_wrap=True, highlight=False)
                else:
                    _print(screen, url, seen)
                return
            with Live(console=screen, screen=True, auto_refresh=False) as live:
                while True:
                    seen = await look(opened, limit=MOST)
                    live.update(Group(*shown(url, seen, rows=ROWS)), refresh=True)
                    await anyio.sleep(every)

    with suppress(KeyboardInterrupt):
        anyio.run(run)


def _print(screen: Console, url: str, seen: Seen) -> None:
    """Once: as wide as it is, so that ids stay whole for whoever reads them by program."""
    if not screen.is_terminal:
        screen.width = 500
    for part in shown(url, seen, rows=MOST):
        screen.print(part)


def shown(url: str, seen: Seen, *, rows: int) -> Iterable[RenderableType]:
    """The parts of the view, in order, with a line between them."""
    yield Text(visible(shown_url(url)), style="bold")
    running = f"Running ({_sum(seen, *STATES[1:])})"
    tables = [
        _workers(seen),
        _counts(seen),
        _queue(seen, rows),
        _held(running, seen.overview.held[:rows], seen.at_ms),
    ]
    if seen.not_stopped:
        words = f"Stop asked, not stopped ({len(seen.not_stopped)})"
        tables.append(_stopping(words, seen.not_stopped[:rows], seen.at_ms))
    for table in (*tables, _endings(seen, rows)):
        yield Text()
        yield table


def _workers(seen: Seen) -> Table:
    """Their leases are read; how many bodies each said it ran is older (`Present`), so only JSON
    has it."""
    table = _table(f"Workers ({len(seen.workers)})", "Worker", "Slots", "Leases", "State", "Since")
    for one in seen.workers:
        state: str | Text = (
            "draining" if one.draining else "takes tasks" if one.slots else "takes no tasks"
        )
        if silent_ms := one.silent_ms(seen.at_ms):
            state = Text(f"silent for {ago(silent_ms)}", style="red")
        leases = str(len(seen.leases(one.name)))
        since = ago(seen.at_ms - one.since_ms)
        table.add_row(visible(one.name), str(one.slots), leases, state, since)
    there = {one.name for one in seen.workers}
    for name in (one for one in seen.silent if one not in there):
        leases = str(len(seen.leases(name)))
        table.add_row(visible(name), "?", leases, Text("silent", style="red"), "")
    return table


def _counts(seen: Seen) -> Table:
    table = _table("Tasks by tool", "Tool", *STATES)
    by_tool: dict[str, dict[str, int]] = {}
    for one in seen.overview.counts:
        states = by_tool.setdefault(one.tool, {})
        states[one.state] = states.get(one.state, 0) + one.tasks
    for tool in sorted(by_tool):
        table.add_row(visible(tool), *(str(by_tool[tool].get(state, 0)) for state in STATES))
    return table


def _queue(seen: Seen, rows: int) -> Table:
    waiting = [one for one in seen.overview.counts if one.state == QUEUED]
    oldest = min((one.oldest_ms for one in waiting), default=seen.at_ms)
    title = f"Queue ({_sum(seen, QUEUED)}" + (
        f", the oldest for {ago(seen.at_ms - oldest)})" if waiting else ")"
    )
    table = _table(title, "Tool", "Owner", "Waiting", "Oldest")
    for one in seen.overview.lines[:rows]:
        age = ago(seen.at_ms - one.oldest_ms)
        table.add_row(visible(one.tool), visible(one.owner), str(one.waiting), age)
    return table


def _held(title: str, records: Sequence[TaskRecord], at_ms: int) -> Table:
    table = _table(title, "Task", "Tool", "Owner", "Status", "Age", "Worker", "Lease")
    for one in records:
        lease = one.lease
        left_ms = lease.until_ms - at_ms if lease else 0
        ran_out = Text(f"ran out {ago(-left_ms)} ago", style="red")
        table.add_row(
            one.task_id,
            visible(one.tool),
            visible(one.owner),
            one.status.value,
            ago(at_ms - one.created_at_ms),
            visible(lease.worker) if lease else "",
            ago(left_ms) if left_ms > 0 else ran_out,
        )
    return table


def _stopping(title: str, records: Sequence[TaskRecord], at_ms: int) -> Table:
    table = _table(title, "Task", "Tool", "Owner", "Asked", "State", "Worker", style="yellow")
    for one in records:
        state = "ended, its work may go on" if one.status.ended else "still working"
        table.add_row(
            one.task_id,
            visible(one.tool),
            visible(one.owner),
            f"{ago(at_ms - (one.cancel_asked_at_ms or at_ms))} ago",
            state,
            visible(one.lease.worker) if one.lease else "",
        )
    return table


def _endings(seen: Seen, rows: int) -> Table:
    table = _table("Ended lately", "Task", "Tool", "Owner", "Status", "Ended", "Says")
    for one in seen.overview.endings[:rows]:
        table.add_row(
            one.task_id,
            visible(one.tool),
            visible(one.owner),
            Text(one.status.value, style=ENDED_STYLES.get(one.status, "")),
            f"{ago(seen.at_ms - (one.ended_at_ms or seen.at_ms))} ago",
            visible(without_seals(one.status_message or "")),
        )
    return table


def _sum(seen: Seen, *states: str) -> int:
    return sum(one.tasks for one in seen.overview.counts if one.state in states)


def _table(title: str, *columns: str, style: str = "bold") -> Table:
    table = Table(title=title, title_style=style, title_justify="left", box=None, pad_edge=False)
    for one in columns:
        numbers = one in {"Slots", "Leases", "Waiting", *STATES}
        right: Any = "right" if numbers else "left"
        table.add_column(one, justify=right, no_wrap=one != "Says", header_style="dim")
    return table


def ago(ms: int) -> str:
    """A span of time in one unit or two, as one reads it off a clock."""
    seconds = max(0, ms) / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = int(seconds // 60)
    if minutes < 120:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h" if hours < 48 else f"{hours // 24} d"


__all__ = ["ago", "shown", "top"]
