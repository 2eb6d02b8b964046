"""One caller in one era: it keeps every exchange, counts them, and ends the tasks it made."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio

from awhile.probe.dialects import MODERN, Dialect, Legacy
from awhile.probe.exchanges import (
    Clock,
    Exchange,
    Frame,
    Json,
    Secrets,
    as_object,
    without_secrets,
)
from awhile.probe.limits import ENDING_SECONDS, Budget
from awhile.probe.views import ENDED, View, view_of

if TYPE_CHECKING:
    from awhile.probe.channels import Channel

NEW_TOKENS = itertools.count(1)

NO_SUCH_TASK = -32602
"""Source: Tasks extension, and 2025-11-25 tasks, "Protocol Errors"."""


@dataclass(slots=True)
class Made:
    """A task the probe made, until it is seen to have ended."""

    task_id: str
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is about to be sent."""

    exchange: Exchange
    headers: dict[str, str]
    """Those really sent; the exchange has them without secrets."""


@dataclass(slots=True)
class Log:
    """What all callers of one probe share."""

    clock: Clock
    budget: Budget
    secrets: Secrets
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    made: dict[tuple[str, str], Made] = field(default_factory=dict[tuple[str, str], Made])
    """By era and task id."""
    no_such_task: dict[str, int | None] = field(default_factory=dict[str, int | None])
    """By era: the code an id that was never given out is refused with."""


