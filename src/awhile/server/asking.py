"""What a caller can be asked: by which requests, and by which of them it declared to answer.

Source: 2026-07-28 ``basic/patterns/mrtr`` ("MUST NOT send an ``inputRequests`` that the client has
not declared support for") and ``basic`` (-32021); 2025-11-25 ``client/elicitation``,
``client/sampling`` ("MUST NOT" each). The earlier era has no code of its own for it; both get the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    ClientCapabilities,
    ElicitationCapability,
    FormElicitationCapability,
)

from awhile.runtime.ending import CannotAsk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Capability = dict[str, dict[str, dict[str, Any]]]

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"

CAPABILITIES: Mapping[str, str] = {
    ELICITATION: "elicitation",
    SAMPLING: "sampling",
    ROOTS: "roots",
}
"""What a client declares that answers each kind of question. There are no others."""


class CallerCannotAnswer(CannotAsk, MCPError):
    """`CannotAsk` as the protocol error that a call ends in whose body lets it pass."""

    def __init__(self, message: str, *, code: int = INVALID_REQUEST, data: Any = None) -> None:
        MCPError.__init__(self, code=code, message=message, data=data)


def undeclared(request: Mapping[str, Any], can: ClientCapabilities | None) -> Capability | None:
    """The capability that a question takes and its client did not declare; None: it may be asked.

    Raises:
        CallerCannotAnswer: no client is asked by such a request.
    """
    method = str(request.get("method"))
    params = cast("Mapping[str, Any]", request.get("params") or {})
    name = CAPABILITIES.get(method)
    if name is None:
        raise CallerCannotAnswer(
            f"A tool asked its caller by {method!r}. Callers can be asked by "
            f"{', '.join(map(repr, CAPABILITIES))}.",
            code=INTERNAL_ERROR,
        )
    within = _within(method, params)
    declared = getattr(can, name, None)
    if declared is None:
        return {name: {within: {}} if within else {}}
    if within is None or getattr(declared, within, None) is not None:
        return None
    if within == "form" and declared.url is None:
        return None  # "an empty capabilities object is equivalent to declaring support for form"
    return {name: {within: {}}}


def _within(method: str, params: Mapping[str, Any]) -> str | None:
    """What of its capability a question takes."""
    if method == ELICITATION:
        return params.get("mode") or "form"
    if method == SAMPLING and (params.get("tools") or params.get("toolChoice")):
        return "tools"
    return None


def may_be_asked(
    can: ClientCapabilities | None, unasked: str | None
) -> Callable[[Mapping[str, Any]], None]:
    """What refuses the questions of a body that its caller cannot answer, at once.

    ``can``: what it declared. ``unasked``: why it can be asked nothing at all; None if it can.
    """

    def check(request: Mapping[str, Any]) -> None:
        missing = undeclared(request, can)
        if unasked is not None:
            raise CallerCannotAnswer(unasked)
        if missing is not None:
            [(name, within)] = missing.items()
            declared = ".".join([name, *within])
            raise CallerCannotAnswer(
                f"This tool needs to ask its caller something by {request['method']!r}, and this "
                f"client does not declare {declared!r}: call it from one that does.",
                code=MISSING_REQUIRED_CLIENT_CAPABILITY,
                data={"requiredCapabilities": missing},
            )

    return check


def with_forms(can: ClientCapabilities | None) -> ClientCapabilities:
    """The capabilities of a client to whom forms can be put in another way than by its own."""
    elicitation = (can and can.elicitation) or ElicitationCapability()
    forms = elicitation.model_copy(update={"form": FormElicitationCapability()})
    return (can or ClientCapabilities()).model_copy(update={"elicitation": forms})
