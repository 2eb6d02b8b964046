"""A task's questions, put to a client (2025-11-25).

In that era a server asks by sending a request of its own, tied to the task: on the response stream
of whoever waits, or on a session's own stream. The first answer of all streams counts.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    REQUEST_TIMEOUT,
    CreateMessageRequest,
    ElicitRequest,
    ListRootsRequest,
)
from pydantic import BaseModel, ConfigDict, ValidationError

from awhile.errors import AwhileError
from awhile.runtime.ending import CannotAsk
from awhile.server.asking import CAPABILITIES, ELICITATION, ROOTS, SAMPLING, undeclared
from awhile.server.forms import is_form, misfit
from awhile.server.outbound import refusal
from awhile.tasks import events as ev
from awhile.wire.v2025_11_25 import related

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyio.abc import TaskGroup
    from mcp.server.context import ServerRequestContext

    from awhile.server.calls import Calls
    from awhile.tasks import TaskRecord

logger = logging.getLogger(__name__)

_REQUESTS: Mapping[str, type[ElicitRequest | CreateMessageRequest | ListRootsRequest]] = {
    ELICITATION: ElicitRequest,
    SAMPLING: CreateMessageRequest,
    ROOTS: ListRootsRequest,
}

_NO_ANSWER = frozenset({CONNECTION_CLOSED, REQUEST_TIMEOUT})
"""What the SDK raises where the client has said nothing: the question stays open."""


class _Answer(BaseModel):
    """Any result: the SDK has checked it against the method's own."""

    model_config = ConfigDict(extra="allow")


def can_be_asked(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether this client declared that it answers questions, on a connection that carries them."""
    can = ctx.session.client_capabilities
    return ctx.session.can_send_request and any(
        getattr(can, name, None) is not None for name in CAPABILITIES.values()
    )


def takes_forms(ctx: ServerRequestContext[Any, Any]) -> bool:
    """Whether this client declared that it answers forms."""
    return undeclared({"method": ELICITATION}, ctx.session.client_capabilities) is None


class Questions:
    """Asks one client what a task's body wants to know.

    Args:
        ctx: the request whose response stream, or session, the questions go to.
        calls: where the answers are kept.
        beside: runs the asking.
        on_the_session: ask on the session's own stream, also when the request has been answered.
        may_ask: whether the client answers questions; looked up while the request is open.
    """

    def __init__(
        self,
        ctx: ServerRequestContext[Any, Any],
        calls: Calls,
        beside: TaskGroup,
        *,
        on_the_session: bool = False,
        may_ask: bool | None = None,
    ) -> None:
        self._ctx = ctx
        self._calls = calls
        self._beside = beside
        self._open: dict[str, anyio.CancelScope] = {}
        self._may_ask = can_be_asked(ctx) if may_ask is None else may_ask
        self._can = ctx.session.client_capabilities
        self._metadata = (
            None if on_the_session else ServerMessageMetadata(related_request_id=ctx.request_id)
        )

    def put(self, record: TaskRecord) -> bool:
        """Ask what is new, and take back what has been answered elsewhere or is not wanted now.

        Returns whether the client has a question before it now.
        """
        if not self._may_ask:
            return False
        for key, scope in self._open.items():
            if key not in record.outstanding:
                scope.cancel()  # the SDK then tells the client, so that its prompt can go away
        for key, asked in record.outstanding.items():
            if key not in self._open and self._can_answer(asked.request):
                scope = self._open[key] = anyio.CancelScope()
                self._beside.start_soon(self._ask, record.task_id, key, asked.request, scope)
        return any(key in self._open for key in record.outstanding)

    def _can_answer(self, request: Mapping[str, Any]) -> bool:
        """Whether this client, which need not be the one that made the task, declared that."""
        try:
            return undeclared(request, self._can) is None
        except CannotAsk:  # it was asked by another version of this server
            return False

    def take_back(self) -> None:
        """Ask no longer: somebody else does."""
        for scope in self._open.values():
            scope.cancel()
        self._open.clear()

    async def _ask(
        self, task_id: str, key: str, request: Mapping[str, Any], scope: anyio.CancelScope
    ) -> None:
        with scope:
            answer = await self._answer(task_id, request)
            if answer is not None and (wrong := _misfit(request, answer)):
                answer = await self._answer(task_id, _again(request, wrong))
                if answer is not None and (wrong := _misfit(request, answer)):
                    answer = refusal(_unfit(wrong))
            if answer is not None:
                with anyio.CancelScope(shield=True):
                    await self._take(task_id, key, answer)

    async def _answer(self, task_id: str, request: Mapping[str, Any]) -> Mapping[str, Any] | None:
        method = request["method"]
        params: dict[str, Any] = dict(request.get("params") or {})
        params["_meta"] = {**params.get("_meta", {}), **related(task_id)}
        try:
            asking = _REQUESTS[method].model_validate(
                {"method": method, "params": params}, by_name=False
            )
            said = await self._ctx.session.send_request(asking, _Answer, metadata=self._metadata)
        except MCPError as error:
            return None if error.error.code in _NO_ANSWER else refusal(error)
        except ValidationError:
            logger.warning("A question or its answer cannot be read; the question stays open.")
            return None
        return said.model_dump(mode="json")

    async def _take(self, task_id: str, key: str, answer: Mapping[str, Any]) -> None:
        try:
            await self._calls.append(task_id, ev.InputAnswered(responses={key: answer}))
        except AwhileError:  # the task has ended meanwhile: nobody wants to know any more
            logger.debug("An answer came after its task had ended.", exc_info=True)


def _misfit(request: Mapping[str, Any], answer: Mapping[str, Any]) -> str | None:
    """What of an answer its form does not allow; None if it fits, or is a no."""
    if not is_form(request) or answer.get("action") != "accept":
        return None
    return misfit(request, answer.get("content") or {})


def _again(request: Mapping[str, Any], wrong: str) -> dict[str, Any]:
    """A form put once more, because this era has no way to refuse an answer. Source: ours."""
    params: dict[str, Any] = dict(request.get("params") or {})
    words = f"{params.get('message', '')}\n(The last answer does not fit: {wrong})"
    return {**request, "params": {**params, "message": words}}


def _unfit(wrong: str) -> MCPError:
    """What a body is told whose form came back wrong twice: nobody is asked a third time."""
    return MCPError(
        code=INVALID_PARAMS,
        message=f"The client answered a form twice with what it does not allow ({wrong}). Call the "
        "tool again, from a client that fills the form in as its schema says.",
    )
