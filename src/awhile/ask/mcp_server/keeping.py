"""The tools by which a person keeps runs in order: what happened to one, what to call it, that it
stays or goes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.answer.labels import LONGEST_TITLE
from awhile.ask.mcp_server import history, model
from awhile.ask.mcp_server.arguments import RunId
from awhile.ask.mcp_server.listed import listed, outcome_of
from awhile.runtime.worker import wall_clock_ms
from awhile.tasks.events import KeepChosen

if TYPE_CHECKING:
    from awhile.ask.answer.labels import Labels
    from awhile.ask.answer.statements import Statements
    from awhile.ask.mcp_server.reading import Rows
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord


def add_keeping(
    mcp: MCPServer[Any],
    *,
    tasks: Tasks,
    rows: Rows,
    statements: Statements,
    labels: Labels,
    keep_seconds: float | None,
) -> None:
    """Add the tools to a server that keeps runs for ``keep_seconds`` after their end."""

    async def keep(run_id: str, keep_ms: int | None) -> TaskRecord:
        return await tasks.store.append(run_id, KeepChosen(keep_ms=keep_ms), wall_clock_ms())

    @mcp.tool()
    async def label_run(
        run_id: RunId,
        ctx: Context[Any, Any],
        title: Annotated[
            str | None,
            Field(max_length=LONGEST_TITLE, description="What to call it; empty: its question."),
        ] = None,
        pinned: Annotated[
            bool | None, Field(description="Whether it stays on top, and is kept for good.")
        ] = None,
        stop_when_left: Annotated[
            bool | None,
            Field(description="Whether a page that shows it stops it when the person leaves."),
        ] = None,
    ) -> model.RunModel:
        """Say what to call a run, whether it is pinned, and what becomes of it when you leave.

        What is left out stays as it is.
        """
        record = await rows.own(tasks, ctx, run_id)
        label = await anyio.to_thread.run_sync(labels.load, run_id)
        if title is not None:
            label = replace(label, title=title.strip() or None)
        if pinned is not None:
            label = replace(label, pinned=pinned)
            usual_ms = None if keep_seconds is None else round(keep_seconds * 1000)
            record = await keep(run_id, None if pinned else usual_ms)
        if stop_when_left is not None:
            label = replace(label, stop_when_left=stop_when_left)
        await anyio.to_thread.run_sync(labels.save, run_id, label)
        statement = await anyio.to_thread.run_sync(statements.load, run_id)
        return listed(record, statement, label, outcome_of(record))

    @mcp.tool()
    async def delete_run(run_id: RunId, ctx: Context[Any, Any]) -> model.DeletedModel:
        """Delete a run that has ended, with its result, for good."""
        record = await rows.own(tasks, ctx, run_id)
        if not record.status.ended:
            raise ToolError("This run is still going on. Stop it first, then delete it.")

        def forget() -> None:
            rows.shares.revoke(run_id)
            labels.delete(run_id)
            statements.delete(run_id)

        await rows.results.delete([run_id])
        await anyio.to_thread.run_sync(forget)
        # Last, so that whoever is cut off in the middle finds the run and deletes it again. The
        # task itself, which has the first rows in its result, goes at the next sweep.
        await keep(run_id, 0)
        return model.DeletedModel(run_id=run_id)

    @mcp.tool()
    async def run_history(run_id: RunId, ctx: Context[Any, Any]) -> model.HistoryModel:
        """What happened to a run, step by step: the last thousand steps, oldest first."""
        await rows.own(tasks, ctx, run_id)
        return await history.history(tasks.store, run_id)


__all__ = ["add_keeping"]
