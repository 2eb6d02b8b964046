"""A bare HTTP client that writes down what goes over the wire, with all that varies made plain."""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
import httpx2

Json = dict[str, Any]

VENDOR = "io.modelcontextprotocol"
TASKS = f"{VENDOR}/tasks"
WIDTH = 92

SHOWN = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Session-Id")
ANSWERED = ("Content-Type", "Mcp-Session-Id", "X-Accel-Buffering")
"""The headers that matter, of a request and of its answer."""

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
HEXADECIMAL = re.compile(r"\b[0-9a-f]{32}\b")


class Transcript:
    """What was said, as Markdown; times, ids and lifetimes always the same."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._ids: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def say(self, words: str) -> None:
        """A heading or a paragraph."""
        self._lines += [textwrap.fill(self._plain(words), 100, break_long_words=False), ""]

    def add(self, page: str) -> None:
        """Lines as they are."""
        self._lines += [page.strip(), ""]

    def show(self, *lines: str) -> None:
        """A block of what went over the wire."""
        self._lines += ["```http", *map(self._plain, lines), "```", ""]

    def text(self) -> str:
        """The whole page."""
        return "\n".join(self._lines).rstrip() + "\n"

    def _plain(self, text: str) -> str:
        text = INSTANT.sub("2026-07-28T12:00:00.000Z", text)
        text = re.sub(r"ended \d+\.\d+ s after", "ended 0.01 s after", text)
        text = re.sub(r'"(ttlMs|ttl)": \d+', self._lifetime, text)
        text = re.sub(r'"(pollIntervalMs|pollInterval)": \d+', r'"\1": 250', text)
        return HEXADECIMAL.sub(self._id, text)

    def _id(self, found: re.Match[str]) -> str:
        one = found.group()
        if one not in self._ids:
            self._ids[one] = f"{next(self._numbers) * 0x1F83D9AB5BE0CD19:032x}"[-32:]
        return self._ids[one]

    @staticmethod
    def _lifetime(found: re.Match[str]) -> str:
        """To the minute: how long the work took differs by milliseconds."""
        name, _, number = found.group().rpartition(" ")
        return f"{name} {int(number) // 60_000 * 60_000}"


def pretty(value: Any, indent: int = 0, *, room: int = WIDTH) -> str:
    """JSON in as few lines as fit."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= room or not isinstance(value, dict | list) or not value:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        pairs = cast("Json", value).items()
        rows = [f"{json.dumps(key)}: {pretty(one, indent + 2)}" for key, one in pairs]
        opened, closed = "{", "}"
    else:
        rows = [pretty(one, indent + 2) for one in cast("list[Any]", value)]
        opened, closed = "[", "]"
    return f"{opened}\n" + ",\n".join(inner + row for row in rows) + f"\n{' ' * indent}{closed}"


