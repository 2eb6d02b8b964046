"""The tool by which a person says that an answer is the right one for its question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.arguments import RunId
from awhile.ask.mcp_server.reading import NOT_YOURS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import date

    from awhile.ask.answer.statements import Statement, Statements
    from awhile.ask.semantics.accepted import AcceptedAnswers
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["add_accepting"]


def add_accepting(
    mcp: MCPServer[Any],
    *,
    tasks: Tasks,
    tools: Collection[str],
    statements: Statements,
    accepted: AcceptedAnswers,
    today: Callable[[], date],
) -> None:
    """Add the tool to a server whose runs are those of ``tools``."""

    @mcp.tool()
    async def accept_answer(
        run_id: RunId,
        ctx: Context[Any, Any],
        accept: Annotated[
            bool, Field(description="False: forget what was accepted for its question.")
        ] = True,
        question: Annotated[
            str | None,
            Field(max_length=1000, description="The question it answers, where it is SQL alone."),
        ] = None,
    ) -> model.AcceptedModel:
        """Keep the SQL of a run as the right answer to its question.

        Whoever accepted it gets that SQL again for the same words, and is told so.
        """
        record = await tasks.mine(ctx, run_id)
        if record is None or record.tool not in tools:
            raise ToolError(NOT_YOURS)
        statement = await anyio.to_thread.run_sync(statements.load, run_id)
        asked = question or record.arguments.get("question")
        if not isinstance(asked, str) or not asked.strip():
            raise ToolError("This run is SQL alone. Say which question it answers.")
        owner = record.owner

        def keep() -> None:
            if not accept:
                accepted.forget(asked, owner=owner)
            elif statement is not None:
                accepted.accept(asked, statement.sql, owner=owner, today=today())

        if accept:
            _check(record, statement)
        await anyio.to_thread.run_sync(keep)
        return model.AcceptedModel(run_id=run_id, question=asked, accepted=accept)


def _check(record: TaskRecord, statement: Statement | None) -> None:
    if statement is None:
        raise ToolError("This run has no SQL that could be kept.")
    if statement.follows:
        raise ToolError(
            "This question goes on from another one, so its words alone do not mean this. Ask it "
            "in full, then accept that answer."
        )
    if statement.parameters or statement.earlier:
        raise ToolError("SQL with parameters, or over earlier results, answers no question alone.")
