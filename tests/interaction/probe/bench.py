"""A sound server of ours to break, and how it is probed: briefly."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import AnyHttpUrl, BaseModel

from awhile import Run, Tasks
from awhile.probe import Limits, Report, Target, Trial, probe
from awhile.server.http import http_app
from tests.interaction.probe.breaking import Broken, Defect
from tests.interaction.server.peer import serving_app

BRIEF = Limits(run_seconds=8, linger_seconds=1.2, stop_seconds=2.5, answer_seconds=6)
STEPS = 4
STEP_SECONDS = 0.35


class Which(BaseModel):
    """What `ask` asks."""

    database: str


class Verifier:
    """Knows two people by their tokens."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token not in ("token-of-ada", "token-of-eve"):
            return None
        person = token.rpartition("-")[2]
        return AccessToken(token=token, client_id="app", scopes=[], subject=person)


class Bench:
    """The server, and a count of the steps it has really made, by any run."""

    def __init__(self, store: Path, *, with_people: bool = False) -> None:
        self.made = 0
        tasks = Tasks(f"sqlite:///{store}")
        people: dict[str, Any] = {}
        if with_people:
            auth = AuthSettings(
                issuer_url=AnyHttpUrl("https://issuer.example"),
                resource_server_url=AnyHttpUrl("http://127.0.0.1/mcp"),
                validate_token_resource=False,
            )
            people = {"token_verifier": Verifier(), "auth": auth}
        mcp: MCPServer[Any] = MCPServer("bench", log_level="ERROR", **people, **tasks.install())

        async def work(run: Run, steps: int = STEPS) -> str:
            for step in range(1, steps + 1):
                run.report(step, steps, f"step {step}/{steps}")
                await anyio.sleep(STEP_SECONDS)
                self.made += 1
            return f"made {steps} steps"

        @mcp.tool()
        @tasks.tool(inline_seconds=0.02)
        async def steps(run: Run) -> str:
            """Makes some steps."""
            return await work(run)

        @mcp.tool()
        @tasks.tool(task_support="required")
        async def strict(run: Run) -> str:
            """The same, and only as a task."""
            return await work(run)

        @mcp.tool()
        @tasks.tool(inline_seconds=0.02)
        async def long(run: Run) -> str:
            """Makes so many that a cancel comes early in them, however busy the machine."""
            return await work(run, 3 * STEPS)

        @mcp.tool()
        @tasks.tool(task_support="required")
        async def ask(ctx: Context[Any, Any]) -> str:
            """Asks, and waits."""
            answer = await ctx.elicit("Which database?", Which)
            return answer.action

        @mcp.tool()
        def quick() -> str:
            """Answers at once; never a task."""
            return "done"

        self.mcp = mcp

    async def witness(self) -> str:
        """Tells how many steps were made."""
        return f"{self.made} steps"

    @asynccontextmanager
    async def serving(self, defect: Defect | None = None) -> AsyncGenerator[str]:
        """Serve it, with the defect in front of it; yields the URL."""
        app = http_app(self.mcp)
        async with serving_app(app if defect is None else Broken(app, defect), "/mcp") as peer:
            yield peer.url


async def probe_bench(
    store: Path,
    *,
    tool: str | None = "steps",
    defect: Defect | None = None,
    eras: tuple[str, ...] = ("2026-07-28", "2025-11-25"),
    with_witness: bool = False,
    with_people: bool = False,
    limits: Limits = BRIEF,
) -> Report:
    """Serve a bench and probe it."""
    bench = Bench(store, with_people=with_people)
    async with bench.serving(defect) as url:
        bearer = {"authorization": "Bearer token-of-ada"} if with_people else {}
        other = {"authorization": "Bearer token-of-eve"} if with_people else None
        target = Target(url=url, headers=bearer, second_headers=other)
        witness = bench.witness if with_witness else None
        trial = None if tool is None else Trial(tool=tool, witness=witness)
        return await probe(target, trial, limits, eras=eras)
