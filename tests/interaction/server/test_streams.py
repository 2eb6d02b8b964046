"""Streams that stay alive: a first byte early, comments while quiet, and no answer torn apart."""

from __future__ import annotations

import json
import re
import time
from itertools import pairwise

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from awhile import Run
from awhile.errors import SettingsError
from awhile.server.http import http_app
from awhile.server.stream import FIRST_BYTE_SECONDS, KeptAlive
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    Json,
    Peer,
)

pytestmark = pytest.mark.anyio


class Raw:
    """One answer, byte for byte, with the time each piece came."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: httpx2.Headers = httpx2.Headers()
        self.pieces: list[tuple[float, bytes]] = []
        self.first_byte = anyio.Event()

    async def read(self, peer: Peer, request: httpx2.Request) -> None:
        """Read it to its end."""
        began = time.monotonic()
        async with httpx2.AsyncClient(timeout=10) as http:
            response = await http.send(request, stream=True)
            self.status, self.headers = response.status_code, response.headers
            async for piece in response.aiter_bytes():
                self.pieces.append((time.monotonic() - began, piece))
                self.first_byte.set()
            await response.aclose()

    @property
    def body(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)

    @property
    def messages(self) -> list[Json]:
        """The JSON of each event; fails if the stream has anything but events and comments."""
        found: list[Json] = []
        for frame in filter(None, re.split(r"\r\n\r\n", self.body.decode())):
            lines = frame.split("\r\n")
            data = "".join(line[5:] for line in lines if line.startswith("data:"))
            assert data or all(line.startswith(":") for line in lines), frame
            if data:
                found.append(json.loads(data))
        return found


def quiet(app: App) -> anyio.Event:
    """A tool that says nothing until it is let go."""
    go = anyio.Event()

    @app.tool(inline_seconds=60)
    async def quiet() -> str:
        await go.wait()
        return "done"

    return go


async def test_C2_a_quiet_call_gives_its_first_byte_within_a_second(app: App) -> None:
    """Ours: field case C2: a proxy that sees nothing gives up."""
    go, raw = quiet(app), Raw()
    async with app.serving() as peer, anyio.create_task_group() as group:
        group.start_soon(raw.read, peer, peer.request("tools/call", {"name": "quiet"}))
        assert FIRST_BYTE_SECONDS < 0.6, "what is left of the second is for the way"
        with anyio.fail_after(FIRST_BYTE_SECONDS + 1.5):
            await raw.first_byte.wait()
        assert raw.status == 200
        assert raw.headers["content-type"] == "text/event-stream"
        assert raw.headers["x-accel-buffering"] == "no"
        assert "no-cache" in raw.headers["cache-control"]
        go.set()
    [answer] = raw.messages
    assert answer["result"]["content"][0]["text"] == "done"


@pytest.mark.parametrize("accept", ["*/*", "application/json, text/*", "Text/Event-Stream;q=0.9"])
async def test_C2_so_it_does_for_whatever_accepts_a_stream(app: App, accept: str) -> None:
    """Ours: what the SDK takes for a client of streams (RFC 9110, 12.5.1) gets one in time."""
    go, raw = quiet(app), Raw()
    async with app.serving() as peer, anyio.create_task_group() as group:
        headers = {"accept": f"application/json, {accept}"}
        request = peer.request("tools/call", {"name": "quiet"}, headers=headers)
        group.start_soon(raw.read, peer, request)
        with anyio.fail_after(FIRST_BYTE_SECONDS + 1.5):
            await raw.first_byte.wait()
        assert raw.headers["content-type"] == "text/event-stream"
        go.set()
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_C1_a_quiet_stream_carries_a_comment_in_every_interval(app: App) -> None:
    """Ours: field case C1: idle streams are cut."""
    go, raw = quiet(app), Raw()
    async with app.serving(keepalive_seconds=0.2) as peer, anyio.create_task_group() as group:
        group.start_soon(raw.read, peer, peer.request("tools/call", {"name": "quiet"}))
        with anyio.fail_after(5):
            while raw.body.count(b":\r\n\r\n") < 5:  # noqa: ASYNC110 - filled by the reader
                await anyio.sleep(0.01)
        go.set()
    comments = [at for at, piece in raw.pieces if piece == b":\r\n\r\n"]
    assert max(later - at for at, later in pairwise(comments)) < 1
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_a_listen_stream_is_kept_alive_too(app: App) -> None:
    """Spec: streamable-http: comments on listen streams are encouraged."""
    go = quiet(app)
    async with app.serving(keepalive_seconds=0.1) as peer:
        request = peer.request("subscriptions/listen", {"notifications": {"taskIds": []}})
        response = await httpx2.AsyncClient().send(request, stream=True)
        comments = 0
        with anyio.fail_after(5):
            async for line in response.aiter_lines():
                comments += line.startswith(":")
                if comments == 3:
                    break
        await response.aclose()
        go.set()


async def test_an_answer_in_time_is_plain_json(app: App) -> None:
    """Ours: nothing is committed early, and nothing is added to a JSON answer."""

    @app.tool(inline_seconds=60)
    async def work() -> str:
        return "done"

    async with app.serving(keepalive_seconds=0.1) as peer:
        raw = Raw()
        await raw.read(peer, peer.request("tools/call", {"name": "work"}))
    assert raw.headers["content-type"] == "application/json"
    assert json.loads(raw.body)["result"]["content"][0]["text"] == "done"
    assert int(raw.headers["content-length"]) == len(raw.body)


async def test_refusals_keep_their_http_status(app: App) -> None:
    """Spec: 2026-07-28: -32020, -32021 and -32602 come with HTTP 400, unknown methods with 404."""

    @app.tool(task_support="required")
    async def long_job() -> str:
        raise AssertionError

    async with app.serving(keepalive_seconds=0.1) as peer:
        mismatch = await peer.ask("tasks/get", {"taskId": "x"}, name="y")
        undeclared = await peer.undeclared().call("long_job")
        unknown = await peer.ask("tasks/get", {"taskId": "x"})
        no_method = await peer.ask("no/such", {})
    assert [(one.http, one.error["code"]) for one in (mismatch, undeclared, unknown)] == [
        (400, HEADER_MISMATCH),
        (400, MISSING_CAPABILITY),
        (400, INVALID_PARAMS),
    ]
    assert no_method.http == 404


async def test_an_error_after_the_stream_was_committed_is_its_last_event(app: App) -> None:
    """Ours: the status has gone out, so the JSON-RPC error says it alone."""

    @app.tool(inline_seconds=60)
    async def work() -> str:
        await anyio.sleep(0.3)
        raise MCPError(code=-32050, message="no such luck")

    async with app.serving(keepalive_seconds=0.1) as peer:
        raw = Raw()
        await raw.read(peer, peer.request("tools/call", {"name": "work"}))
    assert raw.status == 200
    assert raw.headers["content-type"] == "text/event-stream"
    [answer] = raw.messages
    assert answer["error"] == {"code": -32050, "message": "no such luck"}


async def test_a_request_that_is_slow_to_arrive_is_not_answered_before_it_has(app: App) -> None:
    """Ours: the clock starts when the whole request is there; its gates come first."""

    @app.tool()
    async def work() -> str:
        return "done"

    async with app.serving(keepalive_seconds=0.1) as peer:
        request = peer.request("tools/call", {"name": "work"})
        body = request.content
        [host, port] = peer.url.split("/")[2].split(":")
        stream = await anyio.connect_tcp(host, int(port))
        async with stream:
            head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
            await stream.send(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body[:20])
            with anyio.move_on_after(0.5) as waited:
                await stream.receive()
            assert waited.cancelled_caught, "answered before the request was complete"
            await stream.send(body[20:])
            answer = await stream.receive()
    assert b"application/json" in answer


async def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_error() -> None:
    """Ours: each left a page of traceback in the server's log."""
    sent: list[Message] = []
    coming: list[Message] = [
        {"type": "http.request", "body": b'{"jsonrpc"', "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def reads(scope: Scope, receive: Receive, send: Send) -> None:
        await Request(scope, receive).body()

    async def receive() -> Message:
        return coming.pop(0)

    async def send(message: Message) -> None:
        sent.append(message)

    await KeptAlive(reads)({"type": "http", "method": "POST", "headers": []}, receive, send)
    assert (sent, coming) == ([], [])


async def test_a_stream_of_reports_is_not_torn_apart_by_comments(app: App) -> None:
    """Ours: comments go between events, whatever the interval."""

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        for number in range(15):
            run.report(number, None, f"row {number} " * 2000)
            await anyio.sleep(0.1)
        return "done"

    async with app.serving(keepalive_seconds=0.1) as peer:
        request = peer.request("tools/call", {"name": "work"}, meta={"progressToken": 1})
        raw = Raw()
        await raw.read(peer, request)
    told = [one["params"]["progress"] for one in raw.messages[:-1]]
    assert told == sorted(set(told))
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


async def test_a_long_answer_after_the_commit_comes_whole(app: App) -> None:
    """Ours: one event, whatever its size."""

    @app.tool(inline_seconds=60)
    async def work() -> str:
        await anyio.sleep(0.3)
        return "x" * 200_000

    async with app.serving(keepalive_seconds=0.1) as peer:
        raw = Raw()
        await raw.read(peer, peer.request("tools/call", {"name": "work"}))
    assert raw.messages[-1]["result"]["content"][0]["text"] == "x" * 200_000


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf")])
def test_an_interval_that_cannot_work_is_refused(seconds: float) -> None:
    """Ours: at construction, with the value."""
    with pytest.raises(SettingsError, match="keepalive_seconds"):
        http_app(MCPServer("bare", log_level="WARNING"), keepalive_seconds=seconds)


async def test_a_long_tool_refuses_json_responses_when_serving_starts(app: App) -> None:
    """Ours: the SDK sees no disconnect there, and drops progress."""
    quiet(app)
    app.mcp.streamable_http_app(json_response=True)
    with pytest.raises(SettingsError, match="json_response"):
        async with app.mcp.session_manager.run():
            pass


async def test_a_tool_that_is_always_a_task_needs_no_stream(app: App) -> None:
    """Ours: nobody waits for its body on a stream."""

    @app.tool(task_support="required")
    async def long_job() -> str:
        return "done"

    async with app.serving(json_response=True) as peer:
        task_id = await peer.start("long_job")
        assert (await peer.ended(task_id))["status"] == "completed"
