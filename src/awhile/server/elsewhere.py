"""Calls of a replica that runs no work: all up to the tool's function is done there.

So a call that cannot begin (wrong arguments, a resolver's question that is still open) is answered
as by any replica, before there is a row; the function itself runs in whichever worker claims it.
Source: ours.
"""

from __future__ import annotations

import contextvars
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR

if TYPE_CHECKING:
    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

_elsewhere: contextvars.ContextVar[bool] = contextvars.ContextVar("awhile_elsewhere", default=False)


class HandedOver(MCPError):
    """The tool's function would begin now. Of this kind because the SDK lets no other through."""

    def __init__(self) -> None:
        super().__init__(code=INTERNAL_ERROR, message="This work is to be done by a worker.")


def hand_over() -> None:
    """Called where a tool's function begins.

    Raises:
        HandedOver: it is not to run here.
    """
    if _elsewhere.get():
        raise HandedOver


async def answered_before(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> tuple[HandlerResult] | None:
    """What the call is answered with if its function does not even begin; None if it would.

    Raises:
        MCPError: the call ended in a protocol error.
    """
    token = _elsewhere.set(True)
    try:
        return (await call_next(ctx),)
    except HandedOver:
        return None
    finally:
        _elsewhere.reset(token)
