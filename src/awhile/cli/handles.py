"""``attach`` and ``cancel`` for work of any server: by the id that this terminal noted down."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from awhile.cli.call import JSON, QUIET
from awhile.cli.settings import option, read_settings
from awhile.errors import AwhileError
from awhile.visible import visible

if TYPE_CHECKING:
    from awhile.client import Entry

MOST_OFFERED = 50
LONGEST_OFFERED = 60
"""Letters of what is said beside an id."""


def known_ids(incomplete: str) -> list[tuple[str, str]]:
    """For the shell: ids that this terminal noted down, the newest first, each with what it is
    about."""
    from awhile.client import Ledger  # the SDK takes 0.7 s to load

    try:
        ledger = Ledger(read_settings().settings.ledger)
        entries = [one for one in ledger.entries() if one.task_id.startswith(incomplete)]
        ledger.close()
    except AwhileError:  # a shell that is being typed into has no place for it
        return []
    return [(one.task_id, _about(one)) for one in entries[:MOST_OFFERED]]


def _about(entry: Entry) -> str:
    said = entry.arguments.get("question") or entry.arguments.get("sql") or entry.tool or ""
    # Shells evaluate what they are offered: nothing in it may mean anything to one.
    text = " ".join(re.sub(r"[^\w .,:=/+-]+", " ", visible(str(said))).split())
    return f"{entry.status}: {text[:LONGEST_OFFERED]}"


ID = typer.Argument(
    metavar="ID",
    help="The id of a run, or its beginning.",
    show_default=False,
    autocompletion=known_ids,
)


def attach(
    ctx: typer.Context,
    run_id: Annotated[str, ID],
    as_json: Annotated[bool, JSON] = False,
    quiet: Annotated[bool, QUIET] = False,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Come back to work that keeps running: watch it to its end, or see how it ended."""
    from awhile.cli.coming_back import come_back, must_be_noted

    effective = read_settings(ctx.params)
    entry = must_be_noted(effective, run_id)
    raise typer.Exit(come_back(effective, entry, as_one_json=as_json, quiet=quiet))


def cancel(
    ctx: typer.Context,
    run_id: Annotated[str, ID],
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Ask for work to be stopped, wait, and say what came of it.

    Ends with 0 once it is known not to be running any more, and with 5 while it is not known.
    """
    from awhile.cli.coming_back import must_be_noted, stop

    effective = read_settings(ctx.params)
    raise typer.Exit(stop(effective, must_be_noted(effective, run_id)))


__all__ = ["ID", "attach", "cancel", "known_ids"]
