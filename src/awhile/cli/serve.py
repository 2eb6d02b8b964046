"""``awhile serve``: a module's server, or the database app, over HTTP or stdio."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Annotated, Protocol, cast

import typer

from awhile.cli.files import names_server, with_files
from awhile.cli.logs import keep_level, set_up_logs
from awhile.cli.screen import say, stopped
from awhile.cli.settings import ENTRIES, Effective, option, read_settings
from awhile.cli.signals import LetGo, end_at_once_on_signals, end_on_sigterm, end_with_stdin
from awhile.errors import SettingsError
from awhile.extras import command_to_add

GROUP = "awhile.apps"
"""The entry-point group of what is served where no module is named: a `ServeApp` by the name
`APP`. So this room never imports *ask your database*."""

APP = "database"

OF_THE_APP = (
    "database",
    "sample",
    "queries_at_once",
    "inline_seconds",
    "row_budget",
    "byte_budget_mb",
    "query_seconds",
    "ask_above_cost",
    "model",
    "model_when",
    "model_url",
    "model_seconds",
    "model_sees",
    "unobserved_seconds",
    "keep_days",
    "memory_limit_mb",
    "results",
    "results_cache_mb",
)
"""Settings that a module has no use for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How something is served, beside its settings.

    Attributes:
        stdio: on standard input and output, instead of HTTP.
        parent: by HTTP, where a parent holds its standard input: whether that lets go on purpose.
        or_free: by HTTP, whether a free port will do where the one of the settings is taken.
    """

    stdio: bool
    parent: LetGo | None
    or_free: bool


class ServeApp(Protocol):
    """Serves an app until it is told to stop."""

    def __call__(self, effective: Effective, how: Serving) -> None:
        """Serve.

        Raises:
            SettingsError: something cannot work.
        """
        ...


def serve(
    ctx: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODULE:SERVER | FILE...]",
            help="The MCPServer to serve, as Python imports it; without it, the database app. Or "
            "the data files and folders (or the database) that it asks.",
            show_default=False,
        ),
    ] = None,
    stdio: Annotated[
        bool,
        typer.Option("--stdio", help="Speak MCP on standard input and output, instead of HTTP."),
    ] = False,
    host: Annotated[str | None, option("host")] = None,
    port: Annotated[str | None, option("port")] = None,
    token_issuer: Annotated[str | None, option("token_issuer")] = None,
    token_audience: Annotated[str | None, option("token_audience")] = None,
    token_scopes: Annotated[str | None, option("token_scopes")] = None,
    public_url: Annotated[str | None, option("public_url")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    store: Annotated[str | None, option("store")] = None,
    slots: Annotated[str | None, option("slots")] = None,
    lease_seconds: Annotated[str | None, option("lease_seconds")] = None,
    drain_seconds: Annotated[str | None, option("drain_seconds")] = None,
    gone_tool_seconds: Annotated[str | None, option("gone_tool_seconds")] = None,
    max_queued: Annotated[str | None, option("max_queued")] = None,
    max_queued_per_owner: Annotated[str | None, option("max_queued_per_owner")] = None,
    max_running_per_owner: Annotated[str | None, option("max_running_per_owner")] = None,
    single_replica: Annotated[bool | None, option("single_replica")] = None,
    database: Annotated[list[str] | None, option("database")] = None,
    semantic_file: Annotated[str | None, option("semantic_file")] = None,
    sample: Annotated[str | None, option("sample")] = None,
    queries_at_once: Annotated[str | None, option("queries_at_once")] = None,
    inline_seconds: Annotated[str | None, option("inline_seconds")] = None,
    row_budget: Annotated[str | None, option("row_budget")] = None,
    byte_budget_mb: Annotated[str | None, option("byte_budget_mb")] = None,
    query_seconds: Annotated[str | None, option("query_seconds")] = None,
    ask_above_cost: Annotated[str | None, option("ask_above_cost")] = None,
    model: Annotated[str | None, option("model")] = None,
    model_when: Annotated[str | None, option("model_when")] = None,
    model_url: Annotated[str | None, option("model_url")] = None,
    model_seconds: Annotated[str | None, option("model_seconds")] = None,
    model_sees: Annotated[str | None, option("model_sees")] = None,
    unobserved_seconds: Annotated[str | None, option("unobserved_seconds")] = None,
    keep_days: Annotated[str | None, option("keep_days")] = None,
    memory_limit_mb: Annotated[str | None, option("memory_limit_mb")] = None,
    results: Annotated[str | None, option("results")] = None,
    results_cache_mb: Annotated[str | None, option("results_cache_mb")] = None,
    log_format: Annotated[str | None, option("log_format")] = None,
    audit_file: Annotated[str | None, option("audit_file")] = None,
    webhook_url: Annotated[str | None, option("webhook_url")] = None,
    until_stdin_closes: Annotated[bool, typer.Option(hidden=True)] = False,
    or_free_port: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Serve a module's MCP server, or a database (the sample, without --database).

    Prints the server's URL as the first line of standard output. SIGTERM lets what runs end first;
    Ctrl-C stops it and hands it back, to run again when a server is there. A second signal ends
    the process at once.
    """
    target = next(filter(names_server, what or []), None)
    if target is not None and what != [target]:
        raise SettingsError(
            f"{target!r} is a server in a module, which is served by itself. Leave the other names "
            "out, or serve them by another command."
        )
    flags = ctx.params if target is not None else with_files(ctx.params, "what")
    effective = read_settings(flags)
    set_up_logs(effective.settings.log_format, effective.settings.audit_file)
    if stdio:
        end_at_once_on_signals()
    else:
        end_on_sigterm()
    parent = LetGo() if until_stdin_closes and target is None else None
    if until_stdin_closes:  # the app then ends because a person leaves: nothing is waited for
        end_with_stdin(0 if target is None else effective.settings.drain_seconds, parent)
    how = Serving(stdio=stdio, parent=parent, or_free=or_free_port)
    try:
        if target is None:
            _the_app()(effective, how)
        else:
            _serve_module(target, effective, how)
    except KeyboardInterrupt:
        stopped()


