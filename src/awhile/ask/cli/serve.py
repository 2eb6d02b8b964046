"""*Ask your database* as an MCP server, over HTTP or stdio: ``awhile serve`` without a module."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from awhile.ask.cli.folder import DataFolder, model_of, semantics_of, served_by
from awhile.ask.cli.lingering import LEFT_LOG, linger
from awhile.ask.cli.translating import translator_of
from awhile.ask.engines.contract import Budget
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.open import name_of, open_engine
from awhile.ask.mcp_server.build import build_server
from awhile.ask.results import Results
from awhile.ask.results.cache import Cache
from awhile.ask.results.storage import open_storage
from awhile.ask.sample import ensure_sample
from awhile.ask.semantics.engine import SemanticEngine
from awhile.ask.semantics.file import read
from awhile.cli.authentication import authentication_of
from awhile.cli.deploy import operating_of
from awhile.cli.screen import err, say, visible
from awhile.cli.settings import Effective, Settings
from awhile.errors import SettingsError
from awhile.server import collector, event_loop
from awhile.server.http import refuse_strangers, serve_http
from awhile.server.tasks import Tasks
from awhile.stores.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from mcp.server.mcpserver import MCPServer

    from awhile.ask.engines.contract import Capabilities, Engine
    from awhile.cli.serve import Serving
    from awhile.server.authenticating import Authentication

MEGABYTE = 1024 * 1024
DAY_SECONDS = 86_400
SLOW_SECONDS = 3.0

UNOBSERVED_PAID_SECONDS = 1800.0
"""How long a query that costs money goes on for nobody, unless somebody says otherwise."""


def serve_database(effective: Effective, how: Serving) -> None:
    """Serve a database, or the sample, to any MCP host (`awhile.cli.serve.ServeApp`)."""
    settings = effective.settings
    if settings.slots == 0:
        raise SettingsError(
            "slots is 0, so no question would ever be answered: the database app has no workers "
            "beside it. Use at least 1."
        )
    serve_http_so = partial(_serve_http, how=how)
    event_loop.run(partial(_serve_stdio if how.stdio else serve_http_so, settings))


async def _serve_http(settings: Settings, *, how: Serving) -> None:
    parent = how.parent
    # The page of one person, and who asks here, are the only callers, and show no token.
    authentication = authentication_of(settings) if parent is None else None
    # Before the sample is made.
    refuse_strangers(settings.host, authenticated=authentication is not None)
    if authentication is not None:
        await authentication.issuer.check()
    folder = DataFolder(settings.data_folder)
    async with _server(settings, folder, authentication) as mcp:
        with ExitStack() as while_serving:

            def ready(url: str) -> None:
                collector.settle()
                while_serving.enter_context(
                    folder.announced(
                        url, served_by(settings), semantics_of(settings), model_of(settings)
                    )
                )
                sys.stdout.write(f"{url}\n")
                sys.stdout.flush()
                if sys.stdout.isatty():
                    say(f"{mcp.title}. Ctrl-C ends.", aside=True)

            if parent is not None:
                # In no task group: that would wrap what a signal raises once all is closed.
                tasks = cast("Tasks", Tasks.of(mcp))
                waiting = asyncio.create_task(linger(parent, tasks, folder.path / LEFT_LOG))
                while_serving.callback(waiting.cancel)
            # An app that ends with its parent ends because a person leaves: nothing is waited for.
            drains = parent is None
            await serve_http(
                mcp,
                host=settings.host,
                port=settings.port,
                or_free=how.or_free,
                drains=drains,
                authentication=authentication,
                on_ready=ready,
            )


async def _serve_stdio(settings: Settings) -> None:
    folder = DataFolder(settings.data_folder)
    async with _server(settings, folder) as mcp:
        await mcp.run_stdio_async()


@asynccontextmanager
async def _server(
    settings: Settings, folder: DataFolder, authentication: Authentication | None = None
) -> AsyncGenerator[MCPServer[Any]]:
    """The server; whatever cannot work is refused by now."""
    async with open_store(settings.store):
        pass
    async with AsyncExitStack() as ending:
        translator = await ending.enter_async_context(translator_of(settings))
        results = await _results(settings, folder)
        databases = settings.database or (str(await sample_path(settings)),)
        name = name_of(databases) if settings.database else "sample"
        engine = await _opened(settings, databases, folder, settings.semantic_file)
        ending.push_async_callback(_closed, engine)
        tasks = Tasks(
            settings.store,
            slots=settings.slots,
            lease_seconds=settings.lease_seconds,
            drain_seconds=settings.drain_seconds,
            gone_tool_seconds=settings.gone_tool_seconds,
            max_queued=settings.max_queued or None,
            max_queued_per_owner=settings.max_queued_per_owner or None,
            max_running_per_owner=settings.max_running_per_owner or None,
        )
        tasks.deploy(operating=operating_of(settings))
        yield build_server(
            tasks=tasks,
            engine=engine,
            translator=translator,
            results=results,
            budget=Budget(
                rows=settings.row_budget,
                bytes=settings.byte_budget_mb * MEGABYTE,
                seconds=settings.query_seconds or None,
            ),
            database_name=name,
            today=_today,
            inline_seconds=settings.inline_seconds,
            keep_seconds=settings.keep_days * DAY_SECONDS,
            unobserved_seconds=unobserved_seconds_of(settings, engine.capabilities),
            ask_above_cost=settings.ask_above_cost or None,
            **({} if authentication is None else authentication.options()),
        )


def unobserved_seconds_of(settings: Settings, capabilities: Capabilities) -> float | None:
    """How long a query goes on while nobody looks; None: as long as it takes."""
    if settings.unobserved_seconds is None:
        return UNOBSERVED_PAID_SECONDS if capabilities.costs_money else None
    return settings.unobserved_seconds or None


async def _closed(engine: Engine) -> None:
    with anyio.CancelScope(shield=True):
        await engine.close()


async def _results(settings: Settings, folder: DataFolder) -> Results:
    where = settings.results or folder.results
    storage = open_storage(where, folder.path / "drafts")
    try:
        await anyio.to_thread.run_sync(storage.find, "ready")
    except OSError as error:
        raise SettingsError(f"Results cannot be kept: {error}") from error
    shared = not settings.store.startswith("sqlite:") and not settings.single_replica
    if shared and settings.results is None:
        say(
            f"Results are kept in {str(folder.results)!r}, where other servers on this store do "
            "not see them. If there are any, give all of them the same --results.",
            aside=True,
        )
    return Results(storage, Cache(folder.path / "views", settings.results_cache_mb * MEGABYTE))


@asynccontextmanager
async def opened_database(settings: Settings) -> AsyncGenerator[Engine]:
    """The database of the settings, or the sample, as it is without a semantic file."""
    databases = settings.database or (str(await sample_path(settings)),)
    engine = await _opened(settings, databases, DataFolder(settings.data_folder), None)
    try:
        yield engine
    finally:
        with anyio.CancelScope(shield=True):
            await engine.close()


async def _opened(
    settings: Settings, databases: Sequence[str], folder: DataFolder, semantic_file: Path | None
) -> Engine:
    slow = partial(say, f"Still opening {visible(name_of(databases))}.", aside=True)
    timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, slow)  # a large workbook, for one
    try:
        engine = open_engine(
            databases,
            cache_folder=folder.path / "converted",
            side_by_side=settings.queries_at_once,
            memory_limit_bytes=settings.memory_limit_mb * MEGABYTE or None,
        )
        if semantic_file:
            engine = SemanticEngine(engine, read(semantic_file))
        await engine.open()
    except DatabaseNotOpened as error:
        why, _, statements = str(error).partition("\n\n")
        for line in statements.splitlines():  # SQL that makes a fit role, to be copied
            err().print(Text(visible(line)), soft_wrap=True, highlight=False)
        end = "" if why.endswith("?") else "."
        raise SettingsError(f"The database cannot be asked: {why}{end}") from error
    finally:
        timer.cancel()
    return engine


def _today() -> date:
    """The day it is here: what "today" means to whoever asks."""
    return datetime.now().astimezone().date()


async def sample_path(settings: Settings) -> Path:
    """The sample's file; where it has to be made, a bar on standard error shows how far it is."""
    bar = Progress(
        TextColumn("Making the sample: {task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=err(),
        transient=True,
    )
    task = bar.add_task("", total=None)
    with ExitStack() as shown:

        def report(done: float, total: float | None, message: str | None) -> None:
            if not bar.live.is_started:
                if not bar.console.is_terminal:
                    bar.console.print("Making the sample, once; this takes some seconds.")
                shown.enter_context(bar)
            bar.update(task, completed=done, total=total, description=message or "")

        return await ensure_sample(
            settings.data_folder / "samples", settings.sample, _today(), report
        )


__all__ = ["opened_database", "sample_path", "serve_database"]
