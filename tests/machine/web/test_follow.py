"""The backend beside a real MCP server: what survives which restart. Source: ours."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from awhile import connect
from tests.machine.web.backend import followed, served, until

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def killed_at_the_end(store: str, port: int) -> AsyncGenerator[None]:
    """The server as a process of its own, whose questions are answered at once."""
    command = [sys.executable, "-m", "tests.machine.web.questions", store, str(port)]
    async with await anyio.open_process(command, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        await process.stdout.receive()
        yield
        process.kill()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.sqlite3'}"


async def test_a_restarted_backend_takes_up_the_runs_of_the_one_before(store: str) -> None:
    go = anyio.Event()
    async with served(store, go) as url:
        async with followed(url) as (board, follower):
            run_id = await follower.start("ask", {"question": "How many?", "request_key": "k"})
            await until(board, lambda run: run["percent"] == 40)
        async with followed(url) as (board, follower):
            again = await until(board, lambda run: run["percent"] == 40)
            assert again["id"] == run_id
            go.set()
            ended = await until(board, lambda run: run["outcome"] is not None)
            assert (ended["status"], ended["outcome"]) == ("completed", "table")


async def test_the_same_key_finds_the_same_run(store: str) -> None:
    go = anyio.Event()
    async with served(store, go) as url, followed(url) as (board, follower):
        asked = {"question": "How many?", "request_key": "k"}
        first = await follower.start("ask", asked)
        assert await follower.start("ask", asked) == first
        assert len(board.runs()) == 1
        go.set()
        await until(board, lambda run: run["status"] == "completed")
        assert await follower.start("ask", asked) == first


async def test_a_run_started_by_another_program_appears(store: str) -> None:
    go = anyio.Event()
    go.set()
    async with served(store, go) as url, followed(url) as (board, _):
        async with connect(url, ledger=None) as elsewhere:
            await elsewhere.call("ask", {"question": "From a terminal?"})
        run = await until(board, lambda run: run["status"] == "completed")
        assert run["question"] == "From a terminal?"


async def test_a_stop_is_told_as_asked_at_once_and_as_stopped_with_its_proof(store: str) -> None:
    async with served(store, anyio.Event()) as url, followed(url) as (board, follower):
        run_id = await follower.start("ask", {"question": "How many?", "request_key": "k"})
        await follower.ask_to_stop(run_id)
        known = board.run(run_id)
        assert known is not None
        assert known.cancel_asked_at is not None
        run = await until(board, lambda run: run["status"] == "cancelled")
        assert run["stopped_how"] == "coroutine_ended"
        assert run["stopped_after_seconds"] < 5


async def test_a_server_that_forgot_its_runs_leaves_none_on_the_page(
    store: str, tmp_path: Path
) -> None:
    port = free_port()
    with anyio.fail_after(30):
        async with followed(f"http://127.0.0.1:{port}/mcp") as (board, follower):
            async with killed_at_the_end(store, port):
                while not board.reachable:
                    await board.changed()
                await follower.start("ask", {"question": "How many?", "request_key": "k"})
                assert len(board.runs()) == 1
            while board.reachable:
                await board.changed()
            assert len(board.runs()) == 1  # out of date, and said to be: not gone
            async with killed_at_the_end(f"sqlite:///{tmp_path / 'new.sqlite3'}", port):
                while not board.reachable:
                    await board.changed()
                assert board.runs() == []
