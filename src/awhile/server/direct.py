"""A shorter way through the SDK for the two requests that clients repeat.

`tasks/get`: through the SDK it costs seven validations, some thirty objects of anyio's and two
tasks, which is ten times what reading the row costs (``docs/speed.md``). What is plainly a valid
look of 2026-07-28 at the caller's own task is answered here.

`tools/call` of a tool that is answered with its task at once: what is plain of that goes to the
SDK's kernel without the event stream around it (`awhile.server.at_once`).

Everything else is handed to the SDK as it came: what is malformed, refused, slowed down, unknown or
somebody else's gets its answer there. Decision 23 says why this keeps every gate;
``tests/interaction/server/test_direct.py`` sends the same requests both ways and compares the
answers. It stands inside of the SDK's authentication and outside of its body limit.
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
    MCP_PARAM_HEADER_PREFIX,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundModernRoute,
    classify_inbound_request,
)
from mcp_types import SERVER_INFO_META_KEY, RequestParams
from pydantic import ValidationError
from starlette.requests import Request

from awhile.errors import StoreError
from awhile.server import audit
from awhile.server.at_once import AtOnce, response, send_json
from awhile.server.middleware import TasksMiddleware
from awhile.server.principal import caller, principal
from awhile.server.retries import remember_state
from awhile.telemetry import traces
from awhile.wire.v2026_07_28 import EXTENSION_ID, PROTOCOL_VERSION, write_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from awhile.server.calls import Calls
    from awhile.server.pace import Pace

METHOD, CALL = "tasks/get", "tools/call"

BODY_BYTES = 65_536
"""Of a plain request. A look's envelope takes some 300 bytes."""

ENVELOPE_CHARACTERS = 4096

REMEMBERED = 256
"""How many kinds of header and of envelope are known to be valid. They repeat: a client sends the
same with each look."""

_ROUTING = (MCP_PROTOCOL_VERSION_HEADER, MCP_METHOD_HEADER, MCP_NAME_HEADER)
_READ_BY_THE_SDK = ("host", "origin", "content-type", "accept")
_HEADERS = {name.encode(): name for name in (*_ROUTING, *_READ_BY_THE_SDK)}
_MEMBERS = {"jsonrpc", "id", "method", "params"}
_PARAMS = {METHOD: {"taskId", "_meta"}, CALL: {"name", "arguments", "_meta"}}
_NAMED = {METHOD: "taskId", CALL: "name"}
_PARAM_HEADER = MCP_PARAM_HEADER_PREFIX.lower().encode()


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
        self._at_once = AtOnce(manager.app, calls, json_only=manager.json_response)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        asked_for = await self._asked_for(scope) if scope["type"] == "http" else None
        if asked_for is None:
            await self.app(scope, receive, send)
            return
        read = [await receive()]

        async def again() -> Message:
            return read.pop() if read else await receive()

        request = self._plain(read[0], *asked_for)
        if request is not None and asked_for[0] == CALL:
            await self._at_once.answer(request, scope, again, send)
            return
        answer = await self._look(request) if request is not None else None
        if answer is None:
            await self.app(scope, again, send)
        else:
            await send_json(send, 200, answer)

    async def _asked_for(self, scope: Scope) -> tuple[str, str] | None:
        """The method and the name in the headers, if this is the way for them, and the SDK lets
        these headers pass."""
        if scope["method"] != "POST":
            return None
        found: dict[str, str] = {}
        for raw, value in cast("list[tuple[bytes, bytes]]", scope["headers"]):
            name = _HEADERS.get(raw)
            if name is not None:
                if name in found:  # which one counts is for the SDK to say
                    return None
                found[name] = value.decode("latin-1")
        method, name = found.get(MCP_METHOD_HEADER), found.get(MCP_NAME_HEADER)
        if name is None or found.get(MCP_PROTOCOL_VERSION_HEADER) != PROTOCOL_VERSION:
            return None
        if method == CALL:
            if not self._at_once.knows(name) or _has_param_headers(scope):
                return None
        elif method != METHOD or not self._all_is_usual():
            return None
        kind = tuple(found.get(name) for name in _READ_BY_THE_SDK)
        if kind not in self._valid_headers:
            request = Request(scope)
            if await self._security.validate_request(request, is_post=True) is not None:
                return None
            if check_accept_headers(request) != (True, True):
                return None
            _remember(self._valid_headers, kind)
        return method, name

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

    async def _look(self, request: Mapping[str, Any]) -> bytes | None:
        task_id: str = request["params"]["taskId"]
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
        return response(request["id"], result)

    def _plain(self, message: Message, method: str, name: str) -> Mapping[str, Any] | None:
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
            or asked["method"] != method
            or type(asked["id"]) not in (int, str)
            or not isinstance(params, dict)
            or cast("dict[str, Any]", params).keys() != _PARAMS[method]
            or params[_NAMED[method]] != name
            or (method == CALL and not isinstance(params["arguments"], dict))
        ):
            return None
        kind = repr(cast("object", params["_meta"]))
        if kind not in self._valid_meta:
            if len(kind) > ENVELOPE_CHARACTERS or not _declares_tasks(asked):
                return None
            _remember(self._valid_meta, kind)
        return asked


def _has_param_headers(scope: Scope) -> bool:
    """Whether values of arguments are in headers, too, which the SDK compares."""
    return any(raw.startswith(_PARAM_HEADER) for raw, _ in scope["headers"])


def _remember(known: set[Any], kind: object) -> None:
    if len(known) >= REMEMBERED:  # callers choose what they send: this may not grow with it
        known.clear()
    known.add(kind)


def _declares_tasks(request: Mapping[str, Any]) -> bool:
    """Whether the SDK takes the request's envelope, and tasks are among what it declares."""
    params, method = request["params"], request["method"]
    headers = {
        MCP_PROTOCOL_VERSION_HEADER: PROTOCOL_VERSION,
        MCP_METHOD_HEADER: method,
        MCP_NAME_HEADER: params[_NAMED[method]],
    }
    route = classify_inbound_request(request, headers=headers)
    if not isinstance(route, InboundModernRoute):
        return False
    try:
        RequestParams.model_validate({"_meta": params["_meta"]}, by_name=False)
    except ValidationError:
        return False
    declared = Connection.from_envelope(
        route.protocol_version, route.client_info, route.client_capabilities
    ).client_capabilities
    return bool(declared and declared.extensions and EXTENSION_ID in declared.extensions)
