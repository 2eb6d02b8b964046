"""Retries of a call that was asked something first: each set of answers starts the work once.

A client answers an ``input_required`` result by sending the request again, with its answers and
the ``requestState`` it was given (2026-07-28, ``basic/patterns/mrtr``). If the reply to that is
lost, it sends the same once more, and has to find the task that the first one became. The sealed
state is unique to its round and can be made by this server alone, so the task's id is derived from
it: unguessable still, and the same for each retry, in every process. Source: ours; single use is
left to the server there.
"""

from __future__ import annotations

import contextvars
import hashlib
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
    from mcp.server.mcpserver import MCPServer

    from awhile.tasks import TaskRecord

ANSWERS = "answers"
"""The key in a record's context of the digest of the answers its work was started with."""

_sealed: contextvars.ContextVar[str | None] = contextvars.ContextVar("awhile_sealed", default=None)


@dataclass(frozen=True, slots=True)
class Retry:
    """A call with answers: the id of the task it becomes, and a digest of the answers."""

    task_id: str
    answers: str

    @property
    def context(self) -> Mapping[str, str]:
        """What its task keeps of it."""
        return {ANSWERS: self.answers}

    def check(self, record: TaskRecord) -> None:
        """Refuse answers that differ from those the work was started with.

        Raises:
            MCPError: -32602.
        """
        if record.context.get(ANSWERS) != self.answers:
            raise MCPError(
                code=INVALID_PARAMS,
                message="This requestState was answered differently before, and the work began "
                "with those answers. Call the tool anew to give others.",
            )


def retry_of(ctx: ServerRequestContext[Any, Any], owner: str) -> Retry | None:
    """The call as a retry with answers; None if it is none."""
    sealed = _sealed.get()
    if sealed is None or not ctx.params:
        return None
    asked = [owner, ctx.params.get("name"), sealed]
    return Retry(_digest(asked)[:32], _digest(ctx.params.get("inputResponses")))


def remember_sealed_states(server: MCPServer[Any]) -> None:
    """Have the server note each request's state as it was sent, before the SDK unseals it."""
    if remember_state not in server.middleware:
        server.middleware.insert(0, remember_state)


async def remember_state(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """The middleware that does."""
    state = (ctx.params or {}).get("requestState")
    token = _sealed.set(state if isinstance(state, str) else None)
    try:
        return await call_next(ctx)
    finally:
        _sealed.reset(token)


class Turns:
    """One at a time, of those that share a name."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[anyio.Lock, int]] = {}

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncGenerator[None]:
        """Wait for the others of that name, and hold up those that come after."""
        lock, waiting = self._locks.get(name, (anyio.Lock(), 0))
        self._locks[name] = lock, waiting + 1
        try:
            async with lock:
                yield
        finally:
            lock, waiting = self._locks[name]
            if waiting == 1:
                del self._locks[name]
            else:
                self._locks[name] = lock, waiting - 1


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()
