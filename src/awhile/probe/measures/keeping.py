"""A living task: asked for wrongly, by somebody else, and on a connection of another day."""

from __future__ import annotations

from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import Json
from awhile.probe.limits import Limits
from awhile.probe.measures.evidence import Kept
from awhile.probe.measures.watching import create
from awhile.probe.sessions import Log, Session, unknown_id
from awhile.probe.targets import Target, Trial


async def keep(target: Target, era: str, log: Log, trial: Trial, limits: Limits) -> Kept:
    """Start a task, use it wrongly, drop the connection, come back, and let somebody else try.

    It is left running here; whoever called ends it.

    Raises:
        Missing: the call became no task.
        Spent: a bound was reached.
        Unreachable: the command cannot be started.
    """
    async with target.session(era, log) as session:
        created, task = await create(session, trial, "start a task, to come back to it")
        kept = Kept(created, str(task.get("taskId")))
        if era != LEGACY:
            await _wrongly(session, kept)
        if not session.channel.over_http:
            return kept  # the child ends with its connection
    async with target.session(era, log) as session:
        kept.returned, _ = await session.get(kept.task_id, "come back on a new connection")
    if target.second_headers is not None:
        async with target.session(era, log, headers=target.second_headers) as other:
            await _as_another(other, kept)
        async with target.session(era, log) as session:
            kept.owner, _ = await session.get(kept.task_id, "see whether it was touched")
    return kept


async def _wrongly(session: Session, kept: Kept) -> None:
    named: Json = {"taskId": kept.task_id}
    wrong = kept.wrong
    wrong["undeclared"] = await session.ask(
        "tasks/get", named, "a living task, without declaring the extension", declared=False
    )
    if not session.channel.over_http:
        return
    wrong["nameless"] = await session.ask(
        "tasks/get", named, "a living task, without Mcp-Name", headers={"mcp-name": None}
    )
    wrong["misnamed"] = await session.ask(
        "tasks/get", named, "a living task, with another Mcp-Name", headers={"mcp-name": "another"}
    )


async def _as_another(other: Session, kept: Kept) -> None:
    kept.other = await other.ask("tools/list", {}, "see whether somebody else is let in")
    methods: dict[str, Json] = {"tasks/get": {}, "tasks/cancel": {}}
    if other.era == LEGACY:
        methods["tasks/result"] = {}
    else:
        methods["tasks/update"] = {"inputResponses": {}}
    for method, more in methods.items():
        theirs = await other.ask(
            method, {"taskId": kept.task_id, **more}, f"{method} of somebody else's task"
        )
        unknown = await other.ask(
            method, {"taskId": unknown_id(), **more}, f"{method} of an unknown task, to compare"
        )
        kept.others[method] = (theirs, unknown)
    if other.era == LEGACY:
        kept.others_list = await other.ask("tasks/list", {}, "list the tasks as somebody else")


__all__ = ["keep"]