class Client:
    """One client. ``meta`` is what every request of it carries in ``_meta``."""

    def __init__(
        self, url: str, http: httpx2.AsyncClient, script: Transcript, headers: Json, meta: Json
    ) -> None:
        self.url = url
        self.headers = {"accept": "application/json, text/event-stream", **headers}
        self._http = http
        self._script = script
        self._meta = meta
        self._ids = itertools.count(1)
        self._unseen = itertools.count(1)

    async def ask(
        self,
        method: str,
        params: Json,
        *,
        meta: Json | None = None,
        edit: Callable[[Json], None] | None = None,
    ) -> Json:
        """Send a request and write down both sides; what was answered.

        ``edit`` shortens what is shown of the result.
        """
        request = self.request(method, params, meta)
        self._show_request(request)
        async with self.sent(request) as (response, messages):
            seen = [one async for one in messages]
        result: Json = seen[-1].get("result", {})
        if edit is not None:
            edit(result)
        self._show_answer(response, seen)
        return result

    async def ask_unseen(
        self, method: str, params: Json, until: Callable[[Json], bool] | None = None
    ) -> Json:
        """Send a request, again and again until the result is so, and write nothing down."""
        while True:
            number = f"unseen-{next(self._unseen)}"
            async with self.sent(self.request(method, params, None, number)) as (_, messages):
                *_, answer = [one async for one in messages]
            if until is None or until(answer["result"]):
                return answer["result"]
            await anyio.sleep(0.02)

    @asynccontextmanager
    async def stream(self, method: str, params: Json) -> AsyncGenerator[AsyncIterator[Json]]:
        """Send a request whose answer is read as it comes, and write the request down."""
        request = self.request(method, params, None)
        self._show_request(request)
        async with self.sent(request) as (_, messages):
            yield messages

    async def notify(self, method: str) -> None:
        """Send a notification, and write nothing down."""
        body = {"jsonrpc": "2.0", "method": method}
        await self._http.post(self.url, json=body, headers=self.headers)

    @asynccontextmanager
    async def news(self) -> AsyncGenerator[list[Json]]:
        """What comes on the session's own stream (2025-11-25) while the block runs."""
        heard: list[Json] = []
        headers = {**self.headers, "accept": "text/event-stream"}
        request = self._http.build_request("GET", self.url, headers=headers)

        async def read(messages: AsyncIterator[Json]) -> None:
            async for one in messages:
                heard.append(one)

        async with self.sent(request) as (_, messages), anyio.create_task_group() as reading:
            reading.start_soon(read, messages)
            yield heard
            reading.cancel_scope.cancel()

    def request(
        self, method: str, params: Json, meta: Json | None, number: str | None = None
    ) -> httpx2.Request:
        """One POST, under the next number or the given one."""
        carried = {**(meta or {}), **self._meta}
        if carried:
            params = {**params, "_meta": carried}
        one = next(self._ids) if number is None else number
        body = {"jsonrpc": "2.0", "id": one, "method": method, "params": params}
        headers = dict(self.headers)
        if "mcp-protocol-version" in headers and self._meta:
            headers["mcp-method"] = method
            if name := params.get("taskId") or params.get("name"):
                headers["mcp-name"] = name
        return self._http.build_request("POST", self.url, json=body, headers=headers)

    @asynccontextmanager
    async def sent(
        self, request: httpx2.Request
    ) -> AsyncGenerator[tuple[httpx2.Response, AsyncIterator[Json]]]:
        """The response and its messages as they come."""
        response = await self._http.send(request, stream=True)
        try:
            yield response, _messages(response)
        finally:
            await response.aclose()

    def _show_request(self, request: httpx2.Request) -> None:
        headers = [f"{name}: {request.headers[name]}" for name in SHOWN if name in request.headers]
        body = json.loads(request.content)
        self._script.show("POST /mcp", *headers, "", pretty(self._short(body)))

    def _short(self, body: Json) -> Json:
        """The body without what every request of this client repeats."""
        params: Json = dict(body["params"])
        if self._meta and body["id"] != 1 and "_meta" in params:
            meta = {key: one for key, one in params["_meta"].items() if key not in self._meta}
            params["_meta"] = {**meta, "…": "…"}
        return {**body, "params": params}

    def _show_answer(self, response: httpx2.Response, seen: list[Json]) -> None:
        headers = [
            f"{name}: {response.headers[name]}" for name in ANSWERED if name in response.headers
        ]
        is_stream = "event-stream" in response.headers["content-type"]
        lead = "data: " if is_stream else ""
        blocks = [lead + pretty(one, room=WIDTH - len(lead)) for one in seen]
        status = f"{response.status_code} {response.reason_phrase}"
        self._script.show(status, *headers, "", "\n\n".join(blocks))


async def _messages(response: httpx2.Response) -> AsyncIterator[Json]:
    if "event-stream" in response.headers.get("content-type", ""):
        async for line in response.aiter_lines():
            if line.startswith("data:") and line[5:].strip():
                yield json.loads(line[5:])
    elif body := await response.aread():
        yield json.loads(body)
