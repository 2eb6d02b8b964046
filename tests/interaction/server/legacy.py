"""A bare 2025-11-25 client of a server of ours: one session, plain HTTP."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

Json = dict[str, Any]

REVISION = "2025-11-25"


class LegacyPeer:
    """One session. Requests declare no task support."""

    def __init__(self, url: str, http: httpx2.AsyncClient, session: str) -> None:
        self._url = url
        self._http = http
        self._ids = itertools.count(1)
        self._headers = {**_HEADERS, "mcp-session-id": session, "mcp-protocol-version": REVISION}

    def request(self, method: str, params: Json) -> tuple[int, httpx2.Request]:
        """One POST, and the id of the request in it."""
        number = next(self._ids)
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return number, self._http.build_request("POST", self._url, json=body, headers=self._headers)

    @asynccontextmanager
    async def opened(self, request: httpx2.Request) -> AsyncGenerator[AsyncIterator[Json]]:
        """The messages of one response; leaving the block closes the connection."""
        response = await self._http.send(request, stream=True)
        try:
            yield _messages(response)
        finally:
            await response.aclose()

    async def ask(self, method: str, params: Json) -> Json:
        """One request, read to its answer."""
        _, request = self.request(method, params)
        async with self.opened(request) as messages:
            async for message in messages:
                if "method" not in message:
                    return message
        raise AssertionError(f"{method}: the stream ended without an answer")

    async def notify(self, method: str, params: Json) -> None:
        """One notification."""
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        response = await self._http.post(self._url, json=body, headers=self._headers)
        assert response.status_code == 202


_HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


@asynccontextmanager
async def legacy(url: str, *, patience: float = 10) -> AsyncGenerator[LegacyPeer]:
    """A session with the server at ``url``; it is left without a goodbye."""
    async with httpx2.AsyncClient(timeout=patience) as http:
        params: Json = {
            "protocolVersion": REVISION,
            "capabilities": {"elicitation": {"form": {}}},
            "clientInfo": {"name": "legacy", "version": "1"},
        }
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        response = await http.post(url, json=body, headers=_HEADERS)
        peer = LegacyPeer(url, http, response.headers["mcp-session-id"])
        await peer.notify("notifications/initialized", {})
        yield peer


async def _messages(response: httpx2.Response) -> AsyncIterator[Json]:
    if "event-stream" not in response.headers["content-type"]:
        yield json.loads(await response.aread())
        return
    async for line in response.aiter_lines():
        if line.startswith("data:") and line[5:].strip():
            yield json.loads(line[5:])
