"""One run of the tool, followed to its end by several pollers at once, and by whoever listens."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio

from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import Exchange, Frame, Json
from awhile.probe.limits import Limits
from awhile.probe.measures.evidence import MEASURING, SUGGESTED, Missing, Survey, Watched
from awhile.probe.sessions import Session, new_token
from awhile.probe.targets import Trial
from awhile.probe.views import View

SLOWER = (1.6, 4.0)
"""How much slower than suggested the other pollers look."""

DEFAULT_POLL_MS = 1000.0
"""What is kept to where the server suggests nothing."""

SHORTEST_POLL_MS = 20.0
"""No suggestion is followed below that: it is a wrong unit rather than a wish."""

PUSH_SECONDS = 0.7
"""How long after the end the news of it may still be on its way to a listener."""

AFTERWARDS = (0.1, 0.4, 1.0, 2.0, 3.0, 5.0, 8.0)
"""When an ended task is looked at, in seconds after its end, as far as the bound allows."""

BLOCKED_TOLERANCE_SECONDS = 2.0


async def create(session: Session, trial: Trial, purpose: str) -> tuple[Exchange, Json]:
    """Call the tool so that it may become a task.

    Raises:
        Missing: it did not become one.
    """
    params = session.dialect.call(trial.tool, dict(trial.arguments))
    seconds = session.log.budget.limits.run_seconds
    # Without a progress token in 2026-07-28, where a task has no progress of its own.
    token = new_token() if session.era == LEGACY else None
    # Not broken off, whatever else is: a task whose id never came could not be ended.
    created: Exchange | None = None
    with anyio.CancelScope(shield=True):
        created = await session.ask("tools/call", params, purpose, seconds=seconds, token=token)
    assert created is not None
    task = session.dialect.created(created.result or {})
    if task is None:
        # A call that fails might have become one: with other arguments, or at another time.
        failed = created.result is None or bool(created.result.get("isError"))
        unsupported = created.code in (-32601, -32600)
        raise Missing(
            f"the call of {trial.tool!r} became no task: {created.seen}",
            applicable=failed and not unsupported,
        )
    return created, task


async def watch(session: Session, trial: Trial, survey: Survey, limits: Limits) -> Watched:
    """Follow one run to its end.

    Raises:
        Missing: the call became no task.
        Spent: a bound was reached.
    """
    created, task = await create(session, trial, "start a task, to follow it")
    watching = _Watching(session, Watched(created, task), survey, limits)
    await watching.to_the_end()
    return watching.seen


class _Watching:
    def __init__(self, session: Session, seen: Watched, survey: Survey, limits: Limits) -> None:
        self.seen = seen
        self._session = session
        self._survey = survey
        self._limits = limits
        self._id = str(seen.task.get("taskId"))
        self._over = anyio.Event()
        self._waited = anyio.Event()

    async def to_the_end(self) -> None:
        seen = self.seen
        suggested = max(seen.first.poll_ms or DEFAULT_POLL_MS, SHORTEST_POLL_MS)
        async with anyio.create_task_group() as beside:
            ready = anyio.Event()
            beside.start_soon(self._listen, ready)
            with anyio.move_on_after(1.5):
                await ready.wait()
            seen.pollers[MEASURING] = min(self._limits.measure_every_ms, suggested)
            seen.pollers[SUGGESTED] = suggested
            for factor in SLOWER:
                seen.pollers[f"every {seconds_of(factor * suggested)}"] = factor * suggested
            async with anyio.create_task_group() as polling:
                for name in seen.pollers:
                    polling.start_soon(self._poll, name)
                if self._session.era == LEGACY:
                    beside.start_soon(self._wait_for_the_result)
                with anyio.move_on_after(self._limits.run_seconds):
                    await self._over.wait()
                polling.cancel_scope.cancel()
            await self._last_looks()
            if seen.ended is not None:
                await anyio.sleep(PUSH_SECONDS)
                if self._session.era == LEGACY:
                    with anyio.move_on_after(BLOCKED_TOLERANCE_SECONDS):
                        await self._waited.wait()
            beside.cancel_scope.cancel()
        if seen.ended is not None:
            await self._afterwards()
        elif seen.asks is not None and self._session.era != LEGACY:
            answers: Json = {"taskId": self._id, "inputResponses": {NO_KEY: {"action": "accept"}}}
            seen.update = await self._session.ask(
                "tasks/update", answers, "answer a question that was never asked"
            )
            await self._look("after that")

    async def _poll(self, name: str) -> None:
        views = self.seen.views.setdefault(name, [])
        interval = 0.0 if name == MEASURING else self.seen.pollers[name]
        factor = self.seen.pollers[name] / self.seen.pollers[SUGGESTED]
        while True:
            await anyio.sleep(interval / 1000)
            exchange, view = await self._session.get(self._id, f"look, {name}")
            if self.seen.first_look is None:
                self.seen.first_look = exchange
            if view is None and not self._session.gone(exchange):
                # Not "no such task", but no answer: it may be too busy for whoever measures.
                interval = self.seen.pollers[SUGGESTED]
                continue
            if view is None:
                self.seen.lost = self.seen.lost or exchange
                if name == MEASURING:
                    self._over.set()
                    return
                continue
            views.append(view)
            if name == MEASURING:
                interval = self.seen.pollers[MEASURING]
                if view.ended or view.status == "input_required":
                    self._over.set()
                    return
            elif view.ended:
                return
            else:  # the server may suggest another interval as time goes by
                interval = max(view.poll_ms or self.seen.pollers[SUGGESTED], SHORTEST_POLL_MS)
                interval *= factor

    async def _last_looks(self) -> None:
        """What every slower poller sees at its next look: how it stands now."""
        end = self.seen.ended or self.seen.asks
        if end is None:
            return
        for name, views in self.seen.views.items():
            if name != MEASURING and not (views and views[-1].moment == end.moment):
                views.append(end)

    async def _listen(self, ready: anyio.Event) -> None:
        session = self._session
        try:
            if session.era == LEGACY:
                if not session.channel.over_http or "mcp-session-id" not in session.dialect.headers(
                    "", {}
                ):
                    ready.set()
                    return
                prepared = session.prepare("", {}, "listen for notifications", verb="GET")
            else:
                filters: Json = {"notifications": {"taskIds": [self._id]}}
                prepared = session.prepare("subscriptions/listen", filters, "listen to the task")
            self.seen.listened = prepared.exchange
            async with session.opened(prepared) as frames:
                if session.era == LEGACY:
                    ready.set()
                await self._hear(prepared.exchange, frames, ready)
        finally:
            ready.set()

    async def _hear(
        self, exchange: Exchange, frames: AsyncIterator[Frame], ready: anyio.Event
    ) -> None:
        async for frame in frames:
            ready.set()
            if frame.method in ("notifications/tasks", "notifications/tasks/status"):
                if frame.params.get("taskId") == self._id:
                    task = dict(frame.params)
                    self.seen.pushed.append(View(frame.at_ms, task, exchange.number))
            elif frame.message is not None:
                await self._session.reply(frame)

    async def _wait_for_the_result(self) -> None:
        named: Json = {"taskId": self._id}
        prepared = self._session.prepare("tasks/result", named, "wait for the result")
        exchange = self.seen.waited = prepared.exchange
        async with self._session.opened(prepared) as frames:
            async for frame in frames:
                if frame is exchange.answer_frame:
                    exchange.ending = "answered"
                    break
        self._waited.set()

    async def _look(self, why: str) -> View | None:
        exchange, view = await self._session.get(self._id, f"look at the ended task {why}")
        if view is not None:
            self.seen.after.append(view)
        elif self._session.gone(exchange):
            self.seen.lost = self.seen.lost or exchange
        return view

    async def _afterwards(self) -> None:
        """Look at the ended task for as long as the bound allows, and use it wrongly once."""
        seen, session = self.seen, self._session
        end = seen.ended
        assert end is not None
        named: Json = {"taskId": self._id}
        if session.era == LEGACY:
            for time in ("once", "twice"):
                seen.results.append(
                    await session.ask("tasks/result", named, f"read the result, {time}")
                )
            seen.listed = await session.ask("tasks/list", {}, "list the tasks")
        for seconds in AFTERWARDS:
            if seconds > self._limits.linger_seconds:
                break
            due = end.at_ms + seconds * 1000
            await anyio.sleep(max(due - session.log.clock.now_ms(), 0) / 1000)
            if await self._look(f"{seconds:g} s after its end") is None:
                return
        seen.late_cancel = await session.ask("tasks/cancel", named, "cancel the ended task")
        await self._look("after that cancel")


NO_KEY = "awhile-probe-never-asked"


def seconds_of(milliseconds: float) -> str:
    """An interval in words."""
    if abs(milliseconds) < 100:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.3g} s"


__all__ = ["NO_KEY", "create", "seconds_of", "watch"]
