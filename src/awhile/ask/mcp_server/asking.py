"""The tools that run something: a question, or one SELECT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult

from awhile.ask.answer.answerer import Request, cost_text
from awhile.ask.answer.hints import hints
from awhile.ask.answer.outcomes import Answered, CostBack, NotRun
from awhile.ask.engines.errors import EngineError, QueryError
from awhile.ask.mcp_server import model, shapes
from awhile.ask.mcp_server.arguments import (
    After,
    ConfirmCost,
    Follows,
    Parameters,
    Question,
    RequestKey,
    Sql,
)
from awhile.ask.mcp_server.choosing import Caller
from awhile.ask.mcp_server.conversation import conversation_of
from awhile.ask.mcp_server.turns import turn
from awhile.ask.translators.contract import QuestionBack, Refusal
from awhile.runtime.run import Run
from awhile.tasks import StoppedHow

if TYPE_CHECKING:
    from collections.abc import Callable

    from awhile.ask.answer.answerer import Answerer
    from awhile.ask.answer.statements import Statement, Statements
    from awhile.ask.engines.contract import Engine
    from awhile.ask.mcp_server.schemas import Schemas
    from awhile.ask.results.results import Results
    from awhile.server.tasks import Tasks

__all__ = ["QUERY_TOOLS", "add_asking"]

FIRST_ROWS = 50
"""How many rows an answer carries itself."""

QUERY_TOOLS = ("ask", "run_sql")
"""The tools whose tasks are runs."""

ASK = """\
Answer a question about the database: it becomes SQL, runs, and ends as a table. What cannot be
understood for certain is refused, saying what was understood and what can be asked; what can be
read in more than one way is asked back, with choices.
"""
# Not a docstring: the SDK (`mcp` 2.3.0) passes those on with their indentation.


def add_asking(
    mcp: MCPServer[Any],
    query: Callable[[Any], Any],
    *,
    tasks: Tasks,
    answerer: Answerer,
    engine: Engine,
    schemas: Schemas,
    statements: Statements,
    results: Results,
) -> None:
    """Add them to a server; ``query`` makes a function a task tool."""

    @mcp.tool(description=ASK)
    @query
    async def ask(
        question: Question,
        run: Run,
        request_key: RequestKey = None,
        confirm_cost: ConfirmCost = False,
        follows: Follows = None,
    ) -> Annotated[CallToolResult, model.AnswerModel]:
        request = _request(run, confirm_cost=confirm_cost, follows=follows)
        conversation = await conversation_of(follows, run, tasks=tasks, statements=statements)
        try:
            came_to = await answerer.question(question, request, conversation)
        except EngineError as error:
            return await failed(request, question, error)
        match came_to:
            case Refusal():
                return shapes.refused(request.run_id, question, came_to)
            case QuestionBack():
                return shapes.asked_back(request.run_id, question, came_to)
            case _:
                return await ended("ask", request.run_id, came_to)

    @mcp.tool()
    @query
    async def run_sql(
        sql: Sql,
        run: Run,
        parameters: Parameters = None,
        request_key: RequestKey = None,
        confirm_cost: ConfirmCost = False,
        after: After = None,
    ) -> Annotated[CallToolResult, model.AnswerModel]:
        """Run one SELECT. Anything that could change data or reach files is refused."""
        request = _request(run, confirm_cost=confirm_cost)
        why_not = None if after is None else await turn(tasks, run, after)
        if why_not is not None:
            return shapes.not_run(request.run_id, NotRun(why_not))
        try:
            came_to = await answerer.sql(sql, request, parameters=parameters)
        except EngineError as error:
            return await failed(request, None, error)
        return await ended("run_sql", request.run_id, came_to)

    async def ended(
        tool: str, run_id: str, came_to: Answered | CostBack | NotRun
    ) -> CallToolResult:
        match came_to:
            case NotRun():
                return shapes.not_run(run_id, came_to)
            case CostBack(_, estimate, limit):
                text = cost_text(estimate, limit, engine.capabilities.name)
                return shapes.cost_back(run_id, tool, came_to, text)
            case Answered():
                first = await results.page(run_id, 0, FIRST_ROWS)
                return shapes.answered(run_id, came_to, first)

    async def failed(request: Request, question: str | None, error: EngineError) -> CallToolResult:
        statement = await anyio.to_thread.run_sync(statements.load, request.run_id)
        found = await _hints(schemas, request.principal, statement, error)
        return shapes.failed(request.run_id, question, statement, error, found)


async def _hints(
    schemas: Schemas, principal: str | None, statement: Statement | None, error: EngineError
) -> list[str]:
    if statement is None or not isinstance(error, QueryError):
        return []
    try:
        schema = await schemas.of(principal)
    except EngineError:
        return []
    return await anyio.to_thread.run_sync(
        hints, statement.sql, error, schema, list(statement.earlier)
    )


def _request(run: Run, *, confirm_cost: bool, follows: str | None = None) -> Request:
    if run.id is None:  # kept="always" gives every run its id before its body starts
        raise ToolError("This run has no task id; declare the tool with kept='always'.")
    return Request(
        run_id=run.id,
        report=run.report,
        on_stopped=_proof(run),
        person=Caller(run),
        principal=run.owner,
        cost_confirmed=confirm_cost,
        follows=follows,
    )


def _proof(run: Run) -> Callable[[str, float], None]:
    def stopped(how: str, _seconds: float) -> None:
        run.confirm_stopped(StoppedHow(how))

    return stopped
