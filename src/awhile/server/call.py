"""One `tools/call`: answered inline when it is quick, by a task when it is not.

The body starts at once. If it ends within the tool's inline budget, its result is the answer; if
not, and this very request declared that its client can take a task, the same running body gets a
row and its handle is the answer. A client that cannot take tasks waits on its stream, with
progress, for as long as hosts do (`awhile.server.companions`), or as it takes.
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from awhile.errors import IllegalEvent
from awhile.runtime.beside import Beside
from awhile.runtime.ids import new_task_id
from awhile.runtime.running import Running
from awhile.server.asking import with_forms
from awhile.server.audit import asked
from awhile.server.companions import has_form, still_running
from awhile.server.elsewhere import answered_before
from awhile.server.endings import answer, answer_from, ending_of, server_stopped
from awhile.server.outbound import RESOLVER_VERSION, detached_session
from awhile.server.params import unobserved_ms
from awhile.server.program import kept_of_request
from awhile.server.questions import Questions
from awhile.server.retries import retry_of
from awhile.server.starting import same_call
from awhile.server.stream import has_left
from awhile.server.telling import Told
from awhile.tasks import events as ev
from awhile.tasks import new_record
from awhile.wire.v2026_07_28 import write_created

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp_types import ClientCapabilities

    from awhile.runtime.ending import Raised, Returned
    from awhile.runtime.run import Run
    from awhile.runtime.worker import Row
    from awhile.server.calls import Calls
    from awhile.server.options import ToolOptions
    from awhile.server.retries import Retry
    from awhile.tasks import TaskRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of one caller.

    Attributes:
        takes_tasks: whether its client can be answered with a task.
        unasked: why its caller can be asked nothing; None if it can.
        asked_by_answer: whether it is asked by the call's answer, and goes on with ``task_answer``.
        keep_ms: how long a task's result is kept.
        outlive: takes the work over whose request was cut off, where that is no cancellation.
    """

    calls: Calls
    options: ToolOptions
    arguments: Mapping[str, Any]
    ctx: ServerRequestContext[Any, Any]
    call_next: CallNext
    takes_tasks: bool
    unasked: str | None
    keep_ms: int | None
    asked_by_answer: bool = False
    outlive: Callable[[Running], None] | None = None

    async def answer(self) -> HandlerResult:
        """The result of the call, or the handle of the task it became.

        Raises:
            MCPError: the call ended in a protocol error.
        """
        retry = retry_of(self.ctx, self.calls.principal(self.ctx))
        row = self._row(retry)
        if retry is None:
            return await self._begin(row)
        async with self.calls.turns.turn(retry.task_id):  # two at once are one call, too
            record = await self.calls.get(retry.task_id)
            if record is None:
                return await self._begin(row)
        retry.check(record)
        return await self._concluded(await self._await_task(record))

    async def submit(self) -> TaskRecord:
        """Make the call a task at once; its record as it began."""
        record = await self._submit(self._row())
        asked(record)
        return record

    async def _submit(self, row: Row) -> TaskRecord:
        if self.calls.works_here:
            # Its answer is the task's, so resolvers have to ask as input requests of the task.
            body, name = self._body(RESOLVER_VERSION), self.options.name
            may_ask = self.unasked is None
            record = await self.calls.worker.submit(body, row, tool=name, may_ask=may_ask)
        else:
            record = await self.calls.worker.queue(row())
        same_call(self.options.request_key, record, self.arguments)
        return record

    async def _begin(self, row: Row) -> HandlerResult:
        worker = self.calls.worker
        if self.options.kept == "always":  # a row first, because a retry has to find it
            return await self._concluded(await self._await_task(await self._submit(row)))
        if not self.calls.works_here and self.options.task_support != "forbidden":
            return await self._elsewhere(row)
        closing, patience = self.calls.closing, self._patience()
        if closing.handing_over.has_come and patience is None:
            raise server_stopped()
        body = self._body(self.ctx.protocol_version)
        owner = self.calls.principal(self.ctx)
        if self.takes_tasks and not worker.free(owner):  # nothing is awaited from here to the place
            record = await worker.queue(row())  # it waits for a place as a task
            return await self._concluded(await self._await_task(record))
        running: Running | None = None
        with (
            anyio.move_on_after(None if self.takes_tasks else patience) as waiting,
            closing.handing_over.cuts(waiting),
        ):
            running = await worker.start(
                body,
                tool=self.options.name,
                owner=owner,
                may_ask=self.unasked is None,
            )
        if running is None:  # no place became free for as long as this caller can wait
            if patience is None:
                raise server_stopped()
            return await self._handle(await worker.queue(row()))
        return await self._inline_first(running, row)

    async def _inline_first(self, running: Running, row: Row) -> HandlerResult:
        """The body first, a row only when it has to be."""
        kept, patience, closing = False, self._patience(), self.calls.closing
        if patience == 0:
            running.await_row()
        # When the server stops: with a row if there can be one, else once the body has stopped.
        stops = closing.over if patience is None else closing.handing_over
        try:
            beside = Beside()
            async with Told(self.ctx).telling_of(running.run), beside.open():
                beside.start("left", partial(self.calls.when_left, self.ctx, running.stop))
                with nullcontext() if patience is None else closing.deciding:
                    with anyio.CancelScope() as waiting, stops.cuts(waiting):
                        await running.settle(patience)
                    if has_left(self.ctx.request):  # nobody would get the handle
                        await running.settle(None)
                    lost = patience is None and closing.over.has_come and not running.asks
                    # Now: leaving the block takes turns of the loop.
                    if running.ending is None and not lost:
                        with anyio.CancelScope(shield=True):
                            kept = await self.calls.worker.keep(running, row)
                beside.close()
        except anyio.get_cancelled_exc_class():
            # Nobody got a handle. In 2026-07-28 closing the response stream cancels the request
            # (basic/patterns/cancellation); in 2025-11-25 `notifications/cancelled` does.
            (self.outlive or Running.stop)(running)
            raise
        except BaseException:
            running.stop()  # the store cannot keep it, so nobody could find it again
            raise
        if not kept or running.record is None:
            if running.ending is None:
                raise server_stopped()
            return answer(running.ending, server_stops=running.draining)
        if running.asks and not self.takes_tasks:
            return await self._accompany(running.record)
        return await self._handle(running.record)

    async def _elsewhere(self, row: Row) -> HandlerResult:
        """A row at once, for any worker; the call then waits as if its body ran here."""
        # In 2025-11-25 resolvers ask while the call goes on, and so do those of a task.
        if self.ctx.protocol_version in MODERN_PROTOCOL_VERSIONS and not self._asks_as_task:
            answered = await answered_before(self.ctx, self.call_next)
            if answered is not None:
                return answered[0]
        record = row()
        with anyio.CancelScope(shield=True):  # a row that nobody hears of could not be stopped
            record = await self.calls.worker.queue(record)
        return await self._accompany(record)

    async def _accompany(self, record: TaskRecord) -> HandlerResult:
        """Go on with an inline call that has a row: to carry questions, or to run elsewhere.

        Its caller has no handle yet, so what they leave is stopped.
        """
        waited = False
        try:
            async with anyio.create_task_group() as beside:
                beside.start_soon(self.calls.when_left, self.ctx, beside.cancel_scope.cancel)
                record = await self._await_task(record)
                waited = True
                beside.cancel_scope.cancel()
        finally:
            if not waited:
                left = ev.CancelAsked(reason="its caller has left")
                with anyio.CancelScope(shield=True), suppress(IllegalEvent):
                    await self.calls.append(record.task_id, left)
        return await self._concluded(record)

    async def _await_task(self, record: TaskRecord) -> TaskRecord:
        """Wait for a task's ending, as long as the caller may be kept waiting."""
        if self._patience() == 0:
            return record
        asked(record)
        latest: TaskRecord | None = None
        async with anyio.create_task_group() as beside:
            # In the era that hands out tasks, those carry their questions themselves.
            questions = None if self.takes_tasks else Questions(self.ctx, self.calls, beside)
            latest = await self.calls.ending(
                record,
                told=Told(self.ctx),
                questions=questions,
                seconds=self._patience(),
                enough=has_form if self.asked_by_answer else None,
            )
            beside.cancel_scope.cancel()
        return latest or record

    async def _concluded(self, record: TaskRecord) -> HandlerResult:
        return answer_from(record) if record.status.ended else await self._handle(record)

    @property
    def _can(self) -> ClientCapabilities | None:
        """What the body can ask its caller by."""
        declared = self.ctx.session.client_capabilities
        return with_forms(declared) if self.asked_by_answer else declared

    @property
    def _asks_as_task(self) -> bool:
        """Whether resolvers, too, ask as a task's body does: its caller did not declare that it
        answers what they would ask before the work begins."""
        declared = self.ctx.session.client_capabilities
        return self.asked_by_answer and (declared is None or declared.elicitation is None)

    def _patience(self) -> float | None:
        """How long a caller may be kept waiting, in seconds; None: for as long as it takes."""
        if self.takes_tasks:
            return 0 if self.options.task_support == "required" else self.options.inline_seconds
        if self.calls.has_companions(self.options):
            return self.calls.waiting.inline_limit_seconds
        return None

    async def _handle(self, record: TaskRecord) -> dict[str, Any]:
        asked(record)
        if not self.takes_tasks:
            if self._patience() is None:  # it waits for as long as it takes, but for this
                raise server_stopped()
            limit = self.calls.waiting.inline_limit_seconds
            is_error = self.options.name in self.calls.with_output_schema
            return still_running(record, wait_seconds=limit, is_error=is_error)
        return write_created(await self.calls.shown(record))

    def _row(self, retry: Retry | None = None) -> Row:
        kept = kept_of_request(
            self.ctx,
            can=self._can,
            unasked=self.unasked,
            headers=self.calls.keep_headers,
        )
        key = self.arguments.get(self.options.request_key) if self.options.request_key else None
        return partial(
            new_record,
            task_id=retry.task_id if retry else new_task_id(),
            owner=self.calls.principal(self.ctx),
            tool=self.options.name,
            arguments=self.arguments,
            context={**kept, **(retry.context if retry else {})},
            at_ms=self.calls.now_ms(),
            request_key=key if isinstance(key, str) and key else None,
            keep_ms=self.keep_ms,
            max_attempts=self.options.max_attempts,
            unobserved_ms=unobserved_ms(self.ctx, self.options),
        )

    def _body(self, protocol_version: str) -> Callable[[Run], Awaitable[Returned | Raised]]:
        ctx = self.ctx
        if self._asks_as_task:
            protocol_version = RESOLVER_VERSION

        async def body(run: Run) -> Returned | Raised:
            session = detached_session(
                run,
                protocol_version=protocol_version,
                request_id=ctx.request_id if ctx.request_id is not None else "task",
                client_params=ctx.session.client_params,
                client_capabilities=self._can,
                headers=getattr(ctx.request, "headers", None),
                meta=ctx.meta,
                unasked=self.unasked,
            )
            detached = replace(ctx, session=session, protocol_version=protocol_version)
            return await ending_of(self.call_next(detached))

        return body
