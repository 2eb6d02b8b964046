"""A served MCPServer of ours on a free loopback port, and a bare 2026-07-28 client of it.

The client is plain HTTP, one POST a request, so that no client library can paper over an answer.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from socket import socket
from typing import Any

import anyio
import httpx2
import uvicorn
from mcp.server.mcpserver import MCPServer
from starlette.types import ASGIApp

from awhile.listening import listening_on
from awhile.server.http import http_app

REVISION = "2026-07-28"
VENDOR = "io.modelcontextprotocol"
TASKS = f"{VENDOR}/tasks"

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

Json = dict[str, Any]

PATIENCE_SECONDS = 10
"""How long anything here may take before the test fails."""

QUESTION: Json = {
    "method": "elicitation/create",
    "params": {"message": "Go on?", "requestedSchema": {"type": "object", "properties": {}}},
}
"""What a body asks by `Run.ask` where it does not matter what."""

ENDED = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True)
class Reply:
    """What came back on one POST: HTTP status, the JSON-RPC response, what came before it."""

    http: int
    message: Json
    notifications: list[Json] = field(default_factory=list[Json])

    @property
    def result(self) -> Json:
        """The result; fails the test if the answer is an error."""
        assert "result" in self.message, f"HTTP {self.http}: {self.message}"
        return self.message["result"]

    @property
    def error(self) -> Json:
        """The error; fails the test if the answer is a result."""
        assert "error" in self.message, f"HTTP {self.http}: {self.message}"
        return self.message["error"]

    @property
    def text(self) -> str:
        """The first text of a tool's result."""
        return self.result["content"][0]["text"]

    @property
    def progress(self) -> list[Json]:
        """The parameters of the progress notifications that came before the answer."""
        return [
            one["params"] for one in self.notifications if one["method"] == "notifications/progress"
        ]


class Peer:
    """A bare client. ``declares``: whether its requests declare the Tasks extension."""

    def __init__(self, url: str, http: httpx2.AsyncClient, *, declares: bool = True) -> None:
        self.url = url
        self.declares = declares
        self._http = http
        self._ids = itertools.count(1)

    def undeclared(self) -> Peer:
        """The same client without the Tasks extension."""
        return Peer(self.url, self._http, declares=False)

    def request(
        self,
        method: str,
        params: Json,
        *,
        name: str | None = None,
        meta: Json | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx2.Request:
        """One POST. ``name`` is the ``Mcp-Name`` header; "" leaves it out."""
        capabilities: Json = {"elicitation": {"form": {}}}
        if self.declares:
            capabilities["extensions"] = {TASKS: {}}
        stamped = {
            f"{VENDOR}/protocolVersion": REVISION,
            f"{VENDOR}/clientInfo": {"name": "peer", "version": "1"},
            f"{VENDOR}/clientCapabilities": capabilities,
            **(meta or {}),
        }
        body = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": {**params, "_meta": stamped},
        }
        sent = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": REVISION,
            "mcp-method": method,
            **(headers or {}),
        }
        if name is None:
            name = params.get("taskId") or params.get("name")
        if name:
            sent["mcp-name"] = name
        # Python's own writer, which also writes what strict JSON lacks (NaN, half a character).
        content = json.dumps(body)
        return self._http.build_request("POST", self.url, content=content, headers=sent)

    async def ask(self, method: str, params: Json, **how: Any) -> Reply:
        """Send one request and read its answer to the end."""
        request = self.request(method, params, **how)
        before: list[Json] = []
        async with self.opened(request) as (http, messages):
            async for message in messages:
                if "id" in message and "method" not in message:
                    after = [one async for one in messages]
                    assert after == [], "nothing may follow the answer"
                    return Reply(http, message, before)
                before.append(message)
        raise AssertionError(f"HTTP {http} without an answer; only {before}")

    @asynccontextmanager
    async def opened(
        self, request: httpx2.Request
    ) -> AsyncGenerator[tuple[int, AsyncIterator[Json]]]:
        """The messages of one response as they come; leaving the block closes the connection."""
        response = await self._http.send(request, stream=True)
        try:
            yield response.status_code, messages_of(response)
        finally:
            await response.aclose()

    async def call(self, tool: str, *, meta: Json | None = None, **arguments: Any) -> Reply:
        """One ``tools/call``."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments}, meta=meta)

    async def start(self, tool: str, **arguments: Any) -> str:
        """Call a tool that becomes a task; its id."""
        reply = await self.call(tool, **arguments)
        assert reply.result.get("resultType") == "task", f"no task: {reply.message}"
        return reply.result["taskId"]

    async def get(self, task_id: str) -> Json:
        """The task as ``tasks/get`` shows it now."""
        return (await self.ask("tasks/get", {"taskId": task_id})).result

    async def cancel(self, task_id: str) -> Json:
        """Ask for the task to be stopped; the acknowledgement."""
        return (await self.ask("tasks/cancel", {"taskId": task_id})).result

    async def update(self, task_id: str, responses: Json) -> Reply:
        """Answer some of a task's questions."""
        return await self.ask("tasks/update", {"taskId": task_id, "inputResponses": responses})

    async def until(self, task_id: str, happened: Callable[[Json], bool]) -> Json:
        """Poll until ``happened``; the task then."""
        task: Json = {}
        with anyio.move_on_after(PATIENCE_SECONDS):
            while not happened(task := await self.get(task_id)):  # noqa: ASYNC110 - in the server
                await anyio.sleep(0.005)
            return task
        raise AssertionError(f"still not so after {PATIENCE_SECONDS} s: {task}")

    async def ended(self, task_id: str) -> Json:
        """Poll until the task has ended; the task then."""
        return await self.until(task_id, lambda task: task["status"] in ENDED)


