"""What is served to be broken: ``awhile serve tests.faults.module:mcp``, or ``awhile worker``.

Every body leaves `Effect` lines in ``FLEET_FOLDER/effects``, and ends after ``seconds``, or once a
file of its name (or ``everything``) lies in that folder.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

from awhile import ChildRun, Run, Tasks
from awhile.stores.postgres import connections
from awhile.stores.sqlite import connection, locks
from tests.faults.checker import AT_WORK, BEGUN, DONE, Effect

FOLDER = Path(os.environ.get("FLEET_FOLDER", "."))
LONG = 120.0
AnyContext = Context[Any, Any]

# How long a store waits before it says what is wrong: shorter where a test says so.
connection.BUSY_TIMEOUT_MS = int(os.environ.get("FAULTS_BUSY_MS", connection.BUSY_TIMEOUT_MS))
locks.WAIT_SECONDS = float(os.environ.get("FAULTS_LOCK_SECONDS", locks.WAIT_SECONDS))
connections.ANSWER_SECONDS = float(
    os.environ.get("FAULTS_ANSWER_SECONDS", connections.ANSWER_SECONDS)
)


class Name(BaseModel):
    """What is asked."""

    name: str


class Work:
    """One body at work: what it leaves behind, and when it may end."""

    def __init__(self, name: str, attempt: int, seconds: float) -> None:
        self._name = name
        self._attempt = attempt
        self._until = time.monotonic() + seconds
        self.did(BEGUN)

    def did(self, what: str) -> None:
        """Leave a line: one write, so that those of several processes do not mix."""
        at_ms = time.time_ns() // 1_000_000
        line = Effect(at_ms, what, self._name, self._attempt, os.getpid())
        with (FOLDER / "effects").open("a") as effects:
            effects.write(f"{line}\n")

    @property
    def goes_on(self) -> bool:
        """Whether there is more to do."""
        names = (self._name, f"{self._name}-{self._attempt}", "everything")
        let_go = any((FOLDER / one).exists() for one in names)
        return not let_go and time.monotonic() < self._until

    def done(self) -> str:
        """Leave the last line; the result."""
        self.did(DONE)
        return f"{self._name}, attempt {self._attempt}, process {os.getpid()}"


async def do(name: str, seconds: float, run: Run) -> str:
    """Work in the event loop."""
    work = Work(name, run.attempt, seconds)
    run.report(None, None, f"{name} is under way, attempt {run.attempt}")
    while work.goes_on:
        await anyio.sleep(0.02)
        work.did(AT_WORK)
    return work.done()


def who(ctx: ServerRequestContext[Any, Any]) -> str:
    """The caller, as a header says: a stand-in for a verified token."""
    headers = getattr(ctx.request, "headers", {})
    return headers.get("x-who", "ada")


tasks = Tasks(principal=who, companion_tools=False)
mcp: MCPServer[Any] = MCPServer("to be broken", log_level="WARNING", **tasks.install())


@mcp.tool()
@tasks.tool(inline_seconds=0.1, rerun="safe")
async def safe(name: str, run: Run, seconds: float = LONG) -> str:
    """May run again."""
    return await do(name, seconds, run)


@mcp.tool()
@tasks.tool(inline_seconds=0.1)
async def unsafe(name: str, run: Run, seconds: float = LONG) -> str:
    """May not run again."""
    return await do(name, seconds, run)


@mcp.tool()
@tasks.tool(inline_seconds=0.1, rerun="safe", run_in="thread")
def thread(name: str, run: Run, seconds: float = LONG) -> str:
    """Heeds its token."""
    work = Work(name, run.attempt, seconds)
    while work.goes_on:
        if run.wait(0.02):
            run.check()
        work.did(AT_WORK)
    return work.done()


@mcp.tool()
@tasks.tool(inline_seconds=0.1, rerun="safe", run_in="thread")
def deaf(name: str, run: Run, seconds: float = LONG) -> str:
    """Heeds nothing, and so writes late."""
    work = Work(name, run.attempt, seconds)
    while work.goes_on:
        threading.Event().wait(0.02)
    return work.done()


def in_a_child(name: str, run: ChildRun, seconds: float = LONG) -> str:
    """Heeds nothing, in a process of its own."""
    work = Work(name, 1, seconds)
    run.report(0, 1, f"{name} is under way")
    while work.goes_on:
        time.sleep(0.02)
        work.did(AT_WORK)
    return work.done()


mcp.tool(name="child")(tasks.tool(name="child", inline_seconds=0.1, run_in="process")(in_a_child))


@mcp.tool()
@tasks.tool(inline_seconds=0.1, rerun="safe")
async def asks(name: str, run: Run, ctx: AnyContext) -> str:
    """Asks in the middle of the work."""
    work = Work(name, run.attempt, LONG)
    await ctx.elicit("What is your name?", Name)
    return work.done()


@mcp.tool()
@tasks.tool(kept="always", request_key="key", inline_seconds=0)
async def kept(name: str, key: str, run: Run, seconds: float = 0) -> str:
    """May be called again with its key."""
    return await do(name, seconds, run)


@mcp.tool()
@tasks.tool(inline_seconds=30)
async def quick(name: str, run: Run, seconds: float = 0) -> str:
    """Is answered inline."""
    return await do(name, seconds, run)


@mcp.tool()
@tasks.tool(inline_seconds=0, kept="always")
async def big(name: str, size: int, run: Run, padding: str = "") -> str:
    """Has a big result, and perhaps a big argument."""
    work = Work(name, run.attempt, LONG)
    while work.goes_on:  # noqa: ASYNC110 - let go by another process
        await anyio.sleep(0.02)
    return f"{work.done()} {os.urandom(size // 2).hex()}"


@mcp.tool()
@tasks.tool(inline_seconds=0.1)
def blocks(name: str, run: Run, seconds: float = LONG) -> str:
    """A plain function that blocks, as a driver without async does."""
    work = Work(name, run.attempt, seconds)
    while work.goes_on:
        time.sleep(0.2)
    return work.done()


# --- a server whose resources do not close --------------------------------------------------------


class DoesNotClose(Exception):
    """What closing raises."""


class Resource:
    """One task's own, or the whole process's."""

    async def __aenter__(self) -> Resource:
        return self

    async def __aexit__(self, *_: object) -> None:
        await anyio.lowlevel.checkpoint()
        raise DoesNotClose("The connection was closed already.")


@asynccontextmanager
async def lifespan(_server: object) -> AsyncGenerator[Resource]:
    """A resource of the whole process that does not close."""
    async with Resource() as one:
        yield one


untidy_tasks = Tasks(companion_tools=False)
untidy_server: MCPServer[Any] = MCPServer(
    "untidy", log_level="WARNING", **untidy_tasks.install(lifespan=lifespan)
)


@untidy_server.tool()
@untidy_tasks.tool(task_support="required", rerun="safe")
async def untidy(name: str, run: Run) -> str:
    """Has its work done when its own resource does not close."""
    async with Resource():
        return await do(name, LONG, run)


@untidy_server.tool()
@untidy_tasks.tool(task_support="required", rerun="safe")
async def tidy(name: str, run: Run) -> str:
    """Only its process is untidy."""
    return await do(name, LONG, run)