def _the_app() -> ServeApp:
    found = {one.name: one for one in entry_points(group=GROUP)}
    try:
        return cast("ServeApp", found[APP].load())
    except (ImportError, KeyError) as missing:
        raise SettingsError(
            f"There is no module to serve, and the database app is not completely installed "
            f"({missing}). Name a module, as in `awhile serve reports:mcp`, or install the app: "
            f"{command_to_add('ask')}"
        ) from missing


def _serve_module(target: str, effective: Effective, how: Serving) -> None:
    from awhile.cli.authentication import authentication_of
    from awhile.cli.deploy import deploy, share_keys  # the SDK takes 0.7 s to load
    from awhile.cli.target import load
    from awhile.server import collector, event_loop
    from awhile.server.http import serve_http

    for name in OF_THE_APP:
        if effective.by_flag(name):
            raise SettingsError(
                f"{ENTRIES[name].flag} is for the database app, and {target!r} is a module: leave "
                "one of the two out."
            )
    server, tasks = load(target)
    keep_level(server.settings.log_level)
    deploy(tasks, effective)
    share_keys(server, tasks, effective)
    settings = effective.settings
    if how.stdio:
        event_loop.run(server.run_stdio_async)
        return
    authentication = authentication_of(settings)
    if authentication is not None:
        authentication.require(server)

    def ready(url: str) -> None:
        collector.settle()
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        if sys.stdout.isatty():
            say(f"{server.title or server.name}. Ctrl-C ends.", aside=True)

    async def serve_it() -> None:
        if authentication is not None:
            await authentication.issuer.check()
        await serve_http(
            server,
            host=settings.host,
            port=settings.port,
            or_free=how.or_free,
            authentication=authentication,
            on_ready=ready,
        )

    event_loop.run(serve_it)


__all__ = ["APP", "GROUP", "ServeApp", "Serving", "serve"]
