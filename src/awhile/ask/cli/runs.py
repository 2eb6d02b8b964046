"""``awhile tasks`` and ``awhile cancel``: the runs there are, and stopping one of them."""

from __future__ import annotations

from typing import Annotated

import typer

from awhile.ask.cli.installed import must_be_complete
from awhile.cli.handles import ID
from awhile.cli.settings import option, read_settings

must_be_complete()


def tasks(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(help="How many to show.", min=1, max=1000)] = 20,
    as_json_array: Annotated[
        bool, typer.Option("--json", help="Print them once, as a JSON array.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="Print them once.")] = False,
    server_url: Annotated[str | None, option("server_url")] = None,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """List your runs, newest first: running and ended ones.

    At a terminal the list is live until nothing runs any more, or Ctrl-C. Where no server answers,
    this shows how the work of this terminal stood when last seen; so it always does for what
    `awhile call` began at other servers.
    """
    from awhile.ask.cli.inbox import show_runs  # takes a second to load

    show_runs(read_settings(ctx.params), limit, as_json_array=as_json_array, once=once)


def cancel(
    ctx: typer.Context,
    run_id: Annotated[str, ID],
    server_url: Annotated[str | None, option("server_url")] = None,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Ask for a run to be stopped, wait, and say what came of it.

    Ends with 0 once it is known not to be running any more, and with 5 while it is not known.
    """
    from awhile.ask.cli.inbox import stop_run  # takes a second to load

    raise typer.Exit(stop_run(read_settings(ctx.params), run_id))


__all__ = ["cancel", "tasks"]