def accepted(**content: Any) -> Json:
    """An ``ElicitResult`` that accepts."""
    return {"action": "accept", "content": content}


def run_facts(task: Json) -> Json:
    """What our servers say beside the Tasks extension, in ``_meta``."""
    return task["_meta"]["awhile/run"]


def coroutines() -> int:
    """How many tasks the event loop has, but for the one with which sse_starlette watches for the
    process's end: it begins with a loop's first stream, and stays."""
    names = (getattr(one.coro, "__qualname__", "") for one in anyio.get_running_tasks())
    return sum(name != "_shutdown_watcher" for name in names)


async def until(happened: Callable[[], bool], what: str) -> None:
    """Wait until ``happened``, for a bounded time."""
    with anyio.move_on_after(PATIENCE_SECONDS):
        while not happened():  # noqa: ASYNC110 - the condition may be set by another process
            await anyio.sleep(0.002)
        return
    raise AssertionError(f"not within {PATIENCE_SECONDS} s: {what}")


def serving(server: MCPServer[Any], **options: Any) -> AbstractAsyncContextManager[Peer]:
    """Serve over Streamable HTTP in this event loop; yields a client that declares tasks.

    ``options`` are those of `http_app`.
    """
    return serving_app(http_app(server, **options), "/mcp")


@asynccontextmanager
async def serving_app(app: ASGIApp, path: str) -> AsyncGenerator[Peer]:
    """Serve an app in this event loop; yields a client, of its endpoint at ``path``."""
    with listening_on("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        http = _Server(config)
        with anyio.fail_after(6 * PATIENCE_SECONDS):
            async with anyio.create_task_group() as group:
                group.start_soon(_serve, http, listening)
                await http.ready.wait()
                assert http.started, "the server's lifespan did not start; see the log"
                try:
                    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as client:
                        yield Peer(f"http://127.0.0.1:{port}{path}", client)
                finally:
                    http.should_exit = True


async def _serve(http: _Server, listening: socket) -> None:
    try:
        with anyio.CancelScope(shield=True):  # a failing test, too, lets it end in order
            await http.serve(sockets=[listening])
    finally:
        http.ready.set()


class _Server(uvicorn.Server):
    """A uvicorn server whose start can be waited for, and which leaves this process's signals."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = anyio.Event()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


async def messages_of(response: httpx2.Response) -> AsyncIterator[Json]:
    """The messages of one response, as they come."""
    if "event-stream" in response.headers.get("content-type", ""):
        async for line in response.aiter_lines():
            if line.startswith("data:") and line[5:].strip():
                yield json.loads(line[5:])
    elif body := await response.aread():
        yield json.loads(body)
