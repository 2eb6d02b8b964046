"""The app's MCP server on a real, small warehouse, and a client of it in the same process."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp.server.mcpserver import MCPServer

from awhile import Handle, OnInput, RemoteServer, Tasks, connect
from awhile.ask.engines.contract import Budget, Engine
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.mcp_server.build import build_server
from awhile.ask.results import Results
from awhile.ask.sample import ensure_sample
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Translator
from tests.interaction.ask.instant import Instant

TODAY = date(2026, 11, 28)

HEAVY = """
SELECT count(*) FROM order_lines AS a, order_lines AS b, order_lines AS c
WHERE (a.quantity * b.quantity * c.quantity) % 7 = 3
"""
"""Takes minutes on the small warehouse."""

PATIENCE_SECONDS = 30


def _quiet(_done: float, _total: float | None, _message: str | None) -> None:
    """The warehouse is made in a second: nothing to tell."""


@dataclass(frozen=True)
class App:
    """The served app: a client of it, and the folder its results are in."""

    server: RemoteServer
    results: Path
    tasks: Tasks
    mcp: MCPServer[Any]

    async def start(self, tool: str, **arguments: Any) -> Handle:
        """Start one call."""
        return await self.server.start(tool, arguments)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of one call, checked against the schema the tool declares."""
        with anyio.fail_after(PATIENCE_SECONDS):
            result = await self.server.call(tool, arguments)
            assert result.structured_content is not None
            await self.check(tool, result.structured_content)
            return result.structured_content

    async def check(self, tool: str, content: dict[str, Any]) -> None:
        """Fail unless the content is what the tool says it returns."""
        schemas = {one.name: one.output_schema for one in await self.server.list_tools()}
        schema = schemas[tool]
        assert schema is not None
        Draft202012Validator(schema).validate(content)  # pyright: ignore[reportUnknownMemberType]


@pytest.fixture(scope="session")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample warehouse in its smallest size; made outside of the tests' event loop, which it
    would keep alive, and so share, from one test to all later ones."""
    folder = tmp_path_factory.mktemp("warehouse")
    return anyio.run(ensure_sample, folder, "tiny", TODAY, _quiet)


def built(
    folder: Path,
    database: Path | Engine,
    *,
    translator: Translator | None = None,
    budget: Budget | None = None,
    ask_above_cost: float | None = None,
    lease_seconds: float = 6.0,
    results: Results | None = None,
) -> tuple[MCPServer[Any], Tasks]:
    """The app's server on a store in ``folder``."""
    tasks = Tasks(f"sqlite:///{folder / 'tasks.db'}", lease_seconds=lease_seconds)
    engine = DuckDBEngine(database, spill_folder=folder) if isinstance(database, Path) else database
    mcp = build_server(
        tasks=tasks,
        engine=engine,
        translator=translator or BuiltInTranslator(),
        results=results or Results.in_folder(folder / "results"),
        budget=budget or Budget(),
        database_name="the sample",
        today=lambda: TODAY,
        ask_above_cost=ask_above_cost,
    )
    return mcp, tasks


@asynccontextmanager
async def serving(
    folder: Path,
    database: Path | Engine,
    *,
    on_input: OnInput | None = None,
    answers_forms: bool = False,
    **how: Any,
) -> AsyncGenerator[App]:
    """The app's server (`built`), and a client that answers forms, or none."""
    mcp, tasks = built(folder, database, **how)
    async with connect(mcp, on_input=on_input, answers_forms=answers_forms) as server:
        yield App(server, folder / "results", tasks, mcp)


@pytest.fixture
async def quick(tmp_path: Path, warehouse: Path) -> AsyncGenerator[App]:
    """The same on an engine without processes."""
    async with serving(tmp_path, Instant(warehouse)) as one:
        yield one


@pytest.fixture
async def app(tmp_path: Path, warehouse: Path) -> AsyncGenerator[App]:
    """The app's server, and a client of it."""
    async with serving(tmp_path, warehouse) as one:
        yield one
