"""Plain looks answered directly: the same answers as the SDK's, at every gate and any mixture."""

from __future__ import annotations

import json
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from opentelemetry import trace
from starlette.types import Receive, Scope, Send

from awhile import Run
from awhile.server.direct import Direct
from awhile.server.http import http_app
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import REVISION, TASKS, VENDOR, Json, Peer, serving_app
from tests.interaction.server.test_owners import Shared

pytestmark = pytest.mark.anyio

CAPABILITIES: Json = {"extensions": {TASKS: {}}}

META: Json = {
    f"{VENDOR}/protocolVersion": REVISION,
    f"{VENDOR}/clientInfo": {"name": "peer", "version": "1"},
    f"{VENDOR}/clientCapabilities": CAPABILITIES,
}

UNKNOWN = "0" * 32

MIXTURES = 120

POLL = re.compile(rb'"pollIntervalMs":[0-9]+')
"""Grows with the task's age."""


@pytest.fixture(autouse=True)
def untraced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests of this process may have set a tracer provider, once for all."""
    monkeypatch.setattr(trace, "get_tracer_provider", trace.ProxyTracerProvider)


@dataclass
class Ways:
    """One served endpoint, with the direct way open or closed."""

    peer: Peer
    direct: Direct
    manager: Any
    http: httpx2.AsyncClient
    handed_on: int = 0

    async def ended(self, count: int) -> list[str]:
        """So many tasks that have ended."""
        tasks = [await self.peer.start("done", n=n) for n in range(count)]
        for task_id in tasks:
            await self.peer.ended(task_id)
        return tasks

    async def both(self, asked: Asked) -> tuple[httpx2.Response, bool]:
        """The answer of both ways, which is the same; and whether the direct way gave one."""
        self.manager.asgi_app = self.direct.app
        by_the_sdk = await asked.sent(self.http, self.peer.url)
        self.manager.asgi_app = self.direct
        before = self.handed_on
        directly = await asked.sent(self.http, self.peer.url)
        assert shown(directly) == shown(by_the_sdk), asked
        return directly, self.handed_on == before


@dataclass
class Asked:
    """A request: what differs from a plain look at a task."""

    task_id: str
    headers: Mapping[str, str | None] | None = None
    more_headers: tuple[tuple[str, str], ...] = ()
    body: Callable[[Json], object] | None = None
    raw: bytes | None = None
    method: str = "POST"

    async def sent(self, http: httpx2.AsyncClient, url: str) -> httpx2.Response:
        """Send it."""
        plain: Json = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tasks/get",
            "params": {"taskId": self.task_id, "_meta": dict(META)},
        }
        changed = self.body(plain) if self.body else plain
        content = self.raw if self.raw is not None else json.dumps(changed or plain).encode()
        wanted: dict[str, str | None] = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": REVISION,
            "mcp-method": "tasks/get",
            "mcp-name": self.task_id,
            **(self.headers or {}),
        }
        headers = [(name, value) for name, value in wanted.items() if value is not None]
        return await http.request(
            self.method, url, content=content, headers=[*headers, *self.more_headers]
        )


def shown(answer: httpx2.Response) -> tuple[int, dict[str, str], bytes]:
    """All that a client sees, but for the clock's."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, headers, POLL.sub(b'"pollIntervalMs":0', answer.content)


@asynccontextmanager
async def two_ways(mcp: MCPServer[Any]) -> AsyncGenerator[Ways]:
    """The server, its direct way found where `http_app` put it."""
    app = http_app(mcp)
    manager: Any = mcp.session_manager
    direct = manager.asgi_app
    assert isinstance(direct, Direct)
    async with serving_app(app, "/mcp") as peer, httpx2.AsyncClient(timeout=10) as http:
        ways = Ways(peer, direct, manager, http)
        sdk = direct.app

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            ways.handed_on += 1
            await sdk(scope, receive, send)

        direct.app = counted
        yield ways


def with_tools(app: App) -> App:
    """Tools whose tasks are in every state that a look shows differently."""

    @app.tool(inline_seconds=0)
    async def work(run: Run) -> str:
        run.report(1, 3, "half a \N{SNOWMAN}")
        await anyio.sleep_forever()
        raise AssertionError

    @app.tool(inline_seconds=0)
    async def done(n: int) -> list[int]:
        return [n]

    @app.tool(inline_seconds=0)
    async def broken() -> None:
        raise OSError("cannot read caf\udce9.csv")

    @app.tool(inline_seconds=0)
    async def asks(run: Run) -> str:
        await run.ask({"method": "elicitation/create", "params": {"message": "?"}})
        return "answered"

    return app


def envelope(**changes: Any) -> Callable[[Json], object]:
    """The same request with another ``_meta``; None leaves a member out."""

    def change(request: Json) -> object:
        meta = {**META, **{name.replace("__", "/"): value for name, value in changes.items()}}
        request["params"]["_meta"] = {k: v for k, v in meta.items() if v is not None}
        return request

    return change


