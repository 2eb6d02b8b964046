"""What the page may ask of the backend, in JSON; every error has a code and a sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import anyio
from starlette.responses import JSONResponse
from starlette.routing import Route

from awhile.ask.web.facts import structured, text_of
from awhile.ask.web.stream import event_stream
from awhile.client.http import NotSent
from awhile.errors import (
    AwhileError,
    Cancelled,
    Expired,
    ProtocolFailed,
    ToolFailed,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from awhile.ask.web.board import Board
    from awhile.ask.web.follow import Follower

LARGEST_BODY = 256 * 1024
"""A question or a statement larger than this is refused, in bytes."""
MOST_ROWS = 1000
"""Rows in one page at most."""


class Refused(AwhileError):
    """A request this backend turns down itself."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Api:
    """The handlers below ``/api``."""

    def __init__(self, board: Board, follower: Follower) -> None:
        self._board = board
        self._follower = follower

    def routes(self) -> list[Route]:
        """Every route, with its handler."""
        return [
            Route("/session", answered(self.session), methods=["GET"]),
            Route("/events", self.events, methods=["GET"]),
            Route("/database", answered(self.database), methods=["GET"]),
            Route("/runs", answered(self.runs), methods=["GET"]),
            Route("/runs", answered(self.start), methods=["POST"]),
            Route("/runs/{run_id}", answered(self.run), methods=["GET"]),
            Route("/runs/{run_id}/cancel", answered(self.cancel), methods=["POST"]),
            Route("/runs/{run_id}/rows", answered(self.rows), methods=["GET"]),
        ]

    async def session(self, request: Request) -> dict[str, Any]:
        """Whether this browser is signed in: whoever gets here is."""
        return {"signed_in": True}

    async def events(self, request: Request) -> Response:
        """The one event stream."""
        return event_stream(self._board, request)

    async def database(self, request: Request) -> dict[str, Any]:
        """The database's name, tables and example questions."""
        return await self._follower.call("describe_database", {})

    async def runs(self, request: Request) -> dict[str, Any]:
        """Every run, as the stream's first message has them."""
        return self._board.sync(None, 0, now=anyio.current_time())

    async def start(self, request: Request) -> dict[str, Any]:
        """Start a run from a question or a statement; the same key finds the same run."""
        body = await _body(request)
        key = _text(body, "request_key", longest=200)
        if ("question" in body) == ("sql" in body):
            raise Refused(400, "bad_request", "Send either 'question' or 'sql', and not both.")
        if "question" in body:
            tool, arguments = "ask", {"question": _text(body, "question")}
        else:
            tool, arguments = "run_sql", {"sql": _text(body, "sql")}
        run_id = await self._follower.start(tool, {**arguments, "request_key": key})
        return {"run": self._known(run_id)}

    async def cancel(self, request: Request) -> dict[str, Any]:
        """Ask for a stop. Success means the server took the request, not that the work stopped."""
        run_id = self._known(request.path_params["run_id"])["id"]
        await self._follower.ask_to_stop(run_id)
        return {"run": self._known(run_id)}

    async def run(self, request: Request) -> dict[str, Any]:
        """One run, and its result once it has ended."""
        run_id = request.path_params["run_id"]
        run = self._known(run_id)
        result, error_text = None, None
        if run["ended_at"] is not None:
            try:
                result = structured(await self._follower.result(run_id))
            except ToolFailed as no:
                result = no.result.get("structuredContent")
                error_text = text_of(no.result) or str(no)
            except Cancelled:
                pass
            except (ProtocolFailed, Expired) as no:
                error_text = str(no)
        return {"run": run, "result": result, "error_text": error_text}

    async def rows(self, request: Request) -> dict[str, Any]:
        """A page of a result's rows, sorted by the server if asked."""
        arguments: dict[str, Any] = {
            "run_id": request.path_params["run_id"],
            "offset": _number(request, "offset", 0, most=2**53),
            "limit": _number(request, "limit", 200, most=MOST_ROWS),
        }
        if "sort" in request.query_params:
            arguments["sort_column"] = _number(request, "sort", 0, most=100_000)
            arguments["descending"] = request.query_params.get("desc") == "true"
        return await self._follower.call("result_rows", arguments)

    def _known(self, run_id: str) -> dict[str, Any]:
        run = self._board.as_json(run_id, now=anyio.current_time())
        if run is not None:
            return run
        if not self._board.reachable:
            raise Refused(
                503, "not_sent", "The server cannot be reached, so this run is not known."
            )
        raise Refused(404, "gone", "No such run. It may have been deleted; ask its question again.")


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
            return 422, "tool_failed", str(error)
        case _:
            return 502, "server_error", str(error)


async def _body(request: Request) -> dict[str, Any]:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise Refused(415, "bad_request", "Send JSON, with content-type application/json.")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST_BODY:
            raise Refused(413, "too_large", f"More than {LARGEST_BODY} bytes; shorten it.")
    try:
        body = json.loads(raw)
    except ValueError as broken:
        raise Refused(400, "bad_request", f"Not JSON: {broken}") from broken
    if not isinstance(body, dict):
        raise Refused(400, "bad_request", "Send one JSON object.")
    return cast("dict[str, Any]", body)


def _text(body: dict[str, Any], name: str, *, longest: int = LARGEST_BODY) -> str:
    value = body.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise Refused(
            400, "bad_request", f"{name!r} has to be a text of 1 to {longest} characters."
        )
    return value


def _number(request: Request, name: str, default: int, *, most: int) -> int:
    given = request.query_params.get(name, str(default))
    if not given.isascii() or not given.isdecimal() or int(given) > most:
        raise Refused(400, "bad_request", f"{name}={given!r} has to be a number from 0 to {most}.")
    return int(given)


__all__ = ["LARGEST_BODY", "MOST_ROWS", "Api", "Refused", "answered", "in_http"]
