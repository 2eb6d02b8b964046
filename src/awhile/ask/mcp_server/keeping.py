"""The tools by which a person keeps runs in order: what happened to one, and what to call it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.answer.labels import LONGEST_TITLE
from awhile.ask.mcp_server import history, model
from awhile.ask.mcp_server.listed import listed, outcome_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from awhile.ask.answer.labels import Labels
    from awhile.ask.answer.statements import Statements
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

RunId = Annotated[str, Field(description="One of your runs, by its id.")]


def add_keeping(
    mcp: MCPServer[Any],
    *,
    tasks: Tasks,
    tools: Collection[str],
    statements: Statements,
    labels: Labels,
) -> None:
    """Add the tools to a server whose runs are those of ``tools``."""

    async def own(ctx: Context[Any, Any], run_id: str) -> TaskRecord:
        record = await tasks.mine(ctx, run_id)
        if record is None or record.tool not in tools:
            raise ToolError(
                "There is no such run of yours. It may have expired; list_runs shows those kept."
            )
        return record

    @mcp.tool()
    async def label_run(
        run_id: RunId,
        ctx: Context[Any, Any],
        title: Annotated[
            str | None,
            Field(max_length=LONGEST_TITLE, description="What to call it; empty: its question."),
        ] = None,
        pinned: Annotated[bool | None, Field(description="Whether it stays on top.")] = None,
        stop_when_left: Annotated[
            bool | None,
            Field(description="Whether a page that shows it stops it when the person leaves."),
        ] = None,
    ) -> model.RunModel:
        """Say what to call a run, whether it is pinned, and what becomes of it when you leave.

        What is left out stays as it is.
        """
        record = await own(ctx, run_id)
        label = await anyio.to_thread.run_sync(labels.load, run_id)
        if title is not None:
            label = replace(label, title=title.strip() or None)
        if pinned is not None:
            label = replace(label, pinned=pinned)
        if stop_when_left is not None:
            label = replace(label, stop_when_left=stop_when_left)
        await anyio.to_thread.run_sync(labels.save, run_id, label)
        statement = await anyio.to_thread.run_sync(statements.load, run_id)
        return listed(record, statement, label, outcome_of(record))

    @mcp.tool()
    async def run_history(run_id: RunId, ctx: Context[Any, Any]) -> model.HistoryModel:
        """What happened to a run, step by step: the last thousand steps, oldest first."""
        await own(ctx, run_id)
        return await history.history(tasks.store, run_id)


__all__ = ["add_keeping"]