def member(name: str, value: object) -> Callable[[Json], object]:
    """The same request with another top-level member."""
    return lambda request: {**request, name: value}


def parameter(name: str, value: object) -> Callable[[Json], object]:
    """The same request with another parameter."""
    return lambda request: {**request, "params": {**request["params"], name: value}}


def batched(request: Json) -> object:
    """The same request in a batch."""
    return [request]


def without_id(request: Json) -> object:
    """The same as a notification."""
    return {name: value for name, value in request.items() if name != "id"}


def somebody(_ctx: ServerRequestContext[Any, Any]) -> str:
    """An author's own way to know a caller."""
    return "somebody"


CAPS, INFO, SAYS = (
    f"{VENDOR}/clientCapabilities",
    f"{VENDOR}/clientInfo",
    f"{VENDOR}/protocolVersion",
)

PLAIN: Mapping[str, Json] = {
    "plain": {},
    "the id is text": {"body": member("id", "a-\N{SNOWMAN}")},
    "the id is big": {"body": member("id", 2**60)},
    "a progress token": {"body": envelope(progressToken=7)},
    "a trace that nobody records": {"body": envelope(traceparent=f"00-{'a' * 32}-{'b' * 16}-01")},
    "no client information": {"body": envelope(**{INFO: None})},
    "client information that is none": {"body": envelope(**{INFO: 3})},
    "any answer will do": {"headers": {"accept": "*/*"}},
    "a charset": {"headers": {"content-type": "application/json; charset=utf-8"}},
}

NOT_PLAIN: Mapping[str, Json] = {
    "another method of HTTP": {"method": "PUT"},
    "no name": {"headers": {"mcp-name": None}},
    "another name": {"headers": {"mcp-name": UNKNOWN}},
    "no method header": {"headers": {"mcp-method": None}},
    "another method header": {"headers": {"mcp-method": "tasks/cancel"}},
    "an unknown version": {"headers": {"mcp-protocol-version": "2027-01-01"}},
    "two names": {"more_headers": (("mcp-name", UNKNOWN),)},
    "two methods": {"more_headers": (("mcp-method", "tasks/get"),)},
    "two versions": {"more_headers": (("mcp-protocol-version", REVISION),)},
    "a foreign origin": {"headers": {"origin": "https://evil.example"}},
    "a foreign host": {"headers": {"host": "evil.example"}},
    "no JSON said": {"headers": {"content-type": "text/plain"}},
    "no stream taken": {"headers": {"accept": "application/json"}},
    "no JSON taken": {"headers": {"accept": "text/event-stream"}},
    "no JSON": {"raw": b"{"},
    "no text": {"raw": b"\xff\xfe"},
    "nothing": {"raw": b""},
    "a number": {"raw": b"7"},
    "too deep": {"raw": b"[" * 3000 + b"]" * 3000},
    "too big": {"body": envelope(padding="x" * 5000)},
    "a batch": {"body": batched},
    "another JSON-RPC": {"body": member("jsonrpc", "1.0")},
    "no id": {"body": without_id},
    "the id is null": {"body": member("id", None)},
    "the id is true": {"body": member("id", True)},
    "the id is broken": {"body": member("id", 1.5)},
    "one member more": {"body": member("extra", 1)},
    "another method": {"body": member("method", "tasks/cancel")},
    "parameters as a list": {"body": member("params", [])},
    "one parameter more": {"body": parameter("extra", 1)},
    "an id that is a number": {"body": parameter("taskId", 5)},
    "another id": {"body": parameter("taskId", UNKNOWN)},
    "no envelope": {"body": parameter("_meta", None)},
    "an envelope that is text": {"body": parameter("_meta", "x")},
    "no version": {"body": envelope(**{SAYS: None})},
    "another version": {"body": envelope(**{SAYS: "2025-11-25"})},
    "nothing declared": {"body": envelope(**{CAPS: None})},
    "tasks not declared": {"body": envelope(**{CAPS: {}})},
    "capabilities that are none": {"body": envelope(**{CAPS: 3})},
    "extensions that are none": {"body": envelope(**{CAPS: {"extensions": [TASKS]}})},
    "a token that is none": {"body": envelope(progressToken=[1])},
}


async def test_a_plain_look_is_answered_directly_and_as_the_sdk_would(app: App) -> None:
    """Ours: whatever a client may vary in a valid request."""
    async with two_ways(with_tools(app).mcp) as ways:
        (task_id,) = await ways.ended(1)
        for words, changes in PLAIN.items():
            answer, directly = await ways.both(Asked(task_id, **changes))
            assert (answer.status_code, directly) == (200, True), words


