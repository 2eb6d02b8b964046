"""``awhile admin``: acting on a store's tasks and workers, whoever they belong to.

Everything is an event of a task or a message to a worker, so it is in the store's history with the
name of who did it, and holds whatever process is running there.
"""

from __future__ import annotations

import getpass
import logging
import socket
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from awhile.cli import ends
from awhile.cli.logs import AUDIT, set_up_audit
from awhile.cli.overseen import look, overseen
from awhile.cli.screen import say, visible
from awhile.cli.settings import option, read_settings
from awhile.errors import IllegalEvent, SettingsError, StoreError, TaskNotFound
from awhile.runtime.presence import tell_to_drain
from awhile.runtime.worker import wall_clock_ms
from awhile.tasks import StoppedHow
from awhile.tasks import events as ev

if TYPE_CHECKING:
    from collections.abc import Collection

    from awhile.cli.overseen import OperatedStore
    from awhile.cli.settings import Settings
    from awhile.tasks import TaskRecord

audit = logging.getLogger(AUDIT)

PAGE = 500
"""How many tasks are asked to stop before more are looked for."""

MOST_HELD = 1000
"""How many of the tasks that somebody holds are read."""

NAMED = 10
"""How many tasks that have not stopped are named."""

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for a confirmation.")]

admin = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Act on the tasks and workers of a store, whoever they belong to.",
)


@admin.command()
def stop(
    ctx: typer.Context,
    task_id: Annotated[str | None, typer.Argument(metavar="[TASK]", show_default=False)] = None,
    owner: Annotated[
        str | None, typer.Option(help="Every living task of this owner.", show_default=False)
    ] = None,
    tool: Annotated[
        str | None, typer.Option(help="Every living task of this tool.", show_default=False)
    ] = None,
    reason: Annotated[str, typer.Option(help="Kept with the task.")] = "",
    wait_seconds: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for them to stop.")
    ] = 10.0,
    yes: Yes = False,
    store: Annotated[str | None, option("store")] = None,
) -> None:
    """Ask for one task to be stopped, or for all of an owner, a tool, or both.

    What nobody has begun never starts. What runs is told to stop, and is stopped when it says so.
    """
    if (task_id is None) == (owner is None and tool is None):
        raise SettingsError("Say what to stop: one TASK, or --owner or --tool (or both of these).")
    settings = _settings(ctx)

    async def run() -> int:
        async with overseen(settings) as opened:
            ids = [task_id] if task_id else list(await opened.unstopped(owner=owner, tool=tool))
            if not ids:
                say("Nothing to stop: no task of that is living and not asked to stop already.")
                return ends.RESULT
            count = f"{PAGE} tasks or more" if len(ids) >= PAGE else f"{len(ids)} tasks"
            confirm(f"Stop {task_id or count}?", yes=yes)
            asked = _Asked(f"{who()}: {reason}" if reason else who())
            while ids:
                await asked.stop(opened, ids)
                more = () if task_id else await opened.unstopped(owner=owner, tool=tool)
                ids = [one for one in more if one not in asked.seen]
            try:
                await asked.wait(opened, wait_seconds)
            except StoreError as unreadable:
                say(f"The stops are written. How they come out cannot be seen here: {unreadable}")
            return asked.tell()

    raise typer.Exit(anyio.run(run))


@admin.command()
def requeue(
    ctx: typer.Context,
    task_id: Annotated[str, typer.Argument(metavar="TASK")],
    even_if_unsafe: Annotated[
        bool,
        typer.Option(
            "--even-if-unsafe",
            help="Also if its tool is not declared safe to run again: it may take effect twice.",
        ),
    ] = False,
    yes: Yes = False,
    store: Annotated[str | None, option("store")] = None,
) -> None:
    """Take a task from a worker that is alive but stuck, so that another one runs it again.

    What has ended stays ended, and what was asked to stop is not run again.
    """
    settings = _settings(ctx)

    async def run() -> None:
        async with overseen(settings) as opened:
            record = await opened.get(task_id)
            if record is None:
                raise TaskNotFound
            worker = record.lease.worker if record.lease else None
            if even_if_unsafe and record.max_attempts <= 1:
                question = (
                    f"The tool {record.tool!r} is not declared safe to run again. What this task "
                    "has done already may be done twice, also at the same time. Run it again?"
                )
            else:
                question = f"Take task {task_id} from {worker} and run it again?"
            confirm(visible(question), yes=yes)
            back = ev.TakenBack(by=who(), even_if_unsafe=even_if_unsafe)
            await opened.append(task_id, back, wall_clock_ms())
            _audit("requeued", task_id, record)
            say(
                f"Taken from {visible(str(worker))}; it waits for a worker, and whatever that one "
                "still sends is not taken. It was told to stop its own run; nothing here shows "
                "that it has."
            )
            say(
                "The same worker may take it again if it has a free slot. To keep it from that: "
                f"awhile admin drain {visible(str(worker))}"
            )

    anyio.run(run)


