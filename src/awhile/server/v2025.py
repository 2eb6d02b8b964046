"""Tasks of 2025-11-25: what its methods do.

Source: modelcontextprotocol/modelcontextprotocol, ``2025-11-25/basic/utilities/tasks``. The caller
decides, by ``params.task``, whether a call becomes a task; results and questions travel by
``tasks/result``; a cancel is the task's ending at once.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND
from mcp_types.methods import serialize_server_result

from awhile.errors import IllegalEvent, TaskNotFound
from awhile.server.endings import answer_from, server_stopped
from awhile.server.followers import Followers, has_session
from awhile.server.params import ListParams, TaskParams, unknown_task
from awhile.server.principal import can_be_told_apart
from awhile.server.questions import Questions, takes_forms
from awhile.tasks import Status
from awhile.tasks import events as ev
from awhile.wire.v2025_11_25 import (
    PROTOCOL_VERSION,
    write_answer,
    write_created,
    write_result,
    write_task,
)

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.server.calls import Calls
    from awhile.server.options import ToolOptions
    from awhile.tasks import TaskRecord
    from awhile.wire.snapshot import Snapshot

SHORTEST_KEEP_MS = 60_000
"""The least a result lives after its end, whatever ``ttl`` was asked for: nobody who polls could
collect it otherwise. Source: ours."""

LONGEST_KEEP_MS = 365 * 24 * 60 * 60 * 1000
"""The most, for a tool whose results are kept for ever. Source: ours."""

PAGE = 50
"""How many tasks one page of ``tasks/list`` has. Source: ours."""

CANNOT_ASK = (
    "This tool needs to ask its caller something, and this caller cannot be asked. In MCP "
    "2025-11-25 that takes stdio, or HTTP with a session: a stateless server hears no answer."
)


class Era2025:
    """The methods of this era."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.followers = Followers(calls, self._shown)

    async def call(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> HandlerResult:
        """``tools/call`` of a task tool without ``params.task``."""
        if options.task_support == "required":
            raise MCPError(
                code=METHOD_NOT_FOUND,
                message=f"{options.name!r} runs only as a task: call it with params.task, from a "
                f"client of MCP {PROTOCOL_VERSION} or later.",
            )
        asked_by_answer = self._calls.asks_by_answer(options) and not takes_forms(ctx)
        return await self._calls.answer(
            options,
            params,
            ctx,
            call_next,
            takes_tasks=False,
            unasked=None if ctx.session.can_send_request else CANNOT_ASK,
            asked_by_answer=asked_by_answer,
            # With a session the SDK lets the request run on, and cancels it when its client asks.
            outlive=None if has_session(ctx) else self.followers.outlive,
        )

    async def create(
        self,
        options: ToolOptions | None,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
    ) -> dict[str, Any]:
        """``tools/call`` with ``params.task``: always a task, and nothing awaited but its row."""
        if options is None or options.task_support == "forbidden":
            known = params.name in {one.name for one in await self._calls.list_tools()}
            raise MCPError(
                code=METHOD_NOT_FOUND,
                message=f"The tool {params.name!r} never runs as a task: call it without "
                "params.task. tools/list says by execution.taskSupport which tools do."
                if known
                else f"Unknown tool: {params.name!r}. tools/list says which there are.",
            )
        assert params.task is not None  # the middleware looked
        record = await self._calls.submit(
            options,
            params,
            ctx,
            call_next,
            keep_ms=_keep_ms(params.task.ttl, options.keep_ms),
            unasked=None if ctx.session.can_send_request else CANNOT_ASK,
        )
        if not record.status.ended:
            self.followers.follow(ctx, record)
        words = (
            f"{options.name} is running in the background now, as task {record.task_id}. This is "
            "not its result: that comes when the task has ended. Until then, go on with something "
            "else, and do not call the tool again."
        )
        return write_created(await self._shown(record), immediate_response=words)

    async def get(self, ctx: ServerRequestContext[Any, Any], params: TaskParams) -> HandlerResult:
        """``tasks/get``."""
        return write_answer(await self._shown(await self._calls.own(ctx, params.task_id)))

    async def list(self, ctx: ServerRequestContext[Any, Any], params: ListParams) -> HandlerResult:
        """``tasks/list``: the caller's own tasks of both eras, newest first, page by page."""
        owner = self._calls.principal(ctx)
        if not can_be_told_apart(ctx, owner):
            raise MCPError(
                code=METHOD_NOT_FOUND,
                message="Tasks are not listed here: callers without a token cannot be told apart.",
            )
        try:
            before = None if params.cursor is None else _task_of(params.cursor)
            found = await self._calls.store.find(
                owner=owner, before=before, limit=PAGE + 1, detail="brief"
            )
        except TaskNotFound:
            raise MCPError(
                code=INVALID_PARAMS,
                message="No such cursor, or its task has expired; list again from the start.",
            ) from None
        page = found[:PAGE]
        fields: dict[str, Any] = {"tasks": [write_task(await self._shown(one)) for one in page]}
        if len(found) > PAGE:
            fields["nextCursor"] = _cursor_of(page[-1].task_id)
        return fields

    async def cancel(
        self, ctx: ServerRequestContext[Any, Any], params: TaskParams
    ) -> HandlerResult:
        """``tasks/cancel``: the task has ended when this is answered; its work is being stopped."""
        record = await self._calls.own(ctx, params.task_id)
        lease = record.lease
        try:
            record = await self._calls.append(record.task_id, ev.CancelAsked(final=True))
        except TaskNotFound as gone:
            raise unknown_task() from gone
        except IllegalEvent as ended:
            now = write_task(await self._shown(await self._calls.get(record.task_id) or record))
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"This task cannot be cancelled: it is {now['status']!r} already.",
            ) from ended
        self._calls.worker.reach(record, lease)
        return write_answer(await self._shown(record))

    async def result(
        self, ctx: ServerRequestContext[Any, Any], params: TaskParams
    ) -> HandlerResult:
        """``tasks/result``: waits for the ending, and asks the client what the work wants to know.

        Raises:
            MCPError: the error the call itself ended in.
        """
        record = await self._calls.own(ctx, params.task_id)
        if not record.status.ended:
            record = await self._until_ended(ctx, record)
        if record.status is not Status.COMPLETED:
            return answer_from(record)  # raises what the call itself would have raised
        tied = write_result(await self._shown(record))
        return serialize_server_result("tools/call", ctx.protocol_version, tied)

    async def _until_ended(
        self, ctx: ServerRequestContext[Any, Any], record: TaskRecord
    ) -> TaskRecord:
        async with anyio.create_task_group() as beside:
            # It may come back, but not to this stream.
            beside.start_soon(self._calls.when_left, ctx, beside.cancel_scope.cancel)
            questions = Questions(ctx, self._calls, beside)
            with self.followers.riding_on(ctx, record.task_id):
                latest = await self._calls.ending(record, questions=questions)
            record = latest or record
            beside.cancel_scope.cancel()
        if not record.status.ended and self._calls.closing.over.has_come:
            raise server_stopped("The server was stopped while this was waiting; ask again.")
        if not record.status.ended:
            raise unknown_task()  # it expired meanwhile, or nobody is left to be told
        return record

    async def _shown(self, record: TaskRecord) -> Snapshot:
        snapshot = await self._calls.shown(record)
        if snapshot.ttl_ms is not None or record.keep_ms is None:
            return snapshot
        # It is kept for so long after its end, and never dropped while it lives; what is certain
        # now is what was asked for, and as much again for work that has outlived it.
        age_ms = self._calls.age_ms(record)
        longer = age_ms if age_ms > record.keep_ms else 0
        return replace(snapshot, ttl_ms=record.keep_ms + longer)


def _keep_ms(ttl_ms: int | None, longest_ms: int | None) -> int | None:
    """How long after its end a task is kept that ``ttl`` was asked for; None for ever."""
    if ttl_ms is None:
        return longest_ms
    longest = LONGEST_KEEP_MS if longest_ms is None else longest_ms
    return min(max(ttl_ms, SHORTEST_KEEP_MS), longest)


def _cursor_of(task_id: str) -> str:
    return base64.urlsafe_b64encode(f"after {task_id}".encode()).decode()


def _task_of(cursor: str) -> str:
    """The task a cursor stands behind.

    Raises:
        TaskNotFound: this is no cursor of ours.
    """
    try:
        text = base64.urlsafe_b64decode(cursor.encode()).decode()
    except (binascii.Error, ValueError):
        text = ""
    word, _, task_id = text.partition(" ")
    if word != "after":
        raise TaskNotFound
    return task_id
