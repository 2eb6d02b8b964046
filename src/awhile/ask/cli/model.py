"""``awhile model``: drafting a semantic file from a database, and checking one against it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
import typer

from awhile.ask.cli.installed import must_be_complete
from awhile.cli.files import FILES, with_files
from awhile.cli.screen import out, say
from awhile.cli.settings import option, read_settings
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from awhile.cli.settings import Settings

__all__ = ["model"]

must_be_complete()

Action = Literal["init", "check"]


def model(
    ctx: typer.Context,
    action: Annotated[
        Action,
        typer.Argument(help="init: draft a semantic file. check: whether one fits the database."),
    ],
    files: Annotated[list[str] | None, FILES] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write, instead of printing.")
    ] = None,
    database: Annotated[list[str] | None, option("database")] = None,
    semantic_file: Annotated[str | None, option("semantic_file")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
) -> None:
    """Draft the file that says what the words of your database mean, or check it.

    A draft names the tables, their dates and labels, what brings revenue, and the joins that are
    not declared. Put it right, and give it to `awhile app` or `awhile serve` as --semantic-file.
    """
    settings = read_settings(with_files(ctx.params)).settings
    if action == "init":
        anyio.run(_init, settings, output)
    else:
        anyio.run(_check, settings)


async def _init(settings: Settings, output: Path | None) -> None:
    from awhile.ask.cli.serve import opened_database  # takes a second to load
    from awhile.ask.semantics.drafting import draft

    if output is not None and await anyio.Path(output).exists():
        raise SettingsError(
            f"{str(output)!r} is there already and would be overwritten. Remove it, or name "
            "another file with --output."
        )
    async with opened_database(settings) as engine:
        text = draft(await engine.describe())
    if output is None:
        out().print(text, end="", markup=False, highlight=False, soft_wrap=True)
        return
    try:
        await anyio.Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"The draft cannot be written to {str(output)!r}: {error}") from error
    say(
        f"Drafted {output}. Put it right, then check it: awhile model check --semantic-file "
        f"{output}",
        aside=True,
    )


async def _check(settings: Settings) -> None:
    from awhile.ask.cli.serve import opened_database  # takes a second to load
    from awhile.ask.semantics.applying import applied
    from awhile.ask.semantics.file import read

    if settings.semantic_file is None:
        raise SettingsError("There is no file to check: name it with --semantic-file.")
    semantics = read(settings.semantic_file)
    async with opened_database(settings) as engine:
        said = applied(semantics, await engine.describe(), engine.check)
    there = {
        "table": semantics.content.entities,
        "measure": said.measures,
        "join": semantics.content.joins,
        "example": said.examples,
    }
    counts = [f"{len(each)} {name}{'' if len(each) == 1 else 's'}" for name, each in there.items()]
    say(f"{settings.semantic_file} fits: {', '.join(counts)}.")