class Session:
    """A caller. ``given``: the headers the user brought, sent with every request."""

    def __init__(
        self, channel: Channel, dialect: Dialect, log: Log, given: Mapping[str, str]
    ) -> None:
        self.channel = channel
        self.dialect = dialect
        self.log = log
        self._given = dict(given)

    @property
    def era(self) -> str:
        """The revision that is spoken."""
        return self.dialect.era

    @property
    def authorised(self) -> bool:
        """Whether the server can tell this caller from another."""
        return any(name.lower() in ("authorization", "cookie") for name in self._given)

    def prepare(
        self,
        method: str,
        params: Json,
        purpose: str,
        *,
        declared: bool = True,
        token: str | None = None,
        headers: Mapping[str, str | None] | None = None,
        verb: str = "POST",
    ) -> Prepared:
        """One request, counted and kept, to be sent by `opened`.

        ``headers`` replaces headers, or leaves them out (None).

        Raises:
            Spent: a bound was reached.
        """
        self.log.budget.spend()
        number = len(self.log.exchanges) + 1
        message: Json = {}
        sent: dict[str, str] = {**self.dialect.headers(method, params)}
        if verb == "POST":
            complete = self.dialect.params(params, declared=declared, token=token)
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": complete}
        else:
            sent["accept"] = "text/event-stream"
        for name, value in (headers or {}).items():
            sent.pop(name, None)
            if value is not None:
                sent[name] = value
        sent.update(self._given)
        exchange = Exchange(
            number=number,
            era=self.era,
            purpose=purpose,
            request=message,
            headers=without_secrets(sent, self._given, self.log.secrets),
            sent_at_ms=self.log.clock.now_ms(),
            verb=verb,
        )
        self.log.exchanges.append(exchange)
        return Prepared(exchange, sent)

    @asynccontextmanager
    async def opened(self, prepared: Prepared) -> AsyncGenerator[AsyncIterator[Frame]]:
        """Send it, and hand out its frames as they come."""
        exchange = prepared.exchange
        try:
            async with self.channel.open(exchange, prepared.headers) as frames:
                yield frames
        finally:
            self._note(exchange)
            if not exchange.answer and exchange.request.get("method") == "tools/call":
                await self._take_back(exchange)

    async def ask(
        self,
        method: str,
        params: Json,
        purpose: str,
        *,
        seconds: float | None = None,
        to_the_end: bool = False,
        **how: Any,
    ) -> Exchange:
        """Send one request and wait for its answer; what came is in the exchange.

        ``to_the_end``: whether to wait, a little, for what may come after the answer.

        Raises:
            Spent: a bound was reached.
        """
        limit = self.log.budget.limits.answer_seconds if seconds is None else seconds
        prepared = self.prepare(method, params, purpose, **how)
        exchange = prepared.exchange
        with anyio.move_on_after(limit) as waiting:
            async with self.opened(prepared) as frames:
                async for frame in frames:
                    if frame is exchange.answer_frame:
                        if not to_the_end:
                            break
                        waiting.deadline = anyio.current_time() + AFTERWARDS_SECONDS
                    elif frame.message is not None:
                        await self.reply(frame)
        if exchange.answer:
            exchange.ending = "answered"
        elif waiting.cancelled_caught:
            exchange.ending = "timed out"
        return exchange

    async def _take_back(self, exchange: Exchange) -> None:
        """Tell a server of 2025-11-25 that a call is wanted no more: a dropped stream says nothing
        there. In 2026-07-28, and over stdio, leaving the stream says it."""
        if self.era == MODERN or not self.channel.over_http:
            return
        params = {"requestId": exchange.id, "reason": "left by the probe"}
        note: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
        headers = {**self.dialect.headers("", {}), **self._given}
        with anyio.move_on_after(TAKING_BACK_SECONDS, shield=True):
            await self.channel.tell(note, headers)

    async def reply(self, frame: Frame) -> None:
        """Answer what a server of 2025-11-25 asks of its client: nobody is here to say yes."""
        message = frame.message or {}
        if "method" not in message or "id" not in message:
            return
        answer: Json = {"jsonrpc": "2.0", "id": message["id"]}
        match message["method"]:
            case "ping":
                answer["result"] = {}
            case "elicitation/create":
                answer["result"] = {"action": "cancel"}
            case _:
                answer["error"] = {"code": -32601, "message": "The probe serves no requests."}
        await self.tell(answer)

    async def tell(self, message: Json) -> int | None:
        """Send a notification or a response.

        Raises:
            Spent: a bound was reached.
        """
        self.log.budget.spend()
        return await self.channel.tell(message, {**self.dialect.headers("", {}), **self._given})

    async def handshake(self) -> Exchange:
        """``initialize`` of 2025-11-25, with what has to follow it."""
        dialect = self.dialect
        assert isinstance(dialect, Legacy)
        exchange = await self.ask("initialize", dialect.handshake, "begin a session")
        if exchange.result is not None:
            agreed = exchange.result.get("protocolVersion")
            dialect.version = agreed if isinstance(agreed, str) else None
            dialect.session = exchange.reply_headers.get("mcp-session-id")
            with anyio.move_on_after(self.log.budget.limits.answer_seconds):
                await self.tell({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return exchange

    async def get(self, task_id: str, purpose: str, **how: Any) -> tuple[Exchange, View | None]:
        """Look at a task once."""
        exchange = await self.ask("tasks/get", {"taskId": task_id}, purpose, **how)
        return exchange, view_of(exchange)

    def gone(self, look: Exchange) -> bool:
        """Whether a look at a task says that there is none; every other error says nothing of it:
        a lost session, a limit on requests, a broken store."""
        if look.code is None:
            return False
        return look.code in (NO_SUCH_TASK, self.log.no_such_task.get(self.era))

    async def end_all(self) -> list[str]:
        """Cancel every task of this era that was not seen to end, and wait until it has.

        The ids of those that have not, within `ENDING_SECONDS`. The bound on requests does not
        apply: none may be left.
        """
        self.log.budget.ending = True
        living = [
            made for (era, _), made in self.log.made.items() if era == self.era and not made.ended
        ]
        with anyio.move_on_after(ENDING_SECONDS):
            async with anyio.create_task_group() as together:
                for made in living:
                    together.start_soon(self._end, made)
        return [made.task_id for made in living if not made.ended]

    async def _end(self, made: Made) -> None:
        await self.ask("tasks/cancel", {"taskId": made.task_id}, "end a task the probe made")
        while not made.ended:
            exchange, view = await self.get(made.task_id, "see that it has ended")
            if self.gone(exchange):
                made.ended = True  # not kept any more: nothing is left to be ended
                return
            pause = min(view.poll_ms or 500, 1000) if view else 500
            await anyio.sleep(max(pause, 20) / 1000)

    def _note(self, exchange: Exchange) -> None:
        """Know every task that was made, as soon as its id is known, and every ending."""
        method, result = exchange.request.get("method"), exchange.result
        if result is None:
            return
        if method == "tools/call":
            task = self.dialect.created(result)
            if task is not None and isinstance(task_id := task.get("taskId"), str):
                ended = str(task.get("status")) in ENDED
                self.log.made.setdefault((self.era, task_id), Made(task_id, ended))
        elif method == "tasks/get" and str(result.get("status")) in ENDED:
            made = self.log.made.get((self.era, str(result.get("taskId"))))
            if made is not None:
                made.ended = True


TAKING_BACK_SECONDS = 2.0
"""How long it may take to tell a server that a call is wanted no more."""

AFTERWARDS_SECONDS = 0.5
"""How long a stream is read on after its answer, for what must not come there."""


def unknown_id() -> str:
    """An id that no server has given out."""
    return f"awhile-probe-no-such-task-{next(NEW_TOKENS)}"


def new_token() -> str:
    """A progress token of its own."""
    return f"awhile-probe-{next(NEW_TOKENS)}"


def capabilities_of(exchange: Exchange | None) -> Json:
    """What a server declares in ``server/discover`` or ``initialize``."""
    result = None if exchange is None else exchange.result
    return as_object((result or {}).get("capabilities"))


__all__ = ["Log", "Made", "Prepared", "Session", "capabilities_of", "new_token", "unknown_id"]
