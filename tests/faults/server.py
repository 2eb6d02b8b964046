"""A server to be killed: ``python -m tests.faults.server STORE FOLDER``; prints its URL.

Every body leaves a line in ``FOLDER/effects`` when it starts, and ends once a file of that name
lies in ``FOLDER``, so that a test decides when.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

from awhile import Run, Tasks
from awhile.server.http import serve_http
from tests.interaction.server.children import tick


def build(store: str, folder: Path, *, lease_seconds: float) -> MCPServer[Any]:
    """The server on a store."""
    tasks = Tasks(store, lease_seconds=lease_seconds, drain_seconds=1)
    mcp: MCPServer[Any] = MCPServer("to be killed", log_level="WARNING", **tasks.install())

    def happened(what: str) -> None:
        with (folder / "effects").open("a") as effects:
            effects.write(f"{what}\n")

    async def until_let_go(name: str) -> None:
        while not (folder / name).exists():  # noqa: ASYNC110 - let go by another process
            await anyio.sleep(0.01)

    @mcp.tool()
    @tasks.tool(kept="always", inline_seconds=30)
    async def quick(number: int) -> dict[str, int]:
        return {"number": number}

    @mcp.tool()
    @tasks.tool(inline_seconds=0, rerun="safe")
    async def safe(name: str, run: Run) -> str:
        happened(f"safe {name}")
        run.report(None, None, f"attempt {run.attempt}")
        await until_let_go("go")
        return f"{name}, attempt {run.attempt}"

    @mcp.tool()
    @tasks.tool(task_support="required")
    async def unsafe(name: str) -> str:
        happened(f"unsafe {name}")
        await until_let_go("go")
        return name

    @mcp.tool()
    @tasks.tool(task_support="required", rerun="safe", run_in="thread")
    def deaf(name: str, run: Run) -> str:
        happened(f"deaf {name} {run.attempt}")
        while not (folder / f"go-{run.attempt}").exists():
            threading.Event().wait(0.01)
        happened(f"deaf {name} {run.attempt} returned")
        return f"{name}, attempt {run.attempt}"

    @mcp.tool()
    @tasks.tool(kept="always", inline_seconds=0, rerun="safe")
    async def deadly(name: str) -> str:
        happened(f"deadly {name}")
        os.kill(os.getpid(), signal.SIGKILL)
        return name

    mcp.tool()(tasks.tool(task_support="required", run_in="process")(tick))
    return mcp


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("store")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lease", type=float, default=1)
    given = parser.parse_args()
    mcp = build(given.store, given.folder, lease_seconds=given.lease)

    def say(url: str) -> None:
        print(url, flush=True)  # noqa: T201

    async def serve() -> None:
        await serve_http(mcp, on_ready=say)

    anyio.run(serve)


if __name__ == "__main__":
    main()
