"""One `tools/call`: answered inline when it is quick, by a task when it is not.

The body starts at once. If it ends within the tool's inline budget, its result is the answer; if
not, and this very request declared that its client can take a task, the same running body gets a
row and its handle is the answer. A client that cannot take tasks waits on its stream, with
progress, for as long as it takes.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from awhile.errors import SettingsError
from awhile.runtime.progress import INTERVAL_SECONDS
from awhile.runtime.worker import new_task_id
from awhile.server.endings import answer, answer_from, ending_of
from awhile.server.outbound import RESOLVER_VERSION, detached_session
from awhile.server.program import kept_of_request
from awhile.tasks import new_record
from awhile.wire.snapshot import snapshot_of
from awhile.wire.v2026_07_28 import write_created

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.run import Run
    from awhile.runtime.running import Running
    from awhile.runtime.worker import Row, Worker
    from awhile.server.options import ToolOptions
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
    ) -> None:
        self.principal = principal
        self._tools = tools
        self._now_ms = now_ms
        self._open: tuple[TaskStore, Worker] | None = None

    def open(self, store: TaskStore, worker: Worker) -> None:
        """Say that the server's lifespan has begun."""
        self._open = store, worker

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

    def poll_interval_ms(self, record: TaskRecord) -> int:
        """How often to look: a tenth of the task's age, so that nobody waits much longer than the
        work itself took, and a long task costs few polls. Source: ours."""
        age_ms = self._now_ms() - record.created_at_ms
        return max(POLL_SHORTEST_MS, min(POLL_LONGEST_MS, age_ms // 10))

    async def answer(
        self,
        options: ToolOptions,
        params: CallToolRequestParams,
        ctx: ServerRequestContext[Any, Any],
        call_next: CallNext,
        *,
        takes_tasks: bool,
    ) -> HandlerResult:
        """The result of the call, or the handle of the task it became.

        Raises:
            MCPError: the call ended in a protocol error.
        """
        _, worker = self._opened()
        arguments: dict[str, Any] = dict(params.arguments or {})
        owner = self.principal(ctx)
        row = partial(
            new_record,
            task_id=new_task_id(),
            owner=owner,
            tool=options.name,
            arguments=arguments,
            context=kept_of_request(ctx, may_ask=takes_tasks),
            at_ms=self._now_ms(),
            request_key=_request_key(options, arguments),
            keep_ms=options.keep_ms,
            max_attempts=options.max_attempts,
        )
        if options.kept == "always":
            # Its answer is the task's, so resolvers have to ask as input requests of the task.
            body = _body_of_request(ctx, call_next, protocol_version=RESOLVER_VERSION)
            return await self._kept_from_the_start(options, ctx, body, row, takes_tasks)
        body = _body_of_request(ctx, call_next, protocol_version=ctx.protocol_version)
        if takes_tasks and not worker.free():  # nothing is awaited from here to the place
            record = await self.store.create(row())  # it waits for a place as a task
            return await self._await_task(options, ctx, record, takes_tasks=True)
        running = await worker.start(body, tool=options.name, owner=owner, may_ask=takes_tasks)
        return await self._inline_first(options, ctx, running, row, takes_tasks)

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
        budget = None if not takes_tasks else _budget(options)
        kept, told = False, _Told(ctx)
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(_tell_progress, told, running.run)
                await running.settle(budget)
                beside.cancel_scope.cancel()
            await told.tell_latest(running.run)
            if running.ending is not None:
                return answer(running.ending)
            with anyio.CancelScope(shield=True):
                kept = await worker.keep(running, row)
        except BaseException:
            # Nobody got a handle, so nobody could find the work: the caller left (in 2026-07-28
            # closing the response stream cancels the request, basic/patterns/cancellation), or the
            # store cannot keep it.
            running.stop()
            raise
        if not kept or running.record is None:
            assert running.ending is not None
            return answer(running.ending)
        return self._handle(running.record)

    # --- a row first, because a retry has to find it -----------------------------------------

    async def _kept_from_the_start(
        self,
        options: ToolOptions,
        ctx: ServerRequestContext[Any, Any],
        body: Callable[[Run], Awaitable[Returned | Raised]],
        row: Row,
        takes_tasks: bool,
    ) -> HandlerResult:
        _, worker = self._opened()
        record = await worker.submit(body, row, tool=options.name, may_ask=takes_tasks)
        return await self._await_task(options, ctx, record, takes_tasks=takes_tasks)

    async def _await_task(
        self,
        options: ToolOptions,
        ctx: ServerRequestContext[Any, Any],
        record: TaskRecord,
        *,
        takes_tasks: bool,
    ) -> HandlerResult:
        """Wait for a task's ending, as long as the caller may be kept waiting."""
        deadline = _budget(options) if takes_tasks else None
        async with self.store.watch([record.task_id]) as watch:
            with anyio.move_on_after(deadline):
                told = _Told(ctx)
                while not record.status.ended:
                    latest = await self.store.get(record.task_id)
                    if latest is None:
                        break
                    record = latest
                    if record.progress is not None:
                        at = record.progress
                        await told.tell(at.done, at.total, at.message)
                    if not record.status.ended:
                        await watch.wait()
        if record.status.ended:
            return answer_from(record)
        return self._handle(record)

    def _handle(self, record: TaskRecord) -> dict[str, Any]:
        poll_ms = self.poll_interval_ms(record)
        return write_created(snapshot_of(record, poll_interval_ms=poll_ms))

    def _opened(self) -> tuple[TaskStore, Worker]:
        if self._open is None:
            raise SettingsError(
                "Tasks is not running: serve the MCPServer that got the keyword arguments of "
                "Tasks.install(), so that its lifespan opens the store."
            )
        return self._open


def _budget(options: ToolOptions) -> float:
    return 0 if options.task_support == "required" else options.inline_seconds


def _request_key(options: ToolOptions, arguments: Mapping[str, Any]) -> str | None:
    key = arguments.get(options.request_key) if options.request_key else None
    return key if isinstance(key, str) and key else None


def _body_of_request(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext, *, protocol_version: str
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
        )
        detached = replace(ctx, session=session, protocol_version=protocol_version)
        return await ending_of(call_next(detached))

    return body


async def _tell_progress(told: _Told, run: Run) -> None:
    seen = 0
    while told.wanted:
        seen = await run.progress.bell.wait(seen)
        await told.tell_latest(run)
        await anyio.sleep(INTERVAL_SECONDS)


class _Told:
    """Progress notifications on one request's stream, strictly increasing (MCP, progress)."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx
        self._last: tuple[float, float | None, str | None] | None = None
        self.wanted = bool(ctx.meta) and ctx.meta.get("progress_token") is not None

    async def tell_latest(self, run: Run) -> None:
        """Send what the run reported last, if that is new."""
        report = run.progress.latest
        if report is not None:
            await self.tell(report.done, report.total, report.message)

    async def tell(self, done: float | None, total: float | None, message: str | None) -> None:
        """Send what is new. Without a number, the count of notifications is the progress."""
        if not self.wanted:
            return
        before = self._last
        value = done if done is not None else (before[0] + 1 if before else 0)
        if before is not None and value <= before[0]:
            if (total, message) == before[1:]:
                return
            value, total = math.nextafter(before[0], math.inf), None
        await self._ctx.session.report_progress(value, total, message)
        self._last = value, total, message
