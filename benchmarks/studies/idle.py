"""What an idle client costs a server, and whether all of it comes back (field case C8).

Sessions of 2025-11-25 that connect, list the tools and never say goodbye, until the server's idle
limit ends them; and listen streams of 2026-07-28, each following one task. The server's size
before, with all of them open, and after they have gone, twice: what the second round adds to the
first is what leaks. (Memory is given back to the system late, or never; objects are what tells.)
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
from rich.console import Console
from rich.table import Table

SERVER = """
import gc
import sys
import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from awhile import Tasks
from awhile.server.http import http_app

tasks = Tasks(f"sqlite:///{sys.argv[1]}", listen_streams=100_000)
mcp = MCPServer("bench", log_level="WARNING", **tasks.install())

@mcp.tool()
@tasks.tool(inline_seconds=0)
async def wait() -> str:
    await anyio.sleep_forever()

@mcp.tool()
def collect() -> int:
    gc.collect()
    return len(gc.get_objects())

app = http_app(mcp, session_idle_timeout=float(sys.argv[3]), max_sessions=100_000)
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", timeout_graceful_shutdown=1)
"""

IDLE_SECONDS = 30.0
"""After how long an idle session ends here; the SDK's default is half an hour."""

AT_ONCE = 20
VENDOR = "io.modelcontextprotocol"

Json = dict[str, Any]
Stream = tuple[httpx2.Response, AsyncIterator[str]]


class Size(NamedTuple):
    """Of a process: its resident memory in KiB, and how many objects Python keeps track of."""

    kib: float
    objects: int


class Server:
    """The server as its clients and its operator see it."""

    def __init__(self, url: str, pid: int, http: httpx2.AsyncClient) -> None:
        self._url = url
        self._pid = pid
        self._http = http

    async def size(self) -> Size:
        """How large it is, after what is garbage was collected."""
        said = await self.modern("tools/call", {"name": "collect", "arguments": {}})
        objects = int(said.split('"structuredContent":{"result":')[1].split("}")[0])
        statm = await anyio.Path(f"/proc/{self._pid}/statm").read_text()
        return Size(int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024, objects)

    def request(self, method: str, params: Json, headers: Json) -> httpx2.Request:
        """One request."""
        body: Json = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith("notifications/"):
            body["id"] = 1
        accepts = {"accept": "application/json, text/event-stream"}
        return self._http.build_request(
            "POST", self._url, json=body, headers={**accepts, **headers}
        )

    def of_2026(self, method: str, params: Json) -> httpx2.Request:
        """One request of a client that takes tasks."""
        meta: Json = {
            f"{VENDOR}/protocolVersion": "2026-07-28",
            f"{VENDOR}/clientInfo": {"name": "bench", "version": "1"},
            f"{VENDOR}/clientCapabilities": {"extensions": {f"{VENDOR}/tasks": {}}},
        }
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": method}
        if "name" in params:
            headers["mcp-name"] = params["name"]
        return self.request(method, {**params, "_meta": meta}, headers)

    async def modern(self, method: str, params: Json) -> str:
        """The whole answer to it."""
        response = await self._http.send(self.of_2026(method, params))
        response.raise_for_status()
        return response.text

    async def session(self) -> None:
        """Open a session, list the tools, and leave without a word."""
        shaken: Json = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1"},
        }
        response = await self._http.send(self.request("initialize", shaken, {}))
        response.raise_for_status()
        headers = {
            "mcp-protocol-version": "2025-11-25",
            "mcp-session-id": response.headers["mcp-session-id"],
        }
        await self._http.send(self.request("notifications/initialized", {}, headers))
        (await self._http.send(self.request("tools/list", {}, headers))).raise_for_status()

    async def listener(self, task_id: str, streams: list[Stream]) -> None:
        """Open a listen stream, and read its acknowledgement."""
        wanted: Json = {"notifications": {"taskIds": [task_id]}}
        request = self.of_2026("subscriptions/listen", wanted)
        stream = await self._http.send(request, stream=True)
        lines = stream.aiter_lines()
        streams.append((stream, lines))  # dropped, the iterator would close the stream
        async for line in lines:
            if "notifications/tasks" in line:
                return


async def many(count: int, one: Callable[[], Awaitable[None]]) -> None:
    """So many of them, some at a time."""
    places = anyio.Semaphore(AT_ONCE)

    async def placed() -> None:
        async with places:
            await one()

    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(placed)


async def sessions(server: Server, count: int) -> tuple[Size, Size]:
    """The size with so many idle sessions open, and after the idle limit."""
    await many(count, server.session)
    with_all = await server.size()
    await anyio.sleep(IDLE_SECONDS + 2)
    return with_all, await server.size()


async def listeners(server: Server, count: int) -> tuple[Size, Size]:
    """The size with so many listen streams open, and after their clients have left."""
    created = await server.modern("tools/call", {"name": "wait", "arguments": {}})
    task_id = created.split('"taskId":"')[1].split('"')[0]
    streams: list[Stream] = []
    await many(count, lambda: server.listener(task_id, streams))
    with_all = await server.size()
    for stream, _ in streams:
        await stream.aclose()
    await anyio.sleep(2)
    return with_all, await server.size()


Kind = Callable[[Server, int], Awaitable[tuple[Size, Size]]]


async def measure(url: str, pid: int, kind: Kind, count: int) -> list[str]:
    """One row of the table."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(timeout=60, limits=limits) as http:
        server = Server(url, pid, http)
        await server.session()  # what everything needs once is there
        before = await server.size()
        with_all, after = await kind(server, count)
        _, again = await kind(server, count)
    return [
        f"{count}",
        f"{(with_all.kib - before.kib) / count:.1f}",
        f"{(with_all.objects - before.objects) / count:.0f}",
        f"{(after.objects - before.objects) / count:.2f}",
        f"{(again.objects - after.objects) / count:.2f}",
        f"{(again.kib - after.kib) / count:.1f}",
    ]


@contextmanager
def serving() -> Generator[tuple[str, int]]:
    """A server in a process of its own: its URL and its process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "tasks.db")
        command = [sys.executable, "-c", SERVER, store, str(port), str(IDLE_SECONDS)]
        with subprocess.Popen(command) as process:
            try:
                yield f"http://127.0.0.1:{port}/mcp", process.pid
            finally:
                process.terminate()


async def run(url: str, pid: int, kind: Kind, count: int) -> list[str]:
    """Measure once the server answers."""
    host, port = url.split("/")[2].split(":")
    with anyio.fail_after(30):
        while not await answers(host, int(port)):  # noqa: ASYNC110 - in another process
            await anyio.sleep(0.1)
    return await measure(url, pid, kind, count)


async def answers(host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        await (await anyio.connect_tcp(host, port)).aclose()
    except OSError:
        return False
    return True


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--listeners", type=int, default=1000)
    given = parser.parse_args()
    table = Table("idle", "N", "KiB each", "objects", "left", "2nd round adds", "KiB it adds")
    rows: dict[str, tuple[Kind, int]] = {
        "sessions": (sessions, given.sessions),
        "listen streams": (listeners, given.listeners),
    }
    for name, (kind, count) in rows.items():
        with serving() as (url, pid):
            table.add_row(name, *anyio.run(run, url, pid, kind, count))
    Console().print(table)


if __name__ == "__main__":
    main()
