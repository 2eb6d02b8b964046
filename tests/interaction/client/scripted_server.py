"""A server on the official SDK, not ours, whose one task says what the test tells it to say.

For what servers in the field do and ours never would: a stale message beside an ending, no
suggested rhythm, a task that is suddenly gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, RequestParams
from pydantic import Field

TASK_ID = "task-1"
GONE = MCPError(code=-32602, message="Failed to retrieve task: Task has expired")
TROUBLE = MCPError(code=-32603, message="the database is restarting")

Answer = dict[str, Any] | MCPError


def task(status: str, **members: Any) -> dict[str, Any]:
    """A task of the extension, asking to be polled quickly unless the test says otherwise."""
    return {
        "taskId": TASK_ID,
        "status": status,
        "createdAt": "2026-11-01T10:00:00Z",
        "lastUpdatedAt": "2026-11-01T10:00:01Z",
        "ttlMs": None,
        "pollIntervalMs": 50,
        **members,
    }


def result(text: str, *, is_error: bool = False) -> dict[str, Any]:
    """A tool's result."""
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


class TaskParams(RequestParams):
    """Whatever the three methods carry."""

    task_id: str = Field(alias="taskId")
    input_responses: dict[str, Any] = Field(alias="inputResponses", default_factory=dict[str, Any])


class Script(Extension):
    """Answers each ``tasks/get`` with the next of ``answers``, and then with the last again."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(
        self,
        answers: Sequence[Answer],
        *,
        created: dict[str, Any] | None = None,
        after_cancel: Sequence[Answer] | None = None,
        cancel_error: MCPError | None = None,
    ) -> None:
        self.answers = list(answers)
        self.created = created or task("working")
        self.after_cancel = after_cancel
        self.cancel_error = cancel_error
        self.gets: list[float] = []
        self.responses: list[dict[str, Any]] = []
        self.cancels = 0

    def methods(self) -> Sequence[MethodBinding]:
        """The extension's three methods."""
        return [
            MethodBinding("tasks/get", TaskParams, self._get),
            MethodBinding("tasks/update", TaskParams, self._update),
            MethodBinding("tasks/cancel", TaskParams, self._cancel),
        ]

    async def intercept_tool_call(
        self,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """Every call becomes the one task."""
        return {"resultType": "task", **self.created}

    async def _get(self, _ctx: ServerRequestContext[Any, Any], params: TaskParams) -> Any:
        self.gets.append(anyio.current_time())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, MCPError):
            raise answer
        asked = {"taskId": params.task_id} if answer["taskId"] == TASK_ID else {}
        return {"resultType": "complete", **answer, **asked}

    async def _update(self, _ctx: ServerRequestContext[Any, Any], params: TaskParams) -> Any:
        self.responses.append(params.input_responses)
        return {"resultType": "complete"}

    async def _cancel(self, _ctx: ServerRequestContext[Any, Any], _params: TaskParams) -> Any:
        self.cancels += 1
        if self.cancel_error is not None:
            raise self.cancel_error
        if self.after_cancel is not None:
            self.answers = list(self.after_cancel)
        return {"resultType": "complete"}


def scripted(script: Script) -> MCPServer[Any]:
    """The server, with one tool."""
    return add_tool(MCPServer("scripted", extensions=[script]))


def add_tool(server: MCPServer[Any]) -> MCPServer[Any]:
    """Add the one tool to a scripted server."""

    @server.tool()
    def work() -> str:
        """Never runs: the script answers."""
        raise AssertionError

    return server
