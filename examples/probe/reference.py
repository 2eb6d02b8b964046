"""The reference measurements: three servers, each with one long tool, and what the probe finds.

`python -m examples.probe.reference` prints the table that docs/probe.md shows. It takes a minute,
and longer the first time, when npm and pip install the two servers of other projects.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio

from awhile.probe import Report, Target, Trial, probe
from awhile.server.http import serve_http
from examples.wire.server import build

ROOT = Path(__file__).parents[2]


def lines_of(log: Path) -> list[str]:
    """The whole lines of a log."""
    return log.read_text().rpartition("\n")[0].splitlines()


@asynccontextmanager
async def process(module: str, log: Path) -> AsyncGenerator[str]:
    """Serve `python -m module` until the block is left; its output goes to a file."""
    with log.open("w") as output:
        server = await anyio.open_process(
            [sys.executable, "-m", module],
            cwd=ROOT,
            env=dict(os.environ),
            stdin=subprocess.PIPE,
            stdout=output,
        )
        while not (said := lines_of(log)):  # noqa: ASYNC110 - it is another process that writes
            await anyio.sleep(0.1)
        yield said[0]
        assert server.stdin
        await server.stdin.aclose()  # it ends with its stdin
        await server.wait()


@asynccontextmanager
async def ours(folder: Path) -> AsyncGenerator[str]:
    """Serve a server of ours until the block is left."""
    started = anyio.Event()
    urls: list[str] = []

    def ready(url: str) -> None:
        urls.append(url)
        started.set()

    async def serve() -> None:
        await serve_http(build(f"sqlite:///{folder / 'tasks.db'}"), on_ready=ready)

    async with anyio.create_task_group() as beside:
        beside.start_soon(serve)
        await started.wait()
        yield urls[0]
        beside.cancel_scope.cancel()


async def measure() -> Mapping[str, Report]:
    """A report for each of the three servers, probed one after the other, so that what is measured
    of one waits for no other."""
    reports: dict[str, Report] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = folder / "legacy.log"

        async def steps_made() -> str:
            """The witness: that server logs each step its work has really made."""
            return f"{len(lines_of(log))} lines"

        async def add(name: str, server: AbstractAsyncContextManager[str], trial: Trial) -> None:
            async with server as url:
                reports[name] = await probe(Target(url=url), trial)

        typescript = process("checks.legacy_server", log)
        fastmcp = process("checks.fastmcp_server", folder / "fastmcp.log")
        witnessed = Trial(tool="long_job", witness=steps_made)
        await add("TypeScript SDK 1.30.0", typescript, witnessed)
        await add("fastmcp 4.1.4, fastmcp-tasks 4.1.4", fastmcp, Trial(tool="long_job"))
        five = Trial(tool="long_job", arguments={"steps": 5})
        await add("Awhile", ours(folder), five)
    return reports


def table(reports: Mapping[str, Report]) -> str:
    """Markdown: the faults of each server."""
    lines = ["| Server | Revision | Grade | Check | Seen |", "|---|---|---|---|---|"]
    for server, report in sorted(reports.items(), reverse=True):
        served = ", ".join(report.eras)
        if not report.faults:
            lines.append(f"| {server} | {served} | conforms | every one that was tried | |")
        for one in report.faults:
            seen = one.seen.replace("|", "\\|")
            lines.append(f"| {server} | {one.era} | {one.grade} | `{one.check}` | {seen} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(anyio.run(measure)))
