"""What is kept of a run, so that its answer can be explained later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.arguments import RunId
from awhile.ask.mcp_server.listed import outcome_of
from awhile.ask.mcp_server.shapes import use_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from awhile.ask.answer.statements import Statement, Statements
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["add_explaining"]


def add_explaining(
    mcp: MCPServer[Any], *, tasks: Tasks, tools: Collection[str], statements: Statements
) -> None:
    """Add the tool to a server whose runs are those of ``tools``."""

    @mcp.tool()
    async def explain_run(run_id: RunId, ctx: Context[Any, Any]) -> model.ExplanationModel:
        """How a run came to its answer: the question as asked and as understood, what was decided,
        the SQL with its values, who wrote it, on which database, when, and what came of it."""
        record = await tasks.mine(ctx, run_id)
        if record is None or record.tool not in tools:
            raise ToolError(
                "There is no such run of yours. It may have expired; list_runs shows those kept."
            )
        return _explanation(record, await anyio.to_thread.run_sync(statements.load, run_id))


def _explanation(record: TaskRecord, statement: Statement | None) -> model.ExplanationModel:
    answer = cast("Mapping[str, Any]", (record.result or {}).get("structuredContent") or {})
    told = model.ExplanationModel(
        run_id=record.task_id,
        tool=record.tool,
        asked=record.arguments.get("question") or record.arguments.get("sql"),
        status=record.status.value,
        outcome=outcome_of(record),
        row_count=answer.get("row_count"),
        truncated=answer.get("truncated"),
        truncated_by=answer.get("truncated_by"),
        elapsed_seconds=answer.get("elapsed_seconds"),
    )
    if statement is None:
        return told
    return told.model_copy(
        update={
            "question": statement.question,
            "reading": statement.reading,
            "meanings": [
                model.MeaningModel(words=one.words, meaning=one.meaning)
                for one in statement.meanings
            ],
            "confidence": statement.confidence,
            "model_use": use_of(statement),
            "decisions": [
                model.DecisionModel(asked=one.asked, chosen=one.chosen)
                for one in statement.decisions
            ],
            "sql": statement.sql,
            "parameters": dict(statement.parameters) or None,
            "translator": statement.translator,
            "translator_version": statement.translator_version,
            "engine": statement.engine,
            "dialect": statement.dialect,
            "database": statement.database,
            "follows": statement.follows,
            "earlier": dict(statement.earlier),
            "result_name": statement.result_name,
            "written_at": statement.at,
            "estimate": statement.estimate
            and model.EstimateModel(rows=statement.estimate.rows, cost=statement.estimate.cost),
        }
    )
