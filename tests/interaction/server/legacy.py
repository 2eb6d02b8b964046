"""A bare client of the eras before 2026-07-28, over HTTP with or without a session."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2

from tests.interaction.server.conftest import App
from tests.interaction.server.peer import (
    ENDED,
    PATIENCE_SECONDS,
    Json,
    Reply,
    messages_of,
)

LEGACY = "2025-11-25"
RELATED = "io.modelcontextprotocol/related-task"
IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"
METHOD_NOT_FOUND = -32601

OnRequest = Callable[[Json], Awaitable[Json | None]]
"""Answers a request of the server: ``{"result": …}`` or ``{"error": …}``; None: not at all."""

CAN: Json = {"elicitation": {"form": {}}, "sampling": {}}


async def says_nothing(_request: Json) -> None:
    """Leaves every question unanswered."""


class Legacy:
    """One client. ``news``: what came on the session's own stream."""

    def __init__(self, url: str, http: httpx2.AsyncClient, *, version: str = LEGACY) -> None:
        self.url = url
        self.version = version
        self.http = http
        self.news: list[Json] = []
        self.asked: list[Json] = []
        self.on_request: OnRequest = says_nothing
        self.headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
        }
        self.capabilities: Json = {}
        self._ids = itertools.count(1)

    async def opened(self, can: Json | None = None) -> Legacy:
        """The same client after the handshake; ``capabilities`` are then the server's."""
        params: Json = {
            "protocolVersion": self.version,
            "capabilities": CAN if can is None else can,
            "clientInfo": {"name": "legacy", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": "init", "method": "initialize", "params": params}
        response = await self.http.post(self.url, json=body, headers=self.headers)
        assert response.status_code == 200, response.text
        [answer] = [one async for one in messages_of(response)]
        self.capabilities = answer["result"]["capabilities"]
        assert answer["result"]["protocolVersion"] == self.version
        self.headers["mcp-protocol-version"] = self.version
        if session := response.headers.get("mcp-session-id"):
            self.headers["mcp-session-id"] = session
        await self.post({"method": "notifications/initialized"})
        return self

    async def post(self, message: Json) -> None:
        """Send a notification or a response."""
        body = {"jsonrpc": "2.0", **message}
        response = await self.http.post(self.url, json=body, headers=self.headers)
        assert response.status_code == 202, response.text

    def request(self, method: str, params: Json, token: object = None) -> httpx2.Request:
        """One request; ``token`` is its progress token."""
        meta: Json = {} if token is None else {"_meta": {"progressToken": token}}
        body = {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": {**params, **meta},
        }
        return self.http.build_request("POST", self.url, json=body, headers=self.headers)

    async def ask(self, method: str, params: Json, token: object = None) -> Reply:
        """Send one request; its answer, with what came before it on its stream."""
        before: list[Json] = []
        response = await self.http.send(self.request(method, params, token), stream=True)
        try:
            async with anyio.create_task_group() as answering:
                async for message in messages_of(response):
                    if "method" not in message:
                        answering.cancel_scope.cancel()
                        return Reply(response.status_code, message, before)
                    if "id" in message:
                        self.asked.append(message)
                        answering.start_soon(self._answer, message)
                    else:
                        before.append(message)
        finally:
            await response.aclose()
        raise AssertionError(f"HTTP {response.status_code} without an answer; only {before}")

    async def _answer(self, message: Json) -> None:
        answer = await self.on_request(message)
        if answer is not None:
            await self.post({"id": message["id"], **answer})

    async def call(self, tool: str, token: object = None, **arguments: Any) -> Reply:
        """A plain ``tools/call``."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments}, token)

    async def create(
        self, tool: str, token: object = None, ttl: int | None = None, **arguments: Any
    ) -> Json:
        """A ``tools/call`` that becomes a task; the whole ``CreateTaskResult``."""
        task = {} if ttl is None else {"ttl": ttl}
        params = {"name": tool, "arguments": arguments, "task": task}
        return (await self.ask("tools/call", params, token)).result

    async def start(self, tool: str, token: object = None, **arguments: Any) -> str:
        """The id of a new task."""
        return (await self.create(tool, token, **arguments))["task"]["taskId"]

    async def get(self, task_id: str) -> Json:
        """The task as ``tasks/get`` shows it now."""
        return (await self.ask("tasks/get", {"taskId": task_id})).result

    async def result(self, task_id: str) -> Reply:
        """What ``tasks/result`` answers, once it does."""
        return await self.ask("tasks/result", {"taskId": task_id})

    async def cancel(self, task_id: str) -> Reply:
        """What ``tasks/cancel`` answers."""
        return await self.ask("tasks/cancel", {"taskId": task_id})

    async def until(self, task_id: str, happened: Callable[[Json], bool]) -> Json:
        """Poll until ``happened``; the task then."""
        with anyio.fail_after(PATIENCE_SECONDS):
            while not happened(task := await self.get(task_id)):  # noqa: ASYNC110 - in the server
                await anyio.sleep(0.005)
        return task

    async def ended(self, task_id: str) -> Json:
        """Poll until the task has ended; the task then."""
        return await self.until(task_id, lambda task: task["status"] in ENDED)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[Legacy]:
        """Read the session's own stream into ``news`` while the block runs."""
        headers = {**self.headers, "accept": "text/event-stream"}
        request = self.http.build_request("GET", self.url, headers=headers)
        response = await self.http.send(request, stream=True)
        assert response.status_code == 200
        async with anyio.create_task_group() as reading:
            reading.start_soon(self._read, response)
            yield self
            reading.cancel_scope.cancel()

    async def _read(self, response: httpx2.Response) -> None:
        try:
            async with anyio.create_task_group() as answering:
                async for message in messages_of(response):
                    if "id" in message:
                        self.asked.append(message)
                        answering.start_soon(self._answer, message)
                    else:
                        self.news.append(message)
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    def told(self, method: str) -> list[Json]:
        """The parameters of what came on the session's own stream."""
        return [one["params"] for one in self.news if one["method"] == method]

    async def leave(self) -> None:
        """End the session."""
        await self.http.request("DELETE", self.url, headers=self.headers)


@asynccontextmanager
async def served(
    app: App, *, version: str = LEGACY, can: Json | None = None, **options: Any
) -> AsyncGenerator[Legacy]:
    """A legacy client of the served app, after its handshake."""
    async with app.serving(**options) as peer, httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        client = await Legacy(peer.url, http, version=version).opened(can)
        yield client
        if "mcp-session-id" in client.headers:
            await client.leave()
