"""``tasks/get`` answered directly: the one request that clients repeat, on a short way.

Through the SDK it costs seven validations, some thirty objects of anyio's and two tasks, which is
ten times what reading the row costs (``docs/speed.md``). So what is plainly a valid look of
2026-07-28 at the caller's own task is answered here, and everything else is handed to the SDK as it
came: what is malformed, refused, slowed down, unknown or somebody else's gets its answer there.
Decision 23 says why this keeps every gate; ``tests/interaction/server/test_direct.py`` sends the
same requests both ways and compares the answers byte by byte.

It stands inside of the SDK's authentication and outside of its body limit.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, cast

import anyio
from mcp.server.connection import Connection
from mcp.server.mcpserver import MCPServer
from mcp.server.streamable_http import check_accept_headers
from mcp.server.transport_security import TransportSecurityMiddleware
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp_types import SERVER_INFO_META_KEY
from pydantic import ValidationError
from starlette.requests import Request

from awhile.errors import StoreError
from awhile.server import audit
from awhile.server.middleware import TasksMiddleware
from awhile.server.params import TaskParams
from awhile.server.principal import caller, principal
from awhile.server.retries import remember_state
from awhile.telemetry import traces
from awhile.wire.v2026_07_28 import EXTENSION_ID, PROTOCOL_VERSION, write_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from awhile.server.calls import Calls
    from awhile.server.pace import Pace

METHOD = "tasks/get"

BODY_BYTES = 4096
"""Of a plain look: its envelope takes some 300 bytes."""

REMEMBERED = 256
"""How many kinds of header and of envelope are known to be valid. They repeat: a client sends the
same with each look."""

_ROUTING = (MCP_PROTOCOL_VERSION_HEADER, MCP_METHOD_HEADER, MCP_NAME_HEADER)
_READ_BY_THE_SDK = ("host", "origin", "content-type", "accept")
_HEADERS = {name.encode(): name for name in (*_ROUTING, *_READ_BY_THE_SDK)}
_MEMBERS = {"jsonrpc", "id", "method", "params"}
_PARAMS = {"taskId", "_meta"}

_encoder = json.JSONEncoder(separators=(",", ":"))


class Direct:
    """An ASGI app before the SDK's endpoint.

    Args:
        app: the endpoint, which gets all that is not answered here.
        server: whose endpoint it is.
        calls: its calls.
        pace: what slows its callers' polls down, there and here.
    """

    def __init__(self, app: ASGIApp, server: MCPServer[Any], calls: Calls, pace: Pace) -> None:
        manager = server.session_manager
        self.app = app
        self._server = server
        self._lowlevel = manager.app
        self._security = TransportSecurityMiddleware(manager.security_settings)
        self._calls = calls
        self._pace = pace
        self._usual = {type(one) for one in MCPServer("plain").middleware} | {TasksMiddleware}
        self._stamp: dict[str, Any] | None = None
        self._valid_headers: set[tuple[str | None, ...]] = set()
        self._valid_meta: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        task_id = await self._asked_for(scope) if scope["type"] == "http" else None
        if task_id is None or not self._all_is_usual():
            await self.app(scope, receive, send)
            return
        message = await receive()
        answer = await self._answer(message, task_id)
        if answer is not None:
            await send(_head(len(answer)))
            await send({"type": "http.response.body", "body": answer})
            return
        read = [message]

        async def again() -> Message:
            return read.pop() if read else await receive()

        await self.app(scope, again, send)

    async def _asked_for(self, scope: Scope) -> str | None:
        """The task that the headers ask for, if the SDK lets these headers pass."""
        if scope["method"] != "POST":
            return None
        found: dict[str, str] = {}
        for raw, value in cast("list[tuple[bytes, bytes]]", scope["headers"]):
            name = _HEADERS.get(raw)
            if name is not None:
                if name in found:  # which one counts is for the SDK to say
                    return None
                found[name] = value.decode("latin-1")
        if found.get(MCP_METHOD_HEADER) != METHOD:
            return None
        if found.get(MCP_PROTOCOL_VERSION_HEADER) != PROTOCOL_VERSION:
            return None
        kind = tuple(found.get(name) for name in _READ_BY_THE_SDK)
        if kind not in self._valid_headers:
            request = Request(scope)
            if await self._security.validate_request(request, is_post=True) is not None:
                return None
            if check_accept_headers(request) != (True, True):
                return None
            _remember(self._valid_headers, kind)
        return found.get(MCP_NAME_HEADER)

    def _all_is_usual(self) -> bool:
        """Whether nobody has put anything between the SDK's endpoint and our handler."""
        calls = self._calls
        return (
            calls.is_open
            and calls.principal is principal
            and METHOD not in self._lowlevel.cache_hints  # would add to the result
            and all(
                type(one) in self._usual or one is remember_state for one in self._server.middleware
            )
            and not traces.provided()
        )

    async def _answer(self, message: Message, task_id: str) -> bytes | None:
        request = self._plain(message, task_id)
        if request is None:
            return None
        calls, owner = self._calls, caller()
        try:
            record = await calls.get(task_id)
            if record is None or record.owner != owner:
                return None
            if not self._pace.in_time(owner, task_id, anyio.current_time()):
                return None
            await calls.looking.at(calls.store, record)
            result = write_task(await calls.shown(record))
        except StoreError:
            return None
        if self._stamp is None:
            self._stamp = self._lowlevel.server_info_stamp  # a copy each time it is read
        result["_meta"] = {**result.get("_meta", {}), SERVER_INFO_META_KEY: self._stamp}
        if audit.logger.isEnabledFor(logging.INFO):
            audit.note("saw", owner=owner, how=METHOD, task_id=task_id)
        answer = {"jsonrpc": "2.0", "id": request["id"], "result": result}
        return _encoder.encode(answer).encode()

    def _plain(self, message: Message, task_id: str) -> Mapping[str, Any] | None:
        """The request, if it is whole, says the same as its headers, and lacks nothing."""
        body: bytes = message.get("body", b"")
        if message["type"] != "http.request" or message.get("more_body") or len(body) > BODY_BYTES:
            return None
        try:
            request: Any = json.loads(body)
        except (ValueError, RecursionError):
            return None
        if not isinstance(request, dict) or request.keys() != _MEMBERS:
            return None
        asked = cast("Mapping[str, Any]", request)
        params = asked["params"]
        if (
            asked["jsonrpc"] != "2.0"
            or asked["method"] != METHOD
            or type(asked["id"]) not in (int, str)
            or not isinstance(params, dict)
            or cast("dict[str, Any]", params).keys() != _PARAMS
            or params["taskId"] != task_id
        ):
            return None
        kind = repr(cast("object", params["_meta"]))
        if kind not in self._valid_meta:
            if not _declares_tasks(asked):
                return None
            _remember(self._valid_meta, kind)
        return asked


def _head(length: int) -> Message:
    """Of a JSON answer, as the SDK's has it."""
    headers = [(b"content-length", b"%d" % length), (b"content-type", b"application/json")]
    return {"type": "http.response.start", "status": 200, "headers": headers}


def _remember(known: set[Any], kind: object) -> None:
    if len(known) >= REMEMBERED:  # callers choose what they send: this may not grow with it
        known.clear()
    known.add(kind)


def _declares_tasks(request: Mapping[str, Any]) -> bool:
    """Whether the SDK takes the request's envelope, and tasks are among what it declares."""
    params = request["params"]
    headers = {MCP_PROTOCOL_VERSION_HEADER: PROTOCOL_VERSION, MCP_METHOD_HEADER: METHOD}
    route = classify_inbound_request(request, headers=headers)
    if not isinstance(route, InboundModernRoute):
        return False
    try:
        TaskParams.model_validate(params, by_name=False)
    except ValidationError:
        return False
    declared = Connection.from_envelope(
        route.protocol_version, route.client_info, route.client_capabilities
    ).client_capabilities
    return bool(declared and declared.extensions and EXTENSION_ID in declared.extensions)
