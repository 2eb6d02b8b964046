"""A call answered with its task at once: the SDK's kernel without an event stream around it.

The SDK serves each request of 2026-07-28 with two tasks and a stream, for a handler that may tell
of its progress or be cut off. A call whose tool is kept from the start, and whose caller waits for
nothing but the row, does neither. So it is run in the request's own task, by the SDK's `serve_one`:
all its middleware, validation and interceptors are in there. A notification that one of them sends
all the same opens the stream as it would in the SDK; only that a client which leaves in the few
milliseconds cancels nothing (the row is written whole or not at all anyway).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, x_mcp_header_map
from mcp.shared.jsonrpc_dispatcher import progress_token_from_params
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCResponse,
)
from starlette.requests import Request

from awhile.server.outbound import NeverCancelled
from awhile.wire.v2026_07_28 import PROTOCOL_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.lowlevel.server import Server
    from mcp.shared.dispatcher import CallOptions
    from starlette.types import Receive, Scope, Send

    from awhile.server.calls import Calls

_encoder = json.JSONEncoder(separators=(",", ":"))

_STREAM_HEAD = {
    "type": "http.response.start",
    "status": 200,
    "headers": [
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-cache, no-transform"),
        (b"connection", b"keep-alive"),
        (b"x-accel-buffering", b"no"),
    ],
}
"""As the SDK begins a stream."""


class AtOnce:
    """Serves such calls.

    Args:
        server: the SDK's, whose kernel runs them.
        calls: ours; they know the tools.
        json_only: whether the endpoint never opens a stream; then the SDK serves them all.
    """

    def __init__(self, server: Server[Any], calls: Calls, *, json_only: bool) -> None:
        self._server = server
        self._calls = calls
        self._json_only = json_only
        self._plain_schemas: dict[str, Mapping[str, Any]] = {}

    def knows(self, tool: str) -> bool:
        """Whether a call of this tool, by a client that takes tasks, is answered at once."""
        options = self._calls.options(tool)
        if options is None or not options.answers_at_once or self._json_only:
            return False
        lookup = self._server.get_tool_input_schema
        schema = lookup(tool) if lookup is not None else None
        if schema is None or not self._calls.is_open:
            return False
        if self._plain_schemas.get(tool) is not schema:
            if x_mcp_header_map(schema):  # the SDK compares such arguments with their headers
                return False
            self._plain_schemas[tool] = schema
        return True

    async def answer(
        self, request: Mapping[str, Any], scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Run one request that is plainly valid, and send its answer."""
        http = Request(scope, receive)
        await http.body()  # whoever asks for it later gets it from there
        params = cast("Mapping[str, Any]", request["params"])
        meta = params["_meta"]
        connection = Connection.from_envelope(
            PROTOCOL_VERSION, meta.get(CLIENT_INFO_META_KEY), meta[CLIENT_CAPABILITIES_META_KEY]
        )
        answering = _Answering(
            request_id=request["id"],
            transport=TransportContext(
                kind="streamable-http", can_send_request=False, headers=http.headers
            ),
            message_metadata=ServerMessageMetadata(request_context=http),
            progress_token=progress_token_from_params(params),
            send=send,
        )
        try:
            result = await serve_one(
                self._server,
                answering,
                request["method"],
                params,
                connection=connection,
                lifespan_state=self._calls.lifespan_state,
            )
        except Exception as error:  # noqa: BLE001 - the SDK's own way to say what went wrong
            said = modern_error_data(error)
            await answering.fail(JSONRPCError(jsonrpc="2.0", id=request["id"], error=said))
        else:
            await answering.succeed(result)


@dataclass
class _Answering(NeverCancelled):
    """The SDK's `DispatchContext` of one request: what its handler may send meanwhile."""

    request_id: str | int
    transport: TransportContext
    message_metadata: ServerMessageMetadata
    progress_token: str | int | None
    send: Send
    can_send_request: bool = False
    _streams: bool = False
    _over: bool = False

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        if self._over:
            return
        if not self._streams:
            self._streams = True
            await self.send(_STREAM_HEAD)
        body = None if params is None else dict(params)
        await self._event(JSONRPCNotification(jsonrpc="2.0", method=method, params=body), more=True)

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        if self.progress_token is None:
            return
        said = {"progressToken": self.progress_token, "progress": progress}
        more = {"total": total, "message": message}
        told = {name: value for name, value in more.items() if value is not None}
        await self.notify("notifications/progress", {**said, **told})

    async def succeed(self, result: dict[str, Any]) -> None:
        self._over = True
        if self._streams:
            await self._event(
                JSONRPCResponse(jsonrpc="2.0", id=self.request_id, result=result), more=False
            )
        else:
            await send_json(self.send, 200, response(self.request_id, result))

    async def fail(self, error: JSONRPCError) -> None:
        self._over = True
        if self._streams:
            await self._event(error, more=False)
        else:
            status = ERROR_CODE_HTTP_STATUS.get(error.error.code, 200)
            await send_json(self.send, status, _written(error))

    async def _event(
        self, message: JSONRPCNotification | JSONRPCResponse | JSONRPCError, *, more: bool
    ) -> None:
        body = b"event: message\r\ndata: " + _written(message) + b"\r\n\r\n"
        await self.send({"type": "http.response.body", "body": body, "more_body": more})


def response(request_id: str | int, result: dict[str, Any]) -> bytes:
    """A JSON-RPC response, as the SDK writes it."""
    return _encoder.encode({"jsonrpc": "2.0", "id": request_id, "result": result}).encode()


async def send_json(send: Send, status: int, body: bytes) -> None:
    """A whole answer, with the head the SDK gives it."""
    headers = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _written(message: JSONRPCNotification | JSONRPCResponse | JSONRPCError) -> bytes:
    fields = message.model_dump(mode="json", by_alias=True, exclude_none=True)
    return _encoder.encode(fields).encode()


__all__ = ["AtOnce", "response", "send_json"]