async def test_everything_else_is_handed_to_the_sdk(app: App) -> None:
    """Ours: each gate, by itself."""
    async with two_ways(with_tools(app).mcp) as ways:
        tasks = await ways.ended(5)
        for number, (words, changes) in enumerate(NOT_PLAIN.items()):
            _, directly = await ways.both(Asked(tasks[number % len(tasks)], **changes))
            assert not directly, words
        answer, directly = await ways.both(Asked(UNKNOWN))
        assert (answer.status_code, directly) == (400, False)


async def test_any_mixture_of_differences_is_answered_alike(app: App) -> None:
    """Ours: of one kind each; the mixtures are drawn, always the same ones."""
    draw = random.Random(7)
    kinds = {**PLAIN, **NOT_PLAIN}
    names = sorted({name for one in kinds.values() for name in one})
    values = {name: [one[name] for one in kinds.values() if name in one] for name in names}
    async with two_ways(with_tools(app).mcp) as ways:
        tasks = await ways.ended(10)  # most mixtures name none, or are refused before
        for number in range(MIXTURES):
            taken = [name for name in names if draw.random() < 0.4]
            changes = {name: draw.choice(values[name]) for name in taken}
            await ways.both(Asked(tasks[number % len(tasks)], **changes))


@pytest.mark.parametrize("tool", ["work", "done", "broken", "asks"])
async def test_a_task_in_any_state_is_shown_alike(app: App, tool: str) -> None:
    """Ours."""
    async with two_ways(with_tools(app).mcp) as ways:
        arguments = {"n": 3} if tool == "done" else {}
        task_id = await ways.peer.start(tool, **arguments)
        settled = {"work": "statusMessage", "asks": "inputRequests"}
        told = settled.get(tool)
        await ways.peer.until(
            task_id,
            lambda task: (
                task["status"] in ("completed", "failed")
                or task.get(told or "") not in (None, "Started.")
            ),
        )
        _, directly = await ways.both(Asked(task_id))
        assert directly
        await ways.peer.cancel(task_id)
        await ways.peer.ended(task_id)
        _, directly = await ways.both(Asked(task_id))
        assert directly


async def test_a_look_is_its_owners_alone(tmp_path: Path) -> None:
    """Ours: past the SDK's authentication, whatever the way."""
    shared = Shared(tmp_path / "tasks.db")
    async with two_ways(shared.mcp) as ways:
        ada = {"authorization": "Bearer ada-at-home"}
        made = await ways.peer.ask(
            "tools/call", {"name": "wait", "arguments": {}}, name="wait", headers=ada
        )
        task_id = made.result["taskId"]
        answer, directly = await ways.both(Asked(task_id, headers=ada))
        assert (answer.status_code, directly) == (200, True)
        answer, directly = await ways.both(Asked(task_id, headers={"authorization": "Bearer eve"}))
        assert (answer.status_code, directly) == (400, False)
        answer, _ = await ways.both(Asked(task_id, headers={"authorization": "Bearer nobody"}))
        assert answer.status_code == 401
        answer, _ = await ways.both(Asked(task_id))
        assert answer.status_code == 401
        shared.go.set()


async def test_middleware_of_the_author_sees_every_look(tmp_path: Path) -> None:
    """Ours: whoever put something between the endpoint and the tasks still has it there."""
    seen: list[str] = []

    async def nosy(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        seen.append(ctx.method)
        return await call_next(ctx)

    app = with_tools(App(tmp_path / "tasks.db", install={"middleware": [nosy]}))
    async with two_ways(app.mcp) as ways:
        (task_id,) = await ways.ended(1)
        seen.clear()
        _, directly = await ways.both(Asked(task_id))
        assert not directly
    assert seen == ["tasks/get", "tasks/get"]


async def test_a_caller_known_otherwise_is_asked_for_otherwise(tmp_path: Path) -> None:
    """Ours: a principal of the author's own may read all of the request."""
    app = with_tools(App(tmp_path / "tasks.db", principal=somebody))
    async with two_ways(app.mcp) as ways:
        (task_id,) = await ways.ended(1)
        _, directly = await ways.both(Asked(task_id))
        assert not directly


async def test_a_look_that_is_traced_has_its_span(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: with a tracer provider, the SDK's own span is not lost."""
    async with two_ways(with_tools(app).mcp) as ways:
        (task_id,) = await ways.ended(1)
        monkeypatch.setattr(trace, "get_tracer_provider", trace.NoOpTracerProvider)
        _, directly = await ways.both(Asked(task_id))
        assert not directly


async def test_polls_without_a_pause_are_slowed_on_either_way(app: App) -> None:
    """Ours: what has to be held back is handed on, and counted once."""
    async with two_ways(with_tools(app).mcp) as ways:
        task_id = await ways.peer.start("work")
        before, began = ways.handed_on, anyio.current_time()
        for _ in range(30):
            await ways.peer.get(task_id)
        took = anyio.current_time() - began
        await ways.peer.cancel(task_id)
        await ways.peer.ended(task_id)
    assert ways.handed_on > before
    assert took > 0.4
