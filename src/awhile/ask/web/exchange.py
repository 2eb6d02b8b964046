"""One request of the page and its answer, in JSON; every error has a code and a sentence."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import anyio
from starlette.responses import JSONResponse

from awhile.client.http import NotSent
from awhile.errors import AwhileError, Expired, ToolFailed, Unreachable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Mapping

    from starlette.requests import Request
    from starlette.responses import Response

_BY_THE_SDK = re.compile(r"^Error executing tool \w+: ")

LARGEST_BODY = 256 * 1024
"""A question or a statement larger than this is refused, in bytes."""


class Refused(AwhileError):
    """A request this backend turns down itself."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


def answered(
    handler: Callable[[Request], Awaitable[dict[str, Any]]],
) -> Callable[[Request], Awaitable[Response]]:
    """A handler's answer, or its error, as JSON."""

    async def endpoint(request: Request) -> Response:
        try:
            answer = await handler(request)
        except (AwhileError, TimeoutError) as error:
            status, code, message = in_http(error)
            return JSONResponse({"error": {"code": code, "message": message}}, status)
        return JSONResponse(answer, headers={"cache-control": "no-store"})

    return endpoint


def in_http(error: Exception) -> tuple[int, str, str]:
    """The HTTP status, code and sentence for an error."""
    match error:
        case Refused():
            return error.status, error.code, str(error)
        case NotSent():
            return (
                503,
                "not_sent",
                ("The server cannot be reached, so nothing was sent. Try again when it is back."),
            )
        case Unreachable():
            return 504, "unknown", str(error)
        case TimeoutError():
            return (
                504,
                "unknown",
                ("The server has not answered. Try again: the same request is not done twice."),
            )
        case Expired():
            return 404, "gone", str(error)
        case ToolFailed():
            return 422, "tool_failed", said_by(error)
        case _:
            return 502, "server_error", str(error)


def said_by(error: ToolFailed) -> str:
    """What the tool itself said, without the SDK's words before it (`mcp` 2.3.0)."""
    return _BY_THE_SDK.sub("", str(error))


async def read_body(request: Request) -> dict[str, Any]:
    """The JSON object of a request; whatever else it carries is refused."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "bad_request", "Send JSON, with content-type application/json.")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise Refused(413, "too_large", f"More than {LARGEST_BODY} bytes; shorten it.")
    try:
        body = json.loads(raw)
    except (RecursionError, ValueError) as broken:
        raise Refused(400, "bad_request", f"Not JSON: {broken}") from broken
    if not isinstance(body, dict):
        raise Refused(400, "bad_request", "Send one JSON object.")
    return cast("dict[str, Any]", body)


def text_in(body: Mapping[str, Any], name: str, *, longest: int = LARGEST_BODY) -> str:
    """A text that has to be there."""
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise Refused(
            400, "bad_request", f"{name!r} has to be a text of 1 to {longest} characters."
        )
    return value


def object_in(body: Mapping[str, Any], name: str) -> dict[str, Any]:
    """An object; empty where it is left out, or null."""
    value: Any = body.get(name) or {}
    if not isinstance(value, dict):
        raise Refused(400, "bad_request", f"{name!r} has to be an object.")
    return cast("dict[str, Any]", value)


def number_in(body: Mapping[str, Any], name: str, *, most: int) -> int:
    """A whole number that has to be there."""
    value = body.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise Refused(400, "bad_request", f"{name!r} has to be a whole number from 0 to {most}.")
    return value


async def while_connected(
    request: Request, answer: Coroutine[Any, Any, dict[str, Any]]
) -> dict[str, Any]:
    """The answer to a request whose body has been read.

    If the page is gone first, nobody would have it: then what it waits for is stopped.
    """
    found: dict[str, Any] = {}
    failure: Exception | None = None
    async with anyio.create_task_group() as tasks:

        async def hang_up() -> None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            tasks.cancel_scope.cancel()

        tasks.start_soon(hang_up)
        try:
            found = await answer
        except Exception as error:  # noqa: BLE001 - raised below, not as a group of one
            failure = error
        tasks.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return found


__all__ = [
    "LARGEST_BODY",
    "Refused",
    "answered",
    "in_http",
    "number_in",
    "object_in",
    "read_body",
    "said_by",
    "text_in",
    "while_connected",
]
