"""The program ``awhile``: its commands, and how each of them may end."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points, version
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from awhile.cli import ends
from awhile.cli.admin import admin
from awhile.cli.call import call
from awhile.cli.config import config
from awhile.cli.handles import attach, cancel
from awhile.cli.probe import EPILOG, probe_command
from awhile.cli.screen import complain
from awhile.cli.serve import serve
from awhile.cli.top import top
from awhile.cli.work import worker
from awhile.errors import AwhileError, SettingsError
from awhile.extras import command_to_add

GROUP = "awhile.commands"
"""The entry-point group that brings further commands: each name is a command, each object its
function, annotated as Typer reads it. So this room never imports *ask your database*."""


PLAINER: Mapping[str, Callable[..., Any]] = {"attach": attach, "cancel": cancel}
"""What stands in for a contributed command where that is not completely installed: the same for
work of any server, which `awhile call` begins."""


class Commands(TyperGroup):
    """The commands of this room and of the entry points, those imported only when called for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, the contributed ones first: they are what the program is for."""
        return [*_contributed(), *super().list_commands(ctx)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported by now."""
        entry_point = _contributed().get(cmd_name)
        if entry_point is None:
            return super().get_command(ctx, cmd_name)
        return _as_command(cmd_name, _load(entry_point))


def _contributed() -> dict[str, EntryPoint]:
    return {one.name: one for one in entry_points(group=GROUP)}


def _load(entry_point: EntryPoint) -> Callable[..., Any]:
    try:
        return cast("Callable[..., Any]", entry_point.load())
    except ImportError as missing:
        if entry_point.name in PLAINER:
            return PLAINER[entry_point.name]
        reason = SettingsError(
            f"`awhile {entry_point.name}` is not completely installed: {missing}. Install what it "
            f"needs: {command_to_add('ask')}"
        )

    def not_installed(ctx: typer.Context) -> None:
        raise reason

    not_installed.__doc__ = "Not completely installed; run it to see what is missing."
    return not_installed


def _as_command(name: str, function: Callable[..., Any]) -> Any:
    alone = typer.Typer(add_completion=False, rich_markup_mode=None)
    alone.command(
        name,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True}
        if function.__name__ == "not_installed"
        else None,
    )(function)
    return typer.main.get_command(alone)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Long work over MCP that is never lost, can really be stopped, and is shown as it is.",
    epilog=ends.EPILOG,
)
app.command()(serve)
app.command()(worker)
app.command()(call)
app.command()(top)
app.add_typer(admin, name="admin")
app.command()(config)
app.command("probe", epilog=EPILOG)(probe_command)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"awhile {version('awhile')}")
        raise typer.Exit


@app.callback()
def _awhile(  # pyright: ignore[reportUnusedFunction] - Typer keeps it
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; ends the process with one of the exit codes of `ends`."""
    try:
        app(prog_name="awhile")
    except Exception as error:
        reason = _only(error)
        match reason:
            case BrokenPipeError():
                # Whoever read our output has gone, `head` for one. Python would complain once
                # more when it flushes on its way out.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            case ends.AlreadySaid():
                pass
            case AwhileError():
                complain(reason)
            case _:
                raise
        sys.exit(ends.exit_code(reason))


def _only(error: Exception) -> Exception:
    """The one error inside task groups' groups of one."""
    if not isinstance(error, ExceptionGroup):
        return error
    group = cast("ExceptionGroup[Exception]", error)
    return _only(group.exceptions[0]) if len(group.exceptions) == 1 else group


__all__ = ["GROUP", "app", "main"]

if __name__ == "__main__":
    main()
