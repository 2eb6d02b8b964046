"""What the tests' fleets serve. Bodies end once a file of that name lies in ``FLEET_FOLDER``."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel

from awhile import Run, Tasks

FOLDER = Path(os.environ.get("FLEET_FOLDER", "."))
AnyContext = Context[Any, Any]


class Name(BaseModel):
    """What is asked."""

    name: str


def ask_for_a_name(_ctx: AnyContext) -> Elicit[Name]:
    """The question before the work."""
    return Elicit("What is your name?", Name)


async def until_let_go(name: str) -> None:
    """Wait for the file."""
    while not (FOLDER / name).exists():  # noqa: ASYNC110 - let go by another process
        await anyio.sleep(0.01)


def happened(what: str) -> None:
    """Leave a line for the test."""
    with (FOLDER / "effects").open("a") as effects:
        effects.write(f"{what} {os.getpid()}\n")


tasks = Tasks()
mcp: MCPServer[Any] = MCPServer("fleet", log_level="WARNING", **tasks.install())


@mcp.tool()
@tasks.tool(inline_seconds=0.2, rerun="safe")
async def work(name: str, run: Run) -> str:
    """Work until it is let go."""
    happened(f"{name} begun")
    run.report(1, 2, f"{name} is under way")
    await until_let_go(name)
    return f"{name}, attempt {run.attempt}, process {os.getpid()}"


@mcp.tool()
@tasks.tool(inline_seconds=0.2, rerun="never")
async def asks(ctx: AnyContext) -> str:
    """Ask in the middle of the work."""
    answer = await ctx.elicit("What is your name?", Name)
    return f"{answer.action} {getattr(answer, 'data', None)}"


@mcp.tool()
@tasks.tool(inline_seconds=30)
async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
    """Ask before the work."""
    return f"Hello, {name.name}!"


@mcp.tool()
async def where() -> int:
    """Which process this is: no task, so the replica itself."""
    return os.getpid()


@mcp.tool()
@tasks.tool(inline_seconds=0)
async def breaks() -> str:
    """Write a line to the log, and end in an error."""
    logging.getLogger("fleet.tool").warning("about to break")
    raise ValueError("broken")


older_tasks = Tasks()
older: MCPServer[Any] = MCPServer("fleet", log_level="WARNING", **older_tasks.install())


@older.tool()
@older_tasks.tool(inline_seconds=0)
async def renamed_since() -> str:
    """A tool that the newer server does not have."""
    return "done"


no_tasks: MCPServer[Any] = MCPServer("none", log_level="WARNING")
