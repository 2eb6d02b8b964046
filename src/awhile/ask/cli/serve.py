"""``awhile serve``: *ask your database* as an MCP server, over HTTP or stdio."""

from __future__ import annotations

import logging
import sys
from contextlib import ExitStack, asynccontextmanager
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import anyio
import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from awhile.ask.cli.folder import DataFolder, served_by
from awhile.ask.cli.signals import end_at_once_on_signals, end_on_sigterm, end_with_stdin
from awhile.ask.engines.contract import Budget
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.mcp_server.build import build_server
from awhile.ask.sample import ensure_sample
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.cli.screen import err, say, stopped
from awhile.cli.settings import Settings, option, read_settings
from awhile.errors import SettingsError
from awhile.server.http import refuse_strangers, serve_http
from awhile.server.tasks import Tasks
from awhile.stores.open import open_store

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from mcp.server.mcpserver import MCPServer

MEGABYTE = 1024 * 1024
DAY_SECONDS = 86_400


def serve(
    ctx: typer.Context,
    database: Annotated[str | None, option("database")] = None,
    sample: Annotated[str | None, option("sample")] = None,
    stdio: Annotated[
        bool,
        typer.Option("--stdio", help="Speak MCP on standard input and output, instead of HTTP."),
    ] = False,
    host: Annotated[str | None, option("host")] = None,
    port: Annotated[str | None, option("port")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    store: Annotated[str | None, option("store")] = None,
    slots: Annotated[str | None, option("slots")] = None,
    queries_at_once: Annotated[str | None, option("queries_at_once")] = None,
    inline_seconds: Annotated[str | None, option("inline_seconds")] = None,
    lease_seconds: Annotated[str | None, option("lease_seconds")] = None,
    drain_seconds: Annotated[str | None, option("drain_seconds")] = None,
    row_budget: Annotated[str | None, option("row_budget")] = None,
    byte_budget_mb: Annotated[str | None, option("byte_budget_mb")] = None,
    query_seconds: Annotated[str | None, option("query_seconds")] = None,
    keep_days: Annotated[str | None, option("keep_days")] = None,
    memory_limit_mb: Annotated[str | None, option("memory_limit_mb")] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Serve a database, or the sample, to any MCP host.

    Prints the server's URL as the first line of standard output. Ctrl-C stops it: what runs is
    handed back, and runs again when a server is started on the same data folder.
    """
    settings = read_settings(ctx.params).settings
    logging.getLogger("mcp").setLevel(logging.WARNING)  # it tells of every start and stop
    if stdio:
        end_at_once_on_signals()
    else:
        end_on_sigterm()
    if until_stdin_closes:
        end_with_stdin(settings.drain_seconds)
    try:
        anyio.run(_serve_stdio if stdio else _serve_http, settings)
    except KeyboardInterrupt:
        stopped()


async def _serve_http(settings: Settings) -> None:
    refuse_strangers(settings.host, authenticated=False)  # before the sample is made
    folder = DataFolder(settings.data_folder)
    async with _server(settings, folder) as mcp:
        with ExitStack() as while_serving:

            def ready(url: str) -> None:
                while_serving.enter_context(folder.announced(url, served_by(settings)))
                sys.stdout.write(f"{url}\n")
                sys.stdout.flush()
                if sys.stdout.isatty():
                    say(f"{mcp.title}. Ctrl-C ends.", aside=True)

            await serve_http(mcp, host=settings.host, port=settings.port, on_ready=ready)


async def _serve_stdio(settings: Settings) -> None:
    folder = DataFolder(settings.data_folder)
    async with _server(settings, folder) as mcp:
        await mcp.run_stdio_async()


@asynccontextmanager
async def _server(settings: Settings, folder: DataFolder) -> AsyncGenerator[MCPServer[Any]]:
    """The server; whatever cannot work is refused by now."""
    async with open_store(settings.store):
        pass
    database = settings.database or await sample_path(settings)
    name = database.stem if settings.database else "sample"
    engine = DuckDBEngine(
        database,
        side_by_side=settings.queries_at_once,
        memory_limit_bytes=settings.memory_limit_mb * MEGABYTE or None,
    )
    try:
        try:
            await engine.open()
        except DatabaseNotOpened as error:
            raise SettingsError(f"The database cannot be asked: {error}.") from error
        yield build_server(
            tasks=Tasks(
                settings.store,
                slots=settings.slots,
                lease_seconds=settings.lease_seconds,
                drain_seconds=settings.drain_seconds,
            ),
            engine=engine,
            translator=BuiltInTranslator(),
            results=folder.results,
            budget=Budget(
                rows=settings.row_budget,
                bytes=settings.byte_budget_mb * MEGABYTE,
                seconds=settings.query_seconds or None,
            ),
            database_name=name,
            today=_today,
            inline_seconds=settings.inline_seconds,
            keep_seconds=settings.keep_days * DAY_SECONDS,
        )
    finally:
        with anyio.CancelScope(shield=True):
            await engine.close()


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


__all__ = ["sample_path", "serve"]
