"""An HTTP client under the SDK's transport that outlives a server which is down for a while.

The SDK's Streamable HTTP transport lets a transport error escape into its task group, which ends
the whole client: one refused poll and every handle of the connection is lost (`mcp` 2.3.0,
``StreamableHTTPTransport._run_request_post``). So each such error is answered here, in the
server's place, with a JSON-RPC error that concerns the one request only. A release of the SDK that
contains those errors itself removes the need.
"""

from __future__ import annotations

import json
import ssl
from functools import cache
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypedDict, cast

import httpx2
from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND

from awhile.errors import Unreachable
from awhile.identity.urls import through_proxies

if TYPE_CHECKING:
    from collections.abc import Mapping

CONNECT_SECONDS = 10.0
READ_SECONDS = 300.0
"""Between two bytes of an answer; a server that holds a stream open pings more often."""

UNSENT = "awhile/unsent"
"""In an error's ``data``: whether the request certainly never reached the server."""

SESSION_GONE = "awhile/session-gone"
"""In an error's ``data``: the server no longer has our session, so a new one has to be made."""

NOT_ALLOWED = "awhile/not-allowed"
"""In an error's ``data``: the HTTP status with which the server refused whoever asks."""

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
_TRY_LATER = frozenset({429, 502, 503, 504})
"""Answers of a gateway whose server is away, or of one that wants less; not verdicts on a task."""

_NOT_PASSED_ON = frozenset({429, 503})
"""Those of them that say so before the server has seen the request. A gateway answers 502 and 504
also when the server broke off, or took too long: it may be working."""

_NOT_ALLOWED = frozenset({401, 403})
"""Answers that stay the same however often one asks."""


class NotSent(Unreachable):
    """The request never left this side, so nothing at the server has changed."""


class SessionGone(NotSent):
    """The server refused the request unseen, for it has no such session (restarted, or evicted)."""


@cache
def _trusted() -> ssl.SSLContext:
    """Which certificates are trusted. Made once: each takes 15 ms and 0.9 MB (measured)."""
    return httpx2.create_ssl_context()


class Way(TypedDict):
    """How an address is reached: options of an ``httpx2.AsyncClient``."""

    verify: ssl.SSLContext
    trust_env: bool


def way_to(url: str) -> Way:
    """Which certificates are trusted there, and whether a proxy may be in between."""
    return {"verify": _trusted(), "trust_env": through_proxies(url)}


class HttpClient(httpx2.AsyncClient):
    """Turns "no answer" into an answer. ``answering`` False lets it raise, to fail a connect."""

    answering = False

    def __init__(
        self, url: str, headers: Mapping[str, str] | None = None, auth: httpx2.Auth | None = None
    ) -> None:
        """``url``: the endpoint that it is for."""
        super().__init__(
            headers=dict(headers or {}),
            auth=auth,
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
            **way_to(url),
        )

    async def send(
        self, request: httpx2.Request, *, stream: bool = False, **options: Any
    ) -> httpx2.Response:
        """Send as ever, but never raise a transport error once ``answering``."""
        try:
            response = await super().send(request, stream=stream, **options)
            if response.headers.get("content-type", "").lower().startswith("application/json"):
                await response.aread()  # the SDK would not survive a body that breaks off either
        except httpx2.TransportError as broken:
            why = str(broken) or type(broken).__name__
            return self._instead(request, why, unsent=isinstance(broken, _NEVER_SENT))
        if response.status_code == 404 and "mcp-session-id" in request.headers:
            await response.aclose()
            data = {UNSENT: True, SESSION_GONE: True}
            return _answer(request, CONNECTION_CLOSED, "the session is gone", data=data)
        if response.status_code in _TRY_LATER and not _is_rpc(response):
            await response.aclose()
            unsent = response.status_code in _NOT_PASSED_ON
            return self._instead(request, f"HTTP {response.status_code}", unsent=unsent)
        if response.status_code in _NOT_ALLOWED and not _is_rpc(response):
            await response.aclose()
            why = (
                f"The server refuses this caller (HTTP {response.status_code}). Check the headers "
                "given to connect(), such as 'Authorization'."
            )
            data = {NOT_ALLOWED: response.status_code}
            return _answer(request, INVALID_REQUEST, why, data=data)
        if not _is_mcp(response) and _asks(request):
            await response.aclose()
            return _no_message(request, response)
        return response

    def _instead(self, request: httpx2.Request, why: str, *, unsent: bool) -> httpx2.Response:
        if not self.answering:
            # While connecting, no call has been sent yet.
            raise unreachable(why, unsent=True, server=_address(request))
        return _answer(request, CONNECTION_CLOSED, why, data={UNSENT: unsent})


def _answer(
    request: httpx2.Request, code: int, message: str, *, data: dict[str, Any] | None = None
) -> httpx2.Response:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    body = {"jsonrpc": "2.0", "id": None, "error": error}
    return httpx2.Response(503, json=body, request=request)


def _no_message(request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
    """For what is no MCP message: an error under the code that the SDK has for it, saying more."""
    status, kind = response.status_code, response.headers.get("content-type", "no content type")
    code = INTERNAL_ERROR if response.is_error else INVALID_REQUEST
    why = (
        f"{_address(request)!r} answered with HTTP {status} ({kind}) and no MCP message. Check "
        "that this is the address of an MCP server's endpoint, or look into the server's log."
    )
    return _answer(request, METHOD_NOT_FOUND if status == HTTPStatus.NOT_FOUND else code, why)


def _is_mcp(response: httpx2.Response) -> bool:
    """Whether the SDK can make something of it: a message, a stream, nothing due, a redirect."""
    if response.is_error:
        return _is_rpc(response)
    kind = response.headers.get("content-type", "").lower()
    readable = kind.startswith(("application/json", "text/event-stream"))
    return readable or response.status_code == HTTPStatus.ACCEPTED or response.is_redirect


def _asks(request: httpx2.Request) -> bool:
    """Whether it is a JSON-RPC request, which has to be answered by a message."""
    if request.method != "POST":
        return False
    try:
        message: Any = json.loads(request.content)
    except ValueError:
        return False
    return isinstance(message, dict) and {"id", "method"} <= cast("dict[str, Any]", message).keys()


def _address(request: httpx2.Request) -> str:
    """Where it went, without user info or a query, which may be secret."""
    url = request.url
    return f"{url.scheme}://{url.netloc.decode()}{url.path}"


def _is_rpc(response: httpx2.Response) -> bool:
    if not response.is_stream_consumed:
        return False
    try:
        body: Any = response.json()
    except ValueError:
        return False
    return isinstance(body, dict) and "jsonrpc" in cast("dict[str, Any]", body)


def unreachable(why: str, *, unsent: bool, server: str) -> Unreachable:
    """The error for a request without an answer. ``server``: what it is called, no secret in it."""
    if unsent:
        return NotSent(
            f"The server at {server!r} cannot be reached ({why}), so the request was not sent; "
            "its tasks are unaffected. Check the address and that it is running, then try again."
        )
    return Unreachable(
        f"The server at {server!r} gave no answer ({why}). The request may or may not have reached "
        "it; its tasks run on. Look again by task id, or try again."
    )


__all__ = [
    "NOT_ALLOWED",
    "SESSION_GONE",
    "UNSENT",
    "HttpClient",
    "NotSent",
    "SessionGone",
    "Way",
    "unreachable",
    "way_to",
]
