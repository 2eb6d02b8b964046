"""``awhile ask`` and ``awhile attach``: a question or SQL, its waiting, its answer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from awhile.ask.cli.how import File, Form, How, Request, Script
from awhile.ask.cli.installed import must_be_complete
from awhile.cli.files import FILES, with_files
from awhile.cli.handles import ID, known_ids
from awhile.cli.settings import option, read_settings
from awhile.errors import SettingsError

must_be_complete()

JSON = typer.Option("--json", help="Print the whole answer as one JSON object: every row, exactly.")
CSV = typer.Option("--csv", help="Print every row as CSV, exactly as the database has it.")
PARQUET = typer.Option(
    "--parquet", metavar="FILE", help="Write every row to a Parquet file, exactly and typed."
)
XLSX = typer.Option(
    "--xlsx", metavar="FILE", help="Write every row to an Excel workbook, which says what was cut."
)
QUIET = typer.Option(
    "--quiet", "-q", help="Say nothing but the answer: no progress, no reading, no SQL, no count."
)
PAGER = typer.Option(
    "--pager/--no-pager",
    help="Whether a table longer than the terminal goes through $PAGER, every row of it.",
)


def ask(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(help="The question, in plain language; '-' reads standard input."),
    ] = None,
    files: Annotated[list[str] | None, FILES] = None,
    sql: Annotated[
        bool, typer.Option("--sql", help="Take it as one SELECT and run that instead.")
    ] = False,
    file: Annotated[
        Path | None,
        typer.Option(
            help="Run the SELECTs in this file, ; between them, one after the other, each as a "
            "run of its own; the first that fails ends it."
        ),
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A value for a :name in the SQL, bound and never pasted; again for each. A date "
            "(2026-01-01), a number, true or a text by how it looks; NAME:TYPE=VALUE and "
            "NAME:=JSON say which. At a terminal those left out are asked for.",
        ),
    ] = None,
    confirm_cost: Annotated[
        bool, typer.Option("--confirm-cost", help="Run it however expensive it is expected to be.")
    ] = False,
    follows: Annotated[
        str | None,
        typer.Option(
            metavar="ID|last",
            help='The run that a question goes on from: "and by country?", "only 2025".',
            autocompletion=known_ids,
        ),
    ] = None,
    as_json: Annotated[bool, JSON] = False,
    as_csv: Annotated[bool, CSV] = False,
    parquet: Annotated[Path | None, PARQUET] = None,
    xlsx: Annotated[Path | None, XLSX] = None,
    quiet: Annotated[bool, QUIET] = False,
    pager: Annotated[bool, PAGER] = True,
    server_url: Annotated[str | None, option("server_url")] = None,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    database: Annotated[list[str] | None, option("database")] = None,
    semantic_file: Annotated[str | None, option("semantic_file")] = None,
    model: Annotated[str | None, option("model")] = None,
    model_url: Annotated[str | None, option("model_url")] = None,
    sample: Annotated[str | None, option("sample")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Ask the database a question and wait for the table.

    Ctrl-C asks what to do: keep it running, stop it, or go on waiting; pressed again, it leaves
    and says how to come back. Without a terminal it asks the server to stop, and goes on watching.
    """
    text = _asked(question, file)
    if follows is not None and (sql or file is not None):
        raise SettingsError("--follows is about a question, and SQL goes on from nothing. Drop it.")
    if value and not sql and file is None:
        raise SettingsError("--value is for a :name in SQL; add --sql or --file, or drop it.")
    confirmed: dict[str, Any] = {"confirm_cost": True} if confirm_cost else {}
    if value:
        from awhile.ask.cli.values import named_values  # takes a while to load

        confirmed["parameters"] = named_values(value)
    after = {} if follows is None else {"follows": follows}
    what: Request | Script
    if file is not None:
        what = Script({"sql": text, **confirmed})
    else:
        what = (
            ("run_sql", {"sql": text, **confirmed})
            if sql
            else ("ask", {"question": text, **after, **confirmed})
        )
    form = _form(as_json, as_csv, parquet, xlsx)
    if file is not None and isinstance(form, File) and form.path is not None:
        raise SettingsError(
            f"--file may have several SELECTs and --{form.kind} names one file, so all but the "
            f"last would be lost. Run it, then take each: awhile attach ID --{form.kind} FILE"
        )
    effective = read_settings(with_files(ctx.params))
    from awhile.ask.cli.asked import run  # takes a second to load

    raise typer.Exit(run(effective, How(form=form, quiet=quiet, may_page=pager), what))


def _asked(question: str | None, file: Path | None) -> str:
    """The text there is to ask, from wherever it comes."""
    if (question is None) == (file is None):
        raise SettingsError("Give either a question (or SQL), or --file, and not both.")
    if file is None:
        text = sys.stdin.read() if question == "-" else str(question)
    else:
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(
                f"{str(file)!r} cannot be read ({error}), so there is nothing to run. Name a file "
                "of SQL, in UTF-8."
            ) from None
    if not text.strip():
        raise SettingsError(
            "The question is empty, so there is nothing to ask. Write it in quotes."
        )
    return text.strip()


def attach(
    ctx: typer.Context,
    run_id: Annotated[str, ID],
    as_json: Annotated[bool, JSON] = False,
    as_csv: Annotated[bool, CSV] = False,
    parquet: Annotated[Path | None, PARQUET] = None,
    xlsx: Annotated[Path | None, XLSX] = None,
    quiet: Annotated[bool, QUIET] = False,
    pager: Annotated[bool, PAGER] = True,
    server_url: Annotated[str | None, option("server_url")] = None,
    server_token_from: Annotated[str | None, option("server_token_from")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Come back to a run: watch it to its end, or see how it ended.

    Work that `awhile call` left running is come back to in the same way. Ctrl-C does what it does
    for `awhile ask`.
    """
    how = How(form=_form(as_json, as_csv, parquet, xlsx), quiet=quiet, may_page=pager)
    effective = read_settings(ctx.params)
    from awhile.ask.cli.asked import come_back_to  # takes a second to load

    raise typer.Exit(come_back_to(effective, how, run_id))


def _form(as_json: bool, as_csv: bool, parquet: Path | None, xlsx: Path | None) -> Form:
    wanted: dict[str, Form] = {}
    if as_json:
        wanted["--json"] = "json"
    if as_csv:
        wanted["--csv"] = File("csv")
    if parquet is not None:
        wanted["--parquet"] = File("parquet", parquet)
    if xlsx is not None:
        wanted["--xlsx"] = File("xlsx", xlsx)
    if len(wanted) > 1:
        raise SettingsError(f"{' and '.join(wanted)} are given together; take one of them.")
    return next(iter(wanted.values())) if wanted else "screen"


__all__ = ["ask", "attach"]
