"""One `tools/call`: answered inline when it is quick, by a task when it is not.

The body starts at once. If it ends within the tool's inline budget, its result is the answer; if
not, and this very request declared that its client can take a task, the same running body gets a
row and its handle is the answer. A client that cannot take tasks waits on its stream, with
progress, for as long as it takes.
"""

from __future__ import annotations

import contextlib
import logging
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from awhile.errors import IllegalEvent, SettingsError
from awhile.runtime.worker import new_task_id
from awhile.server.companions import still_running
from awhile.server.endings import answer, answer_from, ending_of
from awhile.server.outbound import RESOLVER_VERSION, detached_session
from awhile.server.params import unknown_task
from awhile.server.program import kept_of_request
from awhile.server.questions import Questions
from awhile.server.retries import Turns, retry_of
from awhile.server.stream import exchange_of
from awhile.server.telling import Told
from awhile.tasks import events as ev
from awhile.tasks import new_record
from awhile.wire.snapshot import snapshot_of
from awhile.wire.v2026_07_28 import write_created

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.run import Run
    from awhile.runtime.running import Running
    from awhile.runtime.worker import Row, Worker
    from awhile.server.options import ToolOptions
    from awhile.server.retries import Retry
    from awhile.server.waiting import Waiting
    from awhile.stores.contract import TaskStore
    from awhile.tasks import Event, TaskRecord

logger = logging.getLogger(__name__)

POLL_SHORTEST_MS, POLL_LONGEST_MS = 250, 5000


