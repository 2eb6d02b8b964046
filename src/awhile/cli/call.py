"""``awhile call``: a tool of any MCP server, from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from awhile.cli.settings import option, read_settings

JSON = typer.Option("--json", help="Print the whole result as JSON, as it came.")
QUIET = typer.Option("--quiet", "-q", help="Say nothing but the result.")


def call(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL] [TOOL] [KEY=VALUE]...",
            help="The server's MCP endpoint (not with --stdio), a tool, and its arguments. Without "
            "a tool: the tools there are. A value is read as the tool's schema has it; KEY:=JSON "
            "gives any; a list is given by its key several times.",
            show_default=False,
        ),
    ] = None,
    stdio: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Start this server, and speak to it over stdio."),
    ] = None,
    args: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="Arguments as one JSON object; KEY=VALUE go over them."),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'NAME: VALUE'",
            help="Sent with every request. Others see what is typed here: secrets go into "
            "--token-from, AWHILE_SERVER_TOKEN or AWHILE_SERVER_HEADERS.",
        ),
    ] = None,
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Call a tool of any MCP server, of either protocol revision, and wait for its result.

    Progress is shown, and what the work asks is asked here. Ctrl-C asks what to do: keep it running
    (where the server keeps it as a task; `awhile attach ID` comes back to it), stop it, or go on
    waiting.
    """
    from awhile.cli.calling import Asked, run  # the SDK takes 0.7 s to load

    asked = Asked(
        words=tuple(words or ()),
        stdio=stdio,
        args=args,
        headers=tuple(header or ()),
        as_json=as_json,
        quiet=quiet,
    )
    raise typer.Exit(run(asked, read_settings(ctx.params)))


__all__ = ["JSON", "QUIET", "call"]
