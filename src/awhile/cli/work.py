"""``awhile worker``: runs a module's tasks, and serves nothing."""

from __future__ import annotations

import signal
import sys
from typing import Annotated

import typer

from awhile.cli.logs import keep_level, set_up_logs
from awhile.cli.screen import say, stopped, visible
from awhile.cli.settings import option, read_settings


def worker(
    ctx: typer.Context,
    target: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:SERVER", help="The MCPServer whose tasks to run, as Python imports it."
        ),
    ],
    store: Annotated[str | None, option("store")] = None,
    slots: Annotated[str | None, option("slots")] = None,
    lease_seconds: Annotated[str | None, option("lease_seconds")] = None,
    drain_seconds: Annotated[str | None, option("drain_seconds")] = None,
    gone_tool_seconds: Annotated[str | None, option("gone_tool_seconds")] = None,
    max_queued: Annotated[str | None, option("max_queued")] = None,
    max_queued_per_owner: Annotated[str | None, option("max_queued_per_owner")] = None,
    max_running_per_owner: Annotated[str | None, option("max_running_per_owner")] = None,
    health_host: Annotated[str | None, option("health_host")] = None,
    health_port: Annotated[str | None, option("health_port")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    log_format: Annotated[str | None, option("log_format")] = None,
    audit_file: Annotated[str | None, option("audit_file")] = None,
    webhook_url: Annotated[str | None, option("webhook_url")] = None,
) -> None:
    """Run the tasks of a module's MCP server, which `awhile serve` keeps on the same store.

    Its first line of standard output says that it is ready: with --health-port, it is the URL
    before /healthz and /readyz. SIGTERM lets what runs end first; Ctrl-C stops it and hands it
    back. A second signal ends the process at once.
    """
    from awhile.cli.deploy import deploy  # the SDK takes 0.7 s to load
    from awhile.cli.target import load
    from awhile.server import collector, event_loop
    from awhile.server.working import work

    effective = read_settings(ctx.params)
    settings = effective.settings
    set_up_logs(settings.log_format, settings.audit_file)
    server, tasks = load(target)
    keep_level(server.settings.log_level)
    deploy(tasks, effective)

    def ready(health: str | None) -> None:
        collector.settle()
        works = f"Working on the tasks of {visible(server.title or server.name)}."
        sys.stdout.write(f"{works if health is None else health}\n")
        sys.stdout.flush()
        if sys.stdout.isatty():
            say("Ctrl-C ends." if health is None else f"{works} Ctrl-C ends.", aside=True)

    async def run() -> int:
        return await work(
            server,
            health_host=settings.health_host,
            health_port=settings.health_port,
            on_ready=ready,
        )

    if event_loop.run(run) == signal.SIGINT:
        stopped()


__all__ = ["worker"]
