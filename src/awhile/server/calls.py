"""The calls of one server, and what they need: store, worker, caller, clock."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import anyio

from awhile.errors import QueueFull, SettingsError
from awhile.server.call import Call
from awhile.server.closing import (
    ANSWERING_SECONDS,
    DECIDING_SECONDS,
    HALTING_SECONDS,
    Closing,
    Underway,
)
from awhile.server.endings import refused
from awhile.server.looking import Looking
from awhile.server.params import unknown_task
from awhile.server.retries import Turns
from awhile.server.stream import exchange_of
from awhile.tasks import Status
from awhile.wire.snapshot import snapshot_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import CallToolRequestParams, Tool

    from awhile.runtime.running import Running
    from awhile.runtime.worker import Worker
    from awhile.server.options import ToolOptions
    from awhile.server.questions import Questions
    from awhile.server.telling import Told
    from awhile.server.waiting import Waiting
    from awhile.stores.contract import TaskStore
    from awhile.tasks import Event, TaskRecord
    from awhile.wire.snapshot import Snapshot

POLL_SHORTEST_MS, POLL_LONGEST_MS = 250, 5000


class Calls:
    """Answers tool calls on a store and a worker, which exist while the server's lifespan runs."""

    def __init__(
        self,
        tools: Mapping[str, ToolOptions],
        principal: Callable[[ServerRequestContext[Any, Any]], str],
        now_ms: Callable[[], int],
        waiting: Waiting,
        keep_headers: Collection[str] = (),
    ) -> None:
        self.principal = principal
        self.waiting = waiting
        self.keep_headers = keep_headers
        self._tools = tools
        self.now_ms = now_ms
        self.turns = Turns()
        self.looking = Looking(now_ms)
        self.answering = Underway()
        """The HTTP requests that have no whole answer yet, where our app serves."""
        self.closing = Closing()
        self._open: tuple[TaskStore, Worker] | None = None
        self.with_output_schema: frozenset[str] = frozenset()
        self.lifespan_state: Any = None
        """What the server's lifespan yields."""
        self.works_here = True
        """Whether tasks run in this process; otherwise their work is left to workers."""

    def open(
        self,
        store: TaskStore,
        worker: Worker,
        with_output_schema: Collection[str] = (),
        *,
        list_tools: Callable[[], Awaitable[Sequence[Tool]]],
        works_here: bool = True,
    ) -> None:
        """Say that the server's lifespan has begun, and which tools promise structured results."""
        self._open = store, worker
        self.list_tools = list_tools
        self.closing = Closing()
        self.with_output_schema = frozenset(with_output_schema)
        self.works_here = works_here

    def close(self) -> None:
        """Say that it has ended."""
        self._open = None

    async def conclude(self) -> None:
        """Stop what runs here and answer every open call, because the process is about to end."""
        closing = self.closing
        if not self.is_open or closing.handing_over.has_come:
            return
        self.works_here = False
        closing.handing_over.come()
        await closing.deciding.none(DECIDING_SECONDS)
        await self.worker.halt(HALTING_SECONDS)
        for moment in (closing.over, closing.cut):
            moment.come()
            await self.answering.none(ANSWERING_SECONDS)

    @property
    def is_open(self) -> bool:
        """Whether the server's lifespan is running."""
        return self._open is not None

    @property
    def worker(self) -> Worker:
        """What runs bodies here; see `store`."""
        return self._opened()[1]

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

    def has_companions(self, options: ToolOptions) -> bool:
        """Whether a caller without tasks can go on by the companion tools, once it has an id."""
        return self.waiting.companion_tools and options.task_support == "optional"

    def asks_by_answer(self, options: ToolOptions) -> bool:
        """Whether such a caller is asked by its call's answer, and goes on by ``task_answer``."""
        return options.asks_by_answer and self.has_companions(options)

    async def get(self, task_id: str) -> TaskRecord | None:
        """The task, whoever's it is, or None."""
        return await self.store.get(task_id)

    async def append(self, task_id: str, event: Event) -> TaskRecord:
        """Let something happen to a task, now."""
        return await self.store.append(task_id, event, self.now_ms())

    async def own(self, ctx: ServerRequestContext[Any, Any], task_id: str) -> TaskRecord:
        """The caller's own task.

        Raises:
            MCPError: there is none of that id; a foreign one reads the same.
        """
        record = await self.store.get(task_id)
        if record is None or record.owner != self.principal(ctx):
            raise unknown_task()
        await self.looking.at(self.store, record)
        return record

    async def shown(self, record: TaskRecord) -> Snapshot:
        """The task as its caller is shown it now; of one that waits, with its place in line."""
        waits = record.status is Status.WORKING and record.lease is None and not record.cancel_asked
        return snapshot_of(
            record,
            poll_interval_ms=self.poll_interval_ms(record),
            place=await self.store.place(record.task_id) if waits else None,
        )

    def age_ms(self, record: TaskRecord) -> int:
        """How long ago the task was made, in milliseconds."""
        return self.now_ms() - record.created_at_ms

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
        asked_by_answer: bool = False,
        outlive: Callable[[Running], None] | None = None,
    ) -> HandlerResult:
        """The result of the call, or the handle of the task it became; see `Call`.

        Raises:
            MCPError: the call ended in a protocol error.
        """
        call = Call(
            calls=self,
            options=options,
            arguments=dict(params.arguments or {}),
            ctx=ctx,
            call_next=call_next,
            takes_tasks=takes_tasks,
            unasked=unasked,
            keep_ms=options.keep_ms,
            asked_by_answer=asked_by_answer,
            outlive=outlive,
        )
        try:
            return await call.answer()
        except QueueFull as full:
            raise refused(full) from full

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
        call = Call(
            calls=self,
            options=options,
            arguments=dict(params.arguments or {}),
            ctx=ctx,
            call_next=call_next,
            takes_tasks=True,
            unasked=unasked,
            keep_ms=keep_ms,
        )
        try:
            return await call.submit()
        except QueueFull as full:
            raise refused(full) from full

    async def ending(
        self,
        record: TaskRecord,
        *,
        told: Told | None = None,
        questions: Questions | None = None,
        seconds: float | None = None,
        enough: Callable[[TaskRecord], bool] | None = None,
    ) -> TaskRecord | None:
        """The task once it has ended, or as it is after ``seconds`` or when the server stops; None
        if it is gone.

        Time in which ``questions`` has one open does not count: a person needs what they need.
        ``enough`` says of what it is not worth waiting any longer.
        """
        until = math.inf if seconds is None else anyio.current_time() + seconds
        asked_at = math.inf
        async with self.store.watch([record.task_id]) as watch:
            with (
                self.looking.watched([record.task_id]),
                anyio.CancelScope(deadline=until) as patience,
                self.closing.over.cuts(patience),
            ):
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
                    if enough is not None and enough(record):
                        break
                    if not record.status.ended:
                        await watch.wait()
        return record

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

    def _opened(self) -> tuple[TaskStore, Worker]:
        if self._open is None:
            raise SettingsError(
                "Tasks is not running: serve the MCPServer that got the keyword arguments of "
                "Tasks.install(), so that its lifespan opens the store."
            )
        return self._open
