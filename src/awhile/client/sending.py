"""Sending a call until the server says what became of it: asked first, refused, made a task."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND

from awhile.client.era import CallTool
from awhile.client.unreadable import unreadable
from awhile.client.words import is_error, result_text
from awhile.errors import LocalError, ProtocolFailed, SettingsError
from awhile.tasks import Status
from awhile.wire.run import UNOBSERVED_META

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.shared.dispatcher import ProgressFnT

    from awhile.client.era import Era
    from awhile.client.inbox import OnInput
    from awhile.client.link import Link
    from awhile.wire.snapshot import Snapshot

MOST_ROUNDS = 10
"""How often a server may ask something before it takes a call (the SDK's own bound)."""

_RESULT_TYPES = ("complete", "input_required", "task")
"""Those of the core and of the one extension that is declared. "A `resultType` of any value
unrecognized by the client MUST be considered invalid" (2026-07-28, basic)."""

_EMPTY_ROUND_SECONDS = 0.1
"""The pause before a round in which the server asked nothing but to be called again."""


class Call:
    """One call of a tool, not yet sent."""

    def __init__(
        self,
        link: Link,
        tool: str,
        arguments: Mapping[str, Any] | None,
        *,
        unobserved_seconds: float | None = None,
    ) -> None:
        self.tool = tool
        self.arguments: dict[str, Any] = dict(arguments or {})
        self._link = link
        self._meta: dict[str, Any] = {}
        if unobserved_seconds is not None:
            if not unobserved_seconds >= 1:
                raise SettingsError(
                    f"unobserved_seconds is {unobserved_seconds!r}: the work would be stopped "
                    "before anybody could look at it. Use a number of seconds from 1, or math.inf "
                    "to let it go on."
                )
            for_ever = math.isinf(unobserved_seconds)
            self._meta[UNOBSERVED_META] = None if for_ever else unobserved_seconds

    async def settle(
        self,
        ask: OnInput | None,
        *,
        on_progress: ProgressFnT | None = None,
        extra: Mapping[str, Any] | None = None,
        progress_token: str | None = None,
    ) -> dict[str, Any]:
        """Send it, answering what the server asks first, until it says what became of it.

        Raises:
            LocalError: the server asks something, and there is nobody to answer.
            Unreachable, ProtocolFailed: as for any request.
        """
        call: dict[str, Any] = {"name": self.tool, "arguments": self.arguments, **(extra or {})}
        token = {} if progress_token is None else {"progressToken": progress_token}
        if meta := {**self._meta, **token}:
            call["_meta"] = meta
        params = call
        for _ in range(MOST_ROUNDS):
            raw = await self._send(params, on_progress=on_progress)
            kind = raw.get("resultType", "complete")
            if kind not in _RESULT_TYPES:
                raise ProtocolFailed(
                    f"The answer to {self.tool!r} is of a type unknown here ({kind!r}), so it "
                    "cannot be read; the work may have been done. A newer client may know it.",
                    code=INTERNAL_ERROR,
                )
            if kind != "input_required":
                return raw
            params = dict(call)
            if "requestState" in raw:
                params["requestState"] = raw["requestState"]
            if questions := raw.get("inputRequests"):
                if ask is None:
                    raise LocalError(
                        f"{self.tool!r} asks something before it starts ({', '.join(questions)}), "
                        "and nobody is here to answer. Pass on_input to connect() or to this call."
                    )
                params["inputResponses"] = {
                    key: dict(await ask(question)) for key, question in questions.items()
                }
            else:
                await anyio.sleep(_EMPTY_ROUND_SECONDS)
        raise ProtocolFailed(
            f"The server asked something {MOST_ROUNDS} times over before {self.tool!r} started; "
            "it does not seem to take the answers.",
            code=INTERNAL_ERROR,
        )

    async def _send(
        self, params: dict[str, Any], *, on_progress: ProgressFnT | None
    ) -> dict[str, Any]:
        request = CallTool(params=params)
        try:
            return await self._link.request(request, on_progress=on_progress)
        except ProtocolFailed as no:
            if no.code != HEADER_MISMATCH:
                raise
        # The server wants arguments repeated in headers; only its listing says which.
        await self._link.list_tools()
        return await self._link.request(request, on_progress=on_progress)


def created(era: Era, raw: Mapping[str, Any]) -> Snapshot | None:
    """The task a call became; None if ``raw`` is the call's own result.

    Raises:
        ProtocolFailed: it is a task, but not one that can be read.
    """
    fields = era.created(raw)
    if fields is None:
        return None
    try:
        task = era.read(fields)
    except ValueError as broken:
        raise unreadable("The task that the server made of the call", broken) from broken
    return unended(task)


def unended(task: Snapshot) -> Snapshot:
    """A task told of without its result: even one that has ended has to be asked for once."""
    return replace(task, status=Status.WORKING, result=None) if task.status.ended else task


def refuses_tasks(no: ProtocolFailed) -> bool:
    """Whether a call was turned away, unseen by the tool, because it was to become a task.

    -32601 is the 2025-11-25 specification's answer; "does not support task creation" under -32603
    is that of servers whose SDK offers tasks and whose tool has none. No other error counts: after
    it the tool may have run, and calling again would run it twice.
    """
    if no.code == METHOD_NOT_FOUND:
        return True
    return no.code == INTERNAL_ERROR and "does not support task creation" in str(no)


def demands_task(answer: Mapping[str, Any] | ProtocolFailed) -> bool:
    """Whether a call was turned away because it was not to become a task.

    The specification has an error (-32601, or -32600 in general); the TypeScript SDK 1.30.0 puts
    the same into a result with ``isError``, as text that carries the code.
    """
    if isinstance(answer, ProtocolFailed):
        refused = answer.code in (METHOD_NOT_FOUND, INVALID_REQUEST)
        return refused and "task" in str(answer).lower()
    text = result_text(answer)
    return is_error(answer) and str(METHOD_NOT_FOUND) in text and "task" in text.lower()


__all__ = ["Call", "created", "demands_task", "refuses_tasks", "unended"]
