"""``awhile app``: the page, and the MCP server behind it, as two processes."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import Annotated
from urllib.parse import urlsplit

import anyio
import typer

from awhile.ask.cli.installed import must_be_complete
from awhile.cli.files import FILES, with_files
from awhile.cli.screen import say, stopped
from awhile.cli.settings import Effective, option, read_settings
from awhile.cli.signals import end_on_sigterm

must_be_complete()


def app(
    ctx: typer.Context,
    files: Annotated[list[str] | None, FILES] = None,
    database: Annotated[list[str] | None, option("database")] = None,
    semantic_file: Annotated[str | None, option("semantic_file")] = None,
    sample: Annotated[str | None, option("sample")] = None,
    open_browser: Annotated[bool | None, option("open_browser")] = None,
    page_port: Annotated[str | None, option("page_port")] = None,
    port: Annotated[str | None, option("port")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    store: Annotated[str | None, option("store")] = None,
    slots: Annotated[str | None, option("slots")] = None,
    queries_at_once: Annotated[str | None, option("queries_at_once")] = None,
    lease_seconds: Annotated[str | None, option("lease_seconds")] = None,
    drain_seconds: Annotated[str | None, option("drain_seconds")] = None,
    row_budget: Annotated[str | None, option("row_budget")] = None,
    byte_budget_mb: Annotated[str | None, option("byte_budget_mb")] = None,
    query_seconds: Annotated[str | None, option("query_seconds")] = None,
    ask_above_cost: Annotated[str | None, option("ask_above_cost")] = None,
    model: Annotated[str | None, option("model")] = None,
    model_when: Annotated[str | None, option("model_when")] = None,
    model_url: Annotated[str | None, option("model_url")] = None,
    model_seconds: Annotated[str | None, option("model_seconds")] = None,
    model_sees: Annotated[str | None, option("model_sees")] = None,
    keep_days: Annotated[str | None, option("keep_days")] = None,
    memory_limit_mb: Annotated[str | None, option("memory_limit_mb")] = None,
    results: Annotated[str | None, option("results")] = None,
    results_cache_mb: Annotated[str | None, option("results_cache_mb")] = None,
) -> None:
    """Open the page: ask, watch, stop, and read the answers.

    Prints the page's address as the first line of standard output; it carries the key to the
    page, so treat it like a password. Ctrl-C ends the page and the server behind it.
    """
    effective = read_settings(with_files(ctx.params))
    end_on_sigterm()
    try:
        anyio.run(_app, effective)
    except KeyboardInterrupt:
        stopped()
    except BaseExceptionGroup as group:
        # SIGTERM unwinds as SystemExit, which the task group wraps like any error.
        if group.split(SystemExit)[1] is not None:
            raise


async def _app(effective: Effective) -> None:
    from awhile.ask.cli.child import ServerChild
    from awhile.ask.cli.folder import DataFolder
    from awhile.ask.web import serve_page  # takes a second to load

    settings = effective.settings
    token = DataFolder(settings.data_folder).page_token()
    server = ServerChild(effective, port=settings.port, or_free=not effective.given("port"))

    def ready(url: str) -> None:
        _say_if_elsewhere(settings.page_port, url)
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        if sys.stdout.isatty():
            say("Whoever has this address can read and stop everything. Ctrl-C ends.", aside=True)
        if settings.open_browser and _has_display():
            webbrowser.open(url)

    async with server.running(), anyio.create_task_group() as watching:
        _say_if_elsewhere(settings.port, server.url)
        watching.start_soon(server.keep_running)
        await serve_page(
            server.url,
            token,
            port=settings.page_port,
            or_free=not effective.given("page_port"),
            on_ready=ready,
        )
        watching.cancel_scope.cancel()


def _say_if_elsewhere(port: int, url: str) -> None:
    if port not in (0, urlsplit(url).port):
        say(f"Port {port} is taken; using {urlsplit(url).port}.", aside=True)


def _has_display() -> bool:
    if sys.platform in {"darwin", "win32"}:
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


__all__ = ["app"]
