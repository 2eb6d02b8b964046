"""How soon a client knows that work has ended: pushed, and asked for in the server's rhythm.

Each task ends by itself after a random time. Measured from the end as the server stamps it to the
client's wait returning, over HTTP on this machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from awhile.client import RemoteServer, connect, listen

TOOL = """
import sys
import anyio
from mcp.server.mcpserver import MCPServer
from awhile import Tasks
from awhile.server.http import serve_http

tasks = Tasks(f"sqlite:///{sys.argv[1]}")
mcp = MCPServer("bench", **tasks.install())

@mcp.tool()
@tasks.tool(inline_seconds=0)
async def nap(seconds: float) -> str:
    await anyio.sleep(seconds)
    return "rested"

anyio.run(lambda: serve_http(mcp, on_ready=lambda url: print(url, flush=True)))
"""


async def one_end(server: RemoteServer) -> float:
    """Milliseconds from one task's end to the client knowing."""
    handle = await server.start("nap", {"seconds": random.uniform(0.5, 3.0)})  # noqa: S311
    await handle.result()
    task = handle.work.known.task
    if task is None:
        raise RuntimeError("the task ended without having been seen")
    return time.time_ns() / 1e6 - task.last_updated_at_ms


async def ends(url: str, times: int) -> list[float]:
    """Several tasks, one after another begun and all watched at once."""
    took: list[float] = []

    async def one(server: RemoteServer) -> None:
        took.append(await one_end(server))

    async with connect(url, ledger=None) as server:
        for _ in range(0, times, 10):
            async with anyio.create_task_group() as batch:
                for _ in range(10):
                    batch.start_soon(one, server)
    return took


async def measure(url: str, times: int) -> Table:
    """The table."""
    table = Table("news", "p50 ms", "p95 ms", "max ms", "N", title="end of the work to known")
    pushed = await ends(url, times)
    listen.TASKS_PER_STREAM = 0  # so that no stream has anything to follow
    polled = await ends(url, times)
    for way, took in (("pushed", pushed), ("polled", polled)):
        cuts = statistics.quantiles(took, n=20)
        row = (statistics.median(took), cuts[-1], max(took))
        table.add_row(way, *(f"{one:.1f}" for one in row), str(len(took)))
    return table


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", TOOL, str(Path(folder) / "tasks.db")]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                if server.stdout is None:
                    raise RuntimeError("the server has no output")
                url = server.stdout.readline().strip()
                Console().print(anyio.run(measure, url, given.times))
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
