"""The tool that runs several statements, each as a run of its own."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.answer.script import MOST_STATEMENTS, ScriptRefused, steps_of
from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.arguments import ConfirmCost, Parameters, RequestKey
from awhile.errors import AwhileError, QueueFull
from awhile.runtime.worker import wall_clock_ms
from awhile.tasks import events as ev

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.answer.answerer import Answerer
    from awhile.ask.answer.script import Step
    from awhile.server.tasks import Tasks

__all__ = ["add_scripts"]

RUN_SCRIPT = f"""\
Run several SELECTs with semicolons between them, at most {MOST_STATEMENTS}. Each becomes a run of
its own, with an id, a result and an ending of its own, and all ids are answered at once; the runs
go on by themselves, one after the other. The first that fails, is stopped or is not run ends the
script: those behind it end as not run, saying why. To stop a script, stop the run that is under
way. list_runs tells how they stand; read each result by its run_id.
"""

Script = Annotated[
    str,
    Field(
        description="SELECTs in the database's own dialect, with semicolons between them.",
        min_length=1,
        max_length=model.LONGEST_SQL,
    ),
]


def add_scripts(mcp: MCPServer[Any], *, tasks: Tasks, answerer: Answerer, dialect: str) -> None:
    """Add the tool to a server; what it starts are calls of ``run_sql``."""

    @mcp.tool(description=RUN_SCRIPT)
    async def run_script(
        sql: Script,
        ctx: Context[Any, Any],
        parameters: Parameters = None,
        request_key: RequestKey = None,
        confirm_cost: ConfirmCost = False,
    ) -> model.ScriptModel:
        try:
            steps = steps_of(sql, parameters, dialect=dialect, answerer=answerer)
        except ScriptRefused as no:
            raise ToolError(f"Not run: {no}.") from no
        runs: list[model.StatementModel] = []
        try:
            for number, step in enumerate(steps, start=1):
                after = runs[-1].run_id if runs else None
                key = request_key and f"{request_key}:{number}"
                arguments = _arguments(step, after, key, confirm_cost=confirm_cost)
                record = await tasks.start(ctx, "run_sql", arguments)
                runs.append(
                    model.StatementModel(number=number, run_id=record.task_id, sql=step.sql)
                )
        except BaseException as broken:
            with anyio.CancelScope(shield=True):  # half a script is nobody's wish
                await _take_back(tasks, runs)
            if isinstance(broken, QueueFull):
                raise ToolError(f"Not run: {broken}") from broken
            raise
        return model.ScriptModel(runs=runs)


def _arguments(
    step: Step, after: str | None, key: str | None, *, confirm_cost: bool
) -> Mapping[str, Any]:
    """Those of one call of ``run_sql``, without what is as it would be anyway."""
    given = {
        "parameters": dict(step.parameters) or None,
        "after": after,
        "request_key": key,
        "confirm_cost": confirm_cost or None,
    }
    return {"sql": step.sql, **{name: one for name, one in given.items() if one is not None}}


async def _take_back(tasks: Tasks, runs: list[model.StatementModel]) -> None:
    for run in reversed(runs):
        with suppress(AwhileError):
            await tasks.store.append(
                run.run_id, ev.CancelAsked(reason="its script could not be begun"), wall_clock_ms()
            )
