"""The tools that the official conformance suite calls, on a real server of ours.

``python -m tests.interaction.fixture_server --port 0`` prints its URL, and ends when its stdin
closes. What each tool here has to do is what the suite's ``tasks-*`` scenarios ask for; what the
rest of the revision asks for is in `tests.interaction.revision_fixtures`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from awhile import Run, Tasks
from tests.interaction.revision_fixtures import add_revision_fixtures, with_the_whole_schema
from tests.serving import serve_until_stdin_closes


class Name(BaseModel):
    """What `test_tool_with_task` asks first."""

    name: str


class Confirmation(BaseModel):
    """What `confirm_delete` asks."""

    confirm: bool


class NameAndConfirmation(BaseModel):
    """The suite answers both questions of `multi_input` with both fields."""

    name: str | None = None
    confirm: bool | None = None


def ask_for_a_name(_ctx: Context[Any, Any]) -> Elicit[Name]:
    """The question before the task."""
    return Elicit("What is your name?", Name)


def build(store: str) -> MCPServer[Any]:
    """The fixture server on a store."""
    tasks = Tasks(store)
    installed = tasks.install(middleware=[with_the_whole_schema], subscriptions="store")
    mcp: MCPServer[Any] = MCPServer("fixture", version="1", **installed)
    add_revision_fixtures(mcp)

    @mcp.tool()
    def greet(name: str) -> str:
        """Greets at once; never a task."""
        return f"Hello, {name}!"

    @mcp.tool()
    @tasks.tool(inline_seconds=0.2)
    async def slow_compute(seconds: float, label: str, run: Run) -> str:
        """Sleeps for some seconds."""
        run.report(0, seconds, f"computing {label}")
        await anyio.sleep(seconds)
        return f"{label}: done after {seconds} s"

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def failing_job() -> str:
        """Always a task, and the tool itself says no."""
        await anyio.sleep(1)
        raise ValueError("this job fails on purpose")

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def protocol_error_job() -> str:
        """Always a task, and ends in a JSON-RPC error."""
        await anyio.sleep(0.3)
        raise MCPError(code=-32603, message="this job breaks on purpose", data={"why": "fixture"})

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def confirm_delete(filename: str, ctx: Context[Any, Any]) -> str:
        """Asks before it deletes."""
        answer = await ctx.elicit(f"Delete {filename}?", Confirmation)
        agreed = answer.action == "accept" and answer.data.confirm
        return f"{'Deleted' if agreed else 'Kept'} {filename}."

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def multi_input(ctx: Context[Any, Any]) -> str:
        """Asks two things at once."""
        said: dict[str, str] = {}

        async def ask(what: str) -> None:
            answer = await ctx.elicit(f"Please give your {what}.", NameAndConfirmation)
            said[what] = answer.action

        async with anyio.create_task_group() as both:
            both.start_soon(ask, "name")
            both.start_soon(ask, "confirmation")
        return ", ".join(f"{what}: {action}" for what, action in sorted(said.items()))

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def test_tool_with_task(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
        """Asks first, then becomes a task."""
        await anyio.sleep(0.3)
        return f"Hello, {name.name}!"

    return mcp


def main() -> None:
    """Serve until stdin closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory() as folder:
        serve_until_stdin_closes(build(f"sqlite:///{Path(folder) / 'tasks.db'}"), port=port)


if __name__ == "__main__":
    main()
