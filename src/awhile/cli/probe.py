"""``awhile probe``: how a server makes its callers wait, measured and judged."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

SECONDS, REQUESTS = 120.0, 600
"""Those of `awhile.probe.Limits`; a test compares. It is imported when the command runs: every
other command would start a tenth of a second later (measured)."""


class FailOn(StrEnum):
    """From which grade on the command ends with an exit code other than 0."""

    DIFFERS = "differs"
    MISLEADS = "misleads"
    LOSES_WORK = "loses-work"
    NEVER = "never"


class Era(StrEnum):
    """The protocol revisions that can be looked at."""

    MODERN = "2026-07-28"
    LEGACY = "2025-11-25"


EPILOG = (
    "\b\nExit codes, beside those of every command:\n"
    "   10  the worst is: differs\n"
    "   11  the worst is: misleads\n"
    "   12  the worst is: loses work"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line as it was given."""

    servers: tuple[str, ...]
    stdio: str | None
    tool: str | None
    args: str
    safe_to_run: bool
    witness: str | None
    headers: tuple[str, ...]
    token: str | None
    second_token: str | None
    eras: tuple[str, ...]
    compare: bool
    as_json: bool
    html: Path | None
    junit: Path | None
    fail_on: FailOn
    seconds: float
    requests: int


def probe_command(
    servers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...",
            help="The server's MCP endpoint; with --compare two of them, or saved --json reports.",
            show_default=False,
        ),
    ] = None,
    stdio: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Start this server and probe it over stdio."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="A tool to call; see --safe-to-run.")
    ] = None,
    args: Annotated[
        str, typer.Option(metavar="JSON", help="The tool's arguments, as a JSON object.")
    ] = "{}",
    safe_to_run: Annotated[
        bool,
        typer.Option(
            "--safe-to-run",
            help="Say that the tool may be called several times, and cancelled half-way.",
        ),
    ] = False,
    witness: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Prints something that changes while the tool works, for instance `wc -l a.log`: "
            "shows whether cancelled work has stopped.",
        ),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option(metavar="'NAME: VALUE'", help="Sent with every request; never reported."),
    ] = None,
    token: Annotated[
        str | None, typer.Option(metavar="TOKEN", help="A bearer token; never reported.")
    ] = None,
    second_token: Annotated[
        str | None,
        typer.Option(metavar="TOKEN", help="Somebody else's, to see what they are shown."),
    ] = None,
    era: Annotated[
        list[Era] | None,
        typer.Option(help="Look at this protocol revision alone; may be given twice."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Probe two servers, and show them side by side.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as one HTML file.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as JUnit's XML.")
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="From which grade on the exit code is not 0.")
    ] = FailOn.DIFFERS,
    seconds: Annotated[
        float, typer.Option(help="How long it may take, in seconds, ending its tasks aside.")
    ] = SECONDS,
    requests: Annotated[
        int, typer.Option(help="How many requests it may send, those that end its tasks aside.")
    ] = REQUESTS,
) -> None:
    """Measure how an MCP server makes its callers wait, and say what to fix.

    Without --tool nothing is called. It looks at both protocol revisions, keeps to the interval the
    server suggests except where it measures it, and ends every task it makes.
    """
    from awhile.cli.probing import run

    asked = Asked(
        servers=tuple(servers or ()),
        stdio=stdio,
        tool=tool,
        args=args,
        safe_to_run=safe_to_run,
        witness=witness,
        headers=tuple(header or ()),
        token=token,
        second_token=second_token,
        eras=tuple(one.value for one in era or Era),
        compare=compare,
        as_json=as_json,
        html=html,
        junit=junit,
        fail_on=fail_on,
        seconds=seconds,
        requests=requests,
    )
    raise typer.Exit(run(asked))


__all__ = ["EPILOG", "REQUESTS", "SECONDS", "Asked", "FailOn", "probe_command"]