class Calls:
    """Answers tool calls on a store and a worker, which exist while the server's lifespan runs."""

    def __init__(
        self,
        tools: Mapping[str, ToolOptions],
        principal: Callable[[ServerRequestContext[Any, Any]], str],
        now_ms: Callable[[], int],
        waiting: Waiting,
    ) -> None:
        self.principal = principal
        self.waiting = waiting
        self._tools = tools
        self._now_ms = now_ms
        self._turns = Turns()
        self._open: tuple[TaskStore, Worker] | None = None
        self.with_output_schema: frozenset[str] = frozenset()

    def open(
        self, store: TaskStore, worker: Worker, with_output_schema: Collection[str] = ()
    ) -> None:
        """Say that the server's lifespan has begun, and which tools promise structured results."""
        self._open = store, worker
        self.with_output_schema = frozenset(with_output_schema)

    def close(self) -> None:
        """Say that it has ended."""
        self._open = None

    @property
    def is_open(self) -> bool:
        """Whether the server's lifespan is running."""
        return self._open is not None

    @property
    def store(self) -> TaskStore:
        """Where the tasks are.

        Raises:
            SettingsError: the server's lifespan is not running.
        """
        return self._opened()[0]

    def options(self, tool: str) -> ToolOptions | None:
        """How a tool's calls are run, or None for a tool that is none of ours."""
        return self._tools.get(tool)

    async def get(self, task_id: str) -> TaskRecord | None:
        """The task, whoever's it is, or None."""
        return await self.store.get(task_id)

    async def append(self, task_id: str, event: Event) -> TaskRecord:
        """Let something happen to a task, now."""
        return await self.store.append(task_id, event, self._now_ms())

    async def own(self, ctx: ServerRequestContext[Any, Any], task_id: str) -> TaskRecord:
        """The caller's own task.

        Raises:
            MCPError: there is none of that id; a foreign one reads the same.
        """
        record = await self.store.get(task_id)
        if record is None or record.owner != self.principal(ctx):
            raise unknown_task()
        return record

    def age_ms(self, record: TaskRecord) -> int:
        """How long ago the task was made, in milliseconds."""
        return self._now_ms() - record.created_at_ms

    def poll_interval_ms(self, record: TaskRecord) -> int:
        """How often to look: a tenth of the task's age, so that nobody waits much longer than the
        work itself took, and a long task costs few polls. Source: ours."""
        return max(POLL_SHORTEST_MS, min(POLL_LONGEST_MS, self.age_ms(record) // 10))

    async def answer(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        *,
        takes_tasks: bool,
        unasked: str | None = None,
    ) -> HandlerResult:
        """The result of the call, or the handle of the task it became.

        ``unasked`` says why this caller can be asked nothing; None if it can.

        Raises:
            MCPError: the call ended in a protocol error.
        """
        retry = retry_of(ctx, self.principal(ctx))
        row = self._row(options, params, ctx, keep_ms=options.keep_ms, unasked=unasked, retry=retry)
        if retry is None:
            return await self._begin(options, ctx, call_next, row, takes_tasks, unasked)
        async with self._turns.turn(retry.task_id):  # two at once are one call, too
            record = await self.store.get(retry.task_id)
            if record is None:
                return await self._begin(options, ctx, call_next, row, takes_tasks, unasked)
        retry.check(record)
        record = await self._await_task(options, ctx, record, takes_tasks=takes_tasks)
        return self._concluded(options, record, takes_tasks)

    async def _begin(
        self,
        options: ToolOptions,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        row: Row,
        takes_tasks: bool,
        unasked: str | None,
    ) -> HandlerResult:
        _, worker = self._opened()
        if options.kept == "always":
            # Its answer is the task's, so resolvers have to ask as input requests of the task.
            body = _body_of_request(ctx, call_next, RESOLVER_VERSION, unasked)
            record = await self._submitted(options, body, row, unasked)
            record = await self._await_task(options, ctx, record, takes_tasks=takes_tasks)
            return self._concluded(options, record, takes_tasks)
        body = _body_of_request(ctx, call_next, ctx.protocol_version, unasked)
        if takes_tasks and not worker.free():  # nothing is awaited from here to the place
            record = await self.store.create(row())  # it waits for a place as a task
            record = await self._await_task(options, ctx, record, takes_tasks=True)
            return self._concluded(options, record, takes_tasks)
        running: Running | None = None
        with anyio.move_on_after(None if takes_tasks else self._patience(options, takes_tasks)):
            running = await worker.start(
                body, tool=options.name, owner=self.principal(ctx), may_ask=unasked is None
            )
        if running is None:  # no place became free for as long as this caller can wait
            return self._handle(options, await self.store.create(row()), takes_tasks)
        return await self._inline_first(options, ctx, running, row, takes_tasks)

    async def submit(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        *,
        keep_ms: int | None,
        unasked: str | None,
    ) -> TaskRecord:
        """Make the call a task at once; its record as it began (2025-11-25: the caller decides)."""
        row = self._row(options, params, ctx, keep_ms=keep_ms, unasked=unasked)
        body = _body_of_request(ctx, call_next, RESOLVER_VERSION, unasked)
        return await self._submitted(options, body, row, unasked)

    async def _submitted(
        self,
        options: ToolOptions,
        body: Callable[[Run], Awaitable[Returned | Raised]],
        row: Row,
        unasked: str | None,
    ) -> TaskRecord:
        _, worker = self._opened()
        record = await worker.submit(body, row, tool=options.name, may_ask=unasked is None)
        if record.arguments != row().arguments:
            # Its answer would be taken for the answer to this call.
            raise MCPError(
                code=INVALID_PARAMS,
                message=f"{options.request_key} {record.request_key!r} was used before, in a call "
                "with other arguments: repeat that call as it was, or choose a new key.",
                data={"taskId": record.task_id},
            )
        return record

    async def ending(
        self,
        record: TaskRecord,
        *,
        told: Told | None = None,
        questions: Questions | None = None,
        seconds: float | None = None,
    ) -> TaskRecord | None:
        """The task once it has ended, or as it is after ``seconds``; None if it is gone.

        Time in which ``questions`` has one open does not count: a person needs what they need.
        """
        until = math.inf if seconds is None else anyio.current_time() + seconds
        asked_at = math.inf
        async with self.store.watch([record.task_id]) as watch:
            with anyio.CancelScope(deadline=until) as patience:
                while not record.status.ended:
                    latest = await self.store.get(record.task_id)
                    if latest is None:
                        return None
                    record = latest
                    if told is not None:
                        await told.tell_of(record)
                    if questions is not None and questions.put(record):
                        asked_at = min(asked_at, anyio.current_time())
                        patience.deadline = math.inf
                    elif patience.deadline != until:
                        until += anyio.current_time() - asked_at
                        patience.deadline, asked_at = until, math.inf
                    if not record.status.ended:
                        await watch.wait()
        return record

    def _row(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        *,
        keep_ms: int | None,
        unasked: str | None,
        retry: Retry | None = None,
    ) -> Row:
        arguments: dict[str, Any] = dict(params.arguments or {})
        return partial(
            new_record,
            task_id=retry.task_id if retry else new_task_id(),
            owner=self.principal(ctx),
            tool=options.name,
            arguments=arguments,
            context={
                **kept_of_request(ctx, may_ask=unasked is None),
                **(retry.context if retry else {}),
            },
            at_ms=self._now_ms(),
            request_key=_request_key(options, arguments),
            keep_ms=keep_ms,
            max_attempts=options.max_attempts,
        )

    # --- the body first, a row only when it has to be ---------------------------------------

    async def _inline_first(
        self,
        options: ToolOptions,
        ctx: ServerRequestContext[Any, Any],
        running: Running,
        row: Row,
        takes_tasks: bool,
    ) -> HandlerResult:
        _, worker = self._opened()
        kept = False
        try:
            async with (
                Told(ctx).telling_of(running.run),
                anyio.create_task_group() as beside,
            ):
                beside.start_soon(self.when_left, ctx, running.stop)
                await running.settle(self._patience(options, takes_tasks))
                if _has_left(ctx):  # nobody would get the handle
                    await running.settle(None)
                if running.ending is None:  # now: leaving the block takes turns of the loop
                    with anyio.CancelScope(shield=True):
                        kept = await worker.keep(running, row)
                beside.cancel_scope.cancel()
        except BaseException:
            # Nobody got a handle, so nobody could find the work: the caller left (in 2026-07-28
            # closing the response stream cancels the request, basic/patterns/cancellation), or the
            # store cannot keep it.
            running.stop()
            raise
        if not kept or running.record is None:
            assert running.ending is not None
            return answer(running.ending)
        if running.asks and not takes_tasks:
            return await self._ask_inline(options, ctx, running.record)
        return self._handle(options, running.record, takes_tasks)

    async def _ask_inline(
        self, options: ToolOptions, ctx: ServerRequestContext[Any, Any], record: TaskRecord
    ) -> HandlerResult:
        """Go on with an inline call whose body asks: its row is there to carry the questions."""
        waited = False
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(self.when_left, ctx, beside.cancel_scope.cancel)
                record = await self._await_task(options, ctx, record, takes_tasks=False)
                waited = True
                beside.cancel_scope.cancel()
        finally:
            if not waited:
                with anyio.CancelScope(shield=True), contextlib.suppress(IllegalEvent):
                    await self.append(record.task_id, ev.CancelAsked(reason="its caller has left"))
        return self._concluded(options, record, takes_tasks=False)

    async def when_left(
        self, ctx: ServerRequestContext[Any, Any], then: Callable[[], object]
    ) -> None:
        """Do something some time after the caller has left; ends by being cancelled.

        In 2026-07-28 the SDK cancels the request itself, at once. In 2025-11-25 "disconnection
        SHOULD NOT be interpreted as the client cancelling its request" (basic/transports), and the
        SDK lets it run on, for ever.
        """
        exchange = exchange_of(ctx.request)
        if exchange is not None:
            await exchange.gone.wait()
            await anyio.sleep(self.waiting.abandoned_seconds)
            then()

    # --- a row first, because a retry has to find it -----------------------------------------

    async def _await_task(
        self,
        options: ToolOptions,
        ctx: ServerRequestContext[Any, Any],
        record: TaskRecord,
        *,
        takes_tasks: bool,
    ) -> TaskRecord:
        """Wait for a task's ending, as long as the caller may be kept waiting."""
        async with anyio.create_task_group() as beside:
            # In the era that hands out tasks, those carry their questions themselves.
            questions = None if takes_tasks else Questions(ctx, self, beside)
            seconds = self._patience(options, takes_tasks)
            told = Told(ctx)
            latest = await self.ending(record, told=told, questions=questions, seconds=seconds)
            record = latest or record
            beside.cancel_scope.cancel()
        return record

    def _concluded(
        self, options: ToolOptions, record: TaskRecord, takes_tasks: bool
    ) -> HandlerResult:
        if record.status.ended:
            return answer_from(record)
        return self._handle(options, record, takes_tasks)

    def _patience(self, options: ToolOptions, takes_tasks: bool) -> float | None:
        """How long a caller may be kept waiting, in seconds; None: for as long as it takes."""
        if takes_tasks:
            return 0 if options.task_support == "required" else options.inline_seconds
        if options.task_support == "optional" and self.waiting.companion_tools:
            return self.waiting.inline_limit_seconds
        return None

    def _handle(
        self, options: ToolOptions, record: TaskRecord, takes_tasks: bool
    ) -> dict[str, Any]:
        if not takes_tasks:
            limit = self.waiting.inline_limit_seconds
            is_error = options.name in self.with_output_schema
            return still_running(record, wait_seconds=limit, is_error=is_error)
        poll_ms = self.poll_interval_ms(record)
        return write_created(snapshot_of(record, poll_interval_ms=poll_ms))

    def _opened(self) -> tuple[TaskStore, Worker]:
        if self._open is None:
            raise SettingsError(
                "Tasks is not running: serve the MCPServer that got the keyword arguments of "
                "Tasks.install(), so that its lifespan opens the store."
            )
        return self._open


def _has_left(ctx: ServerRequestContext[Any, Any]) -> bool:
    exchange = exchange_of(ctx.request)
    return exchange is not None and exchange.gone.is_set()


def _request_key(options: ToolOptions, arguments: Mapping[str, Any]) -> str | None:
    key = arguments.get(options.request_key) if options.request_key else None
    return key if isinstance(key, str) and key else None


def _body_of_request(
    ctx: ServerRequestContext[Any, Any],
    call_next: CallNext,
    protocol_version: str,
    unasked: str | None,
) -> Callable[[Run], Awaitable[Returned | Raised]]:
    async def body(run: Run) -> Returned | Raised:
        session = detached_session(
            run,
            protocol_version=protocol_version,
            request_id=ctx.request_id if ctx.request_id is not None else "task",
            client_params=ctx.session.client_params,
            client_capabilities=ctx.session.client_capabilities,
            headers=getattr(ctx.request, "headers", None),
            meta=ctx.meta,
            unasked=unasked,
        )
        detached = replace(ctx, session=session, protocol_version=protocol_version)
        return await ending_of(call_next(detached))

    return body
