"""A server that is told to end while calls are open: each gets a whole answer, in time."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import httpx2
import pytest

from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy, served
from tests.interaction.server.peer import Json, Peer, until
from tests.interaction.server.test_streams import Raw

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
STOP_SECONDS = 30.0
DRAIN_SECONDS = 0.5
IN_TIME = DRAIN_SECONDS + 6
"""What it takes is two seconds less a few tenths; the rest is for a busy machine."""


class Ending:
    """A server and the calls that are open when it is told to end."""

    def __init__(self, process: subprocess.Popen[str], url: str, http: httpx2.AsyncClient) -> None:
        self.process = process
        self.peer = Peer(url, http)
        self.http = http
        self.open: dict[str, tuple[Peer | Legacy, httpx2.Request]] = {}
        self.errors = ""
        self.seconds = 0.0

    def call(self, name: str, by: Peer | Legacy, tool: str, **arguments: object) -> None:
        """Have a call open."""
        request = by.request("tools/call", {"name": tool, "arguments": arguments})
        self.open[name] = by, request

    async def told(self, how: signal.Signals) -> dict[str, Json]:
        """Open the calls, tell the server to end, and see it end: what each was answered."""
        raws = {name: Raw() for name in self.open}
        async with anyio.create_task_group() as calling:
            for name, (_, request) in self.open.items():
                calling.start_soon(raws[name].read, self.peer, request)
            with anyio.fail_after(STOP_SECONDS):
                for raw in raws.values():  # a comment: it is waited for now
                    await raw.first_byte.wait()
            began = time.monotonic()
            self.process.send_signal(how)
            _, self.errors = await anyio.to_thread.run_sync(
                self.process.communicate, None, STOP_SECONDS
            )
            self.seconds = time.monotonic() - began
        return {name: raw.messages[-1] for name, raw in raws.items()}


def started(folder: Path) -> subprocess.Popen[str]:
    """The server, in a process of its own."""
    module = "tests.interaction.server.closing_server"
    arguments = [f"sqlite:///{folder / 'tasks.db'}", str(DRAIN_SECONDS)]
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@asynccontextmanager
async def ending(folder: Path) -> AsyncGenerator[Ending]:
    """The server, once it takes calls."""
    process = started(folder)
    try:
        assert process.stdout
        url = (await anyio.to_thread.run_sync(process.stdout.readline)).strip()
        async with httpx2.AsyncClient(timeout=STOP_SECONDS) as http:
            yield Ending(process, url, http)
    finally:
        process.kill()
        process.communicate()


def text(answer: Json) -> str:
    """Of a tool's result."""
    return answer["result"]["content"][0]["text"]


def stopped(answer: Json) -> bool:
    """Whether it says that the server has."""
    error = answer["error"]
    return (error["code"], error["data"]["reason"]) == (-32603, "server_stopped")


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
async def test_open_calls_of_2026_are_answered_before_the_server_ends(
    tmp_path: Path, how: signal.Signals
) -> None:
    """Ours: with the task's handle, with how it stands, or with the error that says why."""
    async with ending(tmp_path) as server:
        declares = server.peer
        plain = declares.undeclared()
        task_id = await declares.start("again")
        server.call("declared", declares, "long")
        server.call("undeclared", plain, "long")
        server.call("never a task", plain, "inline")
        server.call("no tool of ours", plain, "plain")
        server.call("task_result", plain, "task_result", id=task_id)
        answers = await server.told(how)
    assert answers["declared"]["result"]["resultType"] == "task"
    assert "NOT FINISHED" in text(answers["undeclared"])
    assert stopped(answers["never a task"])
    assert stopped(answers["no tool of ours"])
    assert f"still running on the server, as task {task_id}" in text(answers["task_result"])
    assert "Traceback" not in server.errors
    assert "exceeded" not in server.errors
    assert server.seconds < IN_TIME


async def test_open_calls_of_2025_are_answered_before_the_server_ends(tmp_path: Path) -> None:
    """Ours: the same, and so is whoever waits in ``tasks/result``."""
    async with ending(tmp_path) as server:
        old = await Legacy(server.peer.url, server.http).opened()
        again, once = await old.start("again"), await old.start("long")
        server.call("plain call", old, "long")
        server.call("never a task", old, "inline")
        server.call("task_result", old, "task_result", id=again)
        for name, task_id in {"again": again, "once": once}.items():
            server.open[name] = old, old.request("tasks/result", {"taskId": task_id})
        answers = await server.told(signal.SIGTERM)
    assert "NOT FINISHED" in text(answers["plain call"])
    assert f"still running on the server, as task {again}" in text(answers["task_result"])
    assert all(stopped(answers[name]) for name in ("never a task", "again", "once"))
    assert "Traceback" not in server.errors
    assert "exceeded" not in server.errors
    assert server.seconds < IN_TIME


async def test_open_calls_of_a_stateless_2025_server_are_answered_when_it_concludes(
    app: App,
) -> None:
    """Ours: no session holds what is open, and whoever embeds the server says when."""
    begun: list[str] = []

    async def work(name: str) -> str:
        begun.append(name)
        await anyio.sleep_forever()
        raise AssertionError

    @app.tool(inline_seconds=60)
    async def long() -> str:
        return await work("long")

    @app.tool(inline_seconds=0, rerun="safe")
    async def again() -> str:
        return await work("again")

    @app.tool(task_support="forbidden")
    async def inline() -> str:
        return await work("inline")

    answers: dict[str, Json] = {}
    async with served(app, stateless_http=True) as old:
        task_id = await old.start("again")

        async def ask(name: str, method: str, params: Json) -> None:
            answers[name] = (await old.ask(method, params)).message

        async with anyio.create_task_group() as calling:
            for tool in ("long", "inline"):
                params: Json = {"name": tool, "arguments": {}}
                calling.start_soon(ask, tool, "tools/call", params)
            calling.start_soon(ask, "result", "tasks/result", {"taskId": task_id})
            answering: Any = app.tasks.answering
            await until(lambda: answering._count == len(begun) == 3, "all are open")
            with anyio.fail_after(STOP_SECONDS):
                await app.tasks.conclude()
    assert "NOT FINISHED" in text(answers["long"])
    assert stopped(answers["inline"])
    assert stopped(answers["result"])