@admin.command()
def drain(
    ctx: typer.Context,
    worker: Annotated[str, typer.Argument(help="Its name, as `awhile top` shows it.")],
    yes: Yes = False,
    store: Annotated[str | None, option("store")] = None,
) -> None:
    """Tell one worker, or server, to drain, as on SIGTERM.

    It takes nothing more, lets what runs end within its drain_seconds, hands the rest back, ends.
    """
    settings = _settings(ctx)

    async def run() -> None:
        async with overseen(settings) as opened:
            now = await look(opened, limit=MOST_HELD)
            if all(one.name != worker for one in now.workers):
                names = ", ".join(one.name for one in now.workers) or "none at all"
                raise SettingsError(
                    f"No worker {worker!r} has said lately that it is there; nothing was told to "
                    f"anybody. There are: {names}."
                )
            held = len(now.leases(worker))
            confirm(f"Drain {worker}, which has {held} tasks?", yes=yes)
            told = await tell_to_drain(opened, worker, by=who(), now_ms=wall_clock_ms())
            if told:
                _audit("drained", worker)
            say(
                f"{'Told' if told else 'Was told before:'} {visible(worker)} to drain. It takes "
                f"nothing more, and lets its {held} tasks end within its drain_seconds; "
                "`awhile top` no longer shows it once it is gone."
            )

    anyio.run(run)


@dataclass
class _Asked:
    """What came of asking tasks to stop."""

    reason: str
    seen: set[str] = field(default_factory=set[str])
    open: set[str] = field(default_factory=set[str])
    had_ended: int = 0
    never_started: int = 0
    stopped: int = 0
    finished: int = 0

    async def stop(self, store: OperatedStore, task_ids: Collection[str]) -> None:
        """Ask each to stop."""
        for task_id in task_ids:
            self.seen.add(task_id)
            try:
                asked = ev.CancelAsked(reason=self.reason)
                record = await store.append(task_id, asked, wall_clock_ms())
            except IllegalEvent:
                self.had_ended += 1
                continue
            _audit("stopped", task_id, record)
            if record.stopped_how is StoppedHow.NEVER_STARTED:
                self.never_started += 1
            elif not self._is_over(record):
                self.open.add(task_id)

    async def wait(self, store: OperatedStore, seconds: float) -> None:
        """Wait until all have stopped, but not for ever."""
        with anyio.move_on_after(seconds):
            async with store.watch(self.open) as watch:
                changed: Collection[str] = list(self.open)
                while self.open:
                    for task_id in changed:
                        record = await store.get(task_id)
                        if record is None or self._is_over(record):
                            self.open.discard(task_id)
                    if self.open:
                        changed = await watch.wait()

    def _is_over(self, record: TaskRecord) -> bool:
        """Whether its work is known to have ended; then it is counted."""
        if not record.status.ended or record.stopped_how is StoppedHow.NOT_STOPPED:
            return False
        if record.stopped_how is None:
            self.finished += 1
        else:
            self.stopped += 1
        return True

    def tell(self) -> int:
        """Say it; the exit code."""
        for count, words in (
            (self.never_started, "had not started, and never will"),
            (self.stopped, "stopped"),
            (self.finished, "ended by themselves before they could be stopped"),
            (self.had_ended, "had ended already; nothing was done to them"),
            (len(self.open), "told to stop, and not known to have stopped"),
        ):
            if count:
                say(f"{count}: {words}.")
        for task_id in sorted(self.open)[:NAMED]:
            say(f"  {visible(task_id)}")
        return ends.NOT_STOPPED if self.open else ends.RESULT


def _settings(ctx: typer.Context) -> Settings:
    settings = read_settings(ctx.params).settings
    set_up_audit(settings.audit_file)
    return settings


def _audit(did: str, what: str, record: TaskRecord | None = None) -> None:
    """Write down what was done, as `awhile.server.audit` does; ``what``: a task, or a worker."""
    fields = {
        "owner": who(),
        "did": did,
        "task_id": None if record is None else what,
        "worker": what if record is None else None,
        "tool": None if record is None else record.tool,
        "how": "awhile admin",
        "outcome": "done",
    }
    audit.info("%(owner)s %(did)s %(what)s by %(how)s", {**fields, "what": what}, extra=fields)


def who() -> str:
    """Who acts: kept with the task, and in the audit trail."""
    try:
        user = getpass.getuser()
    except OSError:  # a user id without a name
        user = "somebody"
    return f"operator {user}@{socket.gethostname()}"


def confirm(question: str, *, yes: bool) -> None:
    """Ask at a terminal; elsewhere only go on if told so.

    Raises:
        SettingsError: nobody can be asked.
        typer.Abort: the answer was no.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise SettingsError(f"{question} Nothing was done: nobody can be asked here; say --yes.")
    typer.confirm(question, abort=True, err=True)


__all__ = ["admin", "confirm", "who"]
