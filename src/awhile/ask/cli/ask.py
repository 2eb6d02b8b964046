"""``awhile ask`` and ``awhile attach``: a question or SQL, its waiting, its answer."""

from __future__ import annotations

import json
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
import typer
from rich.text import Text

from awhile.ask.cli import shown
from awhile.ask.cli.leaving import File, write_file
from awhile.ask.cli.reach import found, reached
from awhile.ask.cli.rows import write_json
from awhile.ask.mcp_server.model import LONGEST_QUESTION, LONGEST_SQL
from awhile.cli import ends
from awhile.cli.answering import at_a_terminal, fill_in
from awhile.cli.attend import attend, stop_words
from awhile.cli.files import FILES, with_files
from awhile.cli.interrupts import Interrupts
from awhile.cli.screen import err, out, say, visible, visible_lines
from awhile.cli.settings import Effective, option, read_settings
from awhile.client import CancelOutcome
from awhile.client.display import result_text
from awhile.errors import Cancelled, SettingsError, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.cli.reach import Reached
    from awhile.cli.attend import Attended
    from awhile.client import Handle

Form = Literal["screen", "json"] | File
"""How an answer is shown: to a person, to a program, or as a file of its rows."""

JSON = typer.Option("--json", help="Print the whole answer, every row of it, as one JSON object.")
CSV = typer.Option("--csv", help="Print every row as CSV, exactly as the database has it.")
PARQUET = typer.Option(
    "--parquet", metavar="FILE", help="Write every row to a Parquet file, exactly and typed."
)
XLSX = typer.Option(
    "--xlsx", metavar="FILE", help="Write every row to an Excel workbook, which says what was cut."
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
    confirm_cost: Annotated[
        bool, typer.Option("--confirm-cost", help="Run it however expensive it is expected to be.")
    ] = False,
    as_json: Annotated[bool, JSON] = False,
    as_csv: Annotated[bool, CSV] = False,
    parquet: Annotated[Path | None, PARQUET] = None,
    xlsx: Annotated[Path | None, XLSX] = None,
    server_url: Annotated[str | None, option("server_url")] = None,
    database: Annotated[list[str] | None, option("database")] = None,
    semantic_file: Annotated[str | None, option("semantic_file")] = None,
    sample: Annotated[str | None, option("sample")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Ask the database a question and wait for the table.

    Ctrl-C asks the server to stop, keeps watching, and says what came of it; pressed again, it
    leaves at once and says how to come back.
    """
    text = _asked(question, file)
    longest = LONGEST_SQL if sql or file is not None else LONGEST_QUESTION
    if len(text) > longest:
        raise SettingsError(
            f"The text has {len(text):,} characters; {longest:,} is the most that can be asked at "
            "once. Shorten it."
        )
    confirmed: dict[str, Any] = {"confirm_cost": True} if confirm_cost else {}
    what: Request | Script
    if file is not None:
        what = Script({"sql": text, **confirmed})
    else:
        what = (
            ("run_sql", {"sql": text, **confirmed})
            if sql
            else ("ask", {"question": text, **confirmed})
        )
    form = _form(as_json, as_csv, parquet, xlsx)
    if file is not None and isinstance(form, File) and form.path is not None:
        raise SettingsError(
            f"--file may have several SELECTs and --{form.kind} names one file, so all but the "
            f"last would be lost. Run it, then take each: awhile attach ID --{form.kind} FILE"
        )
    _run(read_settings(with_files(ctx.params)), form, what)


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
    run_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a run, or its beginning.")],
    as_json: Annotated[bool, JSON] = False,
    as_csv: Annotated[bool, CSV] = False,
    parquet: Annotated[Path | None, PARQUET] = None,
    xlsx: Annotated[Path | None, XLSX] = None,
    server_url: Annotated[str | None, option("server_url")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    ledger: Annotated[str | None, option("ledger")] = None,
) -> None:
    """Come back to a run: watch it to its end, or see how it ended.

    Ctrl-C does what it does for `awhile ask`.
    """
    _run(read_settings(ctx.params), _form(as_json, as_csv, parquet, xlsx), run_id)


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


Request = tuple[str, dict[str, Any]]
"""A tool and its arguments."""

Choices = list[dict[str, Any]]
"""The ways to go on that an answer offers."""


@dataclass(frozen=True, slots=True)
class Script:
    """Several statements: the arguments of ``run_script``."""

    arguments: dict[str, Any]


def _run(effective: Effective, form: Form, what: Request | Script | str) -> None:
    """Wait for a request, a script, or a run by its id; ends the command with an exit code."""
    while True:
        end = anyio.run(_Asking(effective, form).to_the_end, what)
        if isinstance(end, int):
            raise typer.Exit(end)
        chosen = _choose(end)
        if chosen is None:
            raise typer.Exit(ends.NOT_ANSWERED)
        if question := chosen.get("question"):
            what = ("ask", {"question": question})
        elif isinstance(what, tuple):
            what = (what[0], {**what[1], "confirm_cost": True})
        else:
            say("Ask it anew, with --confirm-cost.")
            raise typer.Exit(ends.NOT_ANSWERED)


def _choose(choices: Choices) -> dict[str, Any] | None:
    """The choice somebody at the terminal picks; None where nobody is there, or picks none."""
    if not at_a_terminal():
        return None
    while True:
        err().print(f"Which one? (1 to {len(choices)}, Enter for none) ", end="")
        said = sys.stdin.readline().strip()
        if not said:
            return None
        if said.isdecimal() and 1 <= int(said) <= len(choices):
            return choices[int(said) - 1]


class _Asking:
    """One request, from reaching a server to its answer."""

    def __init__(self, effective: Effective, form: Form) -> None:
        self._effective = effective
        self._form: Form = form
        self._sent = False
        self._handle: Handle | None = None
        self._answers = at_a_terminal()

    async def to_the_end(self, what: Request | Script | str) -> int | Choices:
        """The exit code, or the choices of a question that came back."""
        end: int | Choices = ends.CANCELLED
        async with Interrupts.listening() as interrupts, anyio.create_task_group() as beside:
            beside.start_soon(self._leave_early, interrupts, beside.cancel_scope)
            if isinstance(what, str):
                end = await self._come_back(what, interrupts)
            elif isinstance(what, Script):
                end = await self._script(what, interrupts)
            else:
                end = await self._ask(*what, interrupts)
            beside.cancel_scope.cancel()
        return end

    async def _ask(
        self, tool: str, arguments: Mapping[str, Any], interrupts: Interrupts
    ) -> int | Choices:
        async with reached(self._effective, answers_forms=self._answers) as there:
            if err().is_terminal and not there.own:
                say(f"Asking {visible(there.database)} at {there.url}", aside=True)
            # A key makes the call safe to repeat: it finds the run it has already started.
            keyed = {**arguments, "request_key": secrets.token_hex(16)}
            self._sent = True
            self._handle = await there.server.start(tool, keyed)
            return await self._wait(there, self._handle, interrupts, arguments)

    async def _script(self, script: Script, interrupts: Interrupts) -> int:
        """Wait for one statement after the other; the first without a table is the end."""
        async with reached(self._effective, answers_forms=self._answers) as there:
            self._sent = True
            keyed = {**script.arguments, "request_key": secrets.token_hex(16)}
            runs: list[dict[str, Any]] = (await there.call("run_script", keyed))["runs"]
            for run in runs:
                number, run_id = int(run["number"]), str(run["run_id"])
                say(f"Statement {number} of {len(runs)} (run {run_id})", aside=True)
                self._handle = await there.server.resume(run_id)
                end = await self._wait(there, self._handle, interrupts)
                if end != ends.RESULT:
                    rest = [one["number"] for one in runs[number:]]
                    if rest:
                        say(f"Not run: {_numbered(rest)}.")
                    return end if isinstance(end, int) else ends.NOT_ANSWERED
        return ends.RESULT

    async def _come_back(self, run_id: str, interrupts: Interrupts) -> int | Choices:
        async with found(self._effective, run_id, answers_forms=self._answers) as (there, handle):
            self._handle = handle
            return await self._wait(there, handle, interrupts)

    async def _leave_early(self, interrupts: Interrupts, everything: anyio.CancelScope) -> None:
        """Ctrl-C before there is anything to stop."""
        await interrupts.wait(1)
        if self._handle is None and self._sent:
            await interrupts.wait(2)
        if self._handle is None:
            asked = "It may have been asked: `awhile tasks` shows." if self._sent else "Not asked."
            say(f"Left. {asked}")
            everything.cancel()

    async def _wait(
        self,
        there: Reached,
        handle: Handle,
        interrupts: Interrupts,
        arguments: Mapping[str, Any] | None = None,
    ) -> int | Choices:
        answer_here = fill_in if self._answers else None
        attended = await attend(handle, interrupts, query=True, answer=answer_here)
        if words := stop_words(attended, handle.id):
            say(words)
        if attended.left:
            return _how_to_come_back(attended, handle, there)
        answer: Mapping[str, Any]
        failure: str | None = None
        try:
            answer = (await handle.result()).structured_content or {}
        except ToolFailed as no:
            answer = no.result.get("structuredContent") or {}
            failure = result_text(no.result) or str(no)
        except Cancelled as why:
            if not attended.stop_asked:  # by somebody else
                say(str(why))
            return ends.CANCELLED
        if handle.id is None and "run_id" in answer:
            await there.keep(str(answer["run_id"]), handle, arguments or {})
        return await self._print(there, answer, failure)

    async def _print(
        self, there: Reached, answer: Mapping[str, Any], failure: str | None
    ) -> int | Choices:
        end = _end_of(answer, failure)
        if self._form == "json":
            if end == ends.RESULT:
                await write_json(there, answer, sys.stdout)
            else:
                said = dict(answer) or {"error": {"message": failure}}
                sys.stdout.write(json.dumps(said, ensure_ascii=False, indent=2) + "\n")
            return end
        if end == ends.RESULT:
            if isinstance(self._form, File):
                await write_file(there, str(answer["run_id"]), self._form)
            else:
                shown.show_answer(answer, out())
            return end
        screen = err()
        if refusal := answer.get("refusal"):
            shown.show_refusal(refusal, screen)
        elif back := answer.get("question_back"):
            shown.show_question_back(back, screen)
            return shown.choices(back) if self._form == "screen" else end
        elif answer.get("not_run"):
            shown.show_not_run(answer, screen)
        elif error := answer.get("error"):
            shown.show_error(error, answer.get("sql"), screen)
        else:
            screen.print(Text(visible_lines(failure or "The server gave no answer."), style="red"))
        return end


def _end_of(answer: Mapping[str, Any], failure: str | None) -> int:
    if answer.get("refusal") or answer.get("question_back") or answer.get("not_run"):
        return ends.NOT_ANSWERED
    if failure is not None or answer.get("error") or answer.get("columns") is None:
        return ends.FAILED
    return ends.RESULT


def _numbered(numbers: list[Any]) -> str:
    """Which statements: "statement 3", "statements 3 to 5"."""
    if len(numbers) == 1:
        return f"statement {numbers[0]}"
    return f"statements {numbers[0]} to {numbers[-1]}"


def _how_to_come_back(attended: Attended, handle: Handle, there: Reached) -> int:
    if handle.id is not None:
        say(f"Come back with: awhile attach {handle.id}")
        if there.own:
            say("The server started for it ends with this command; coming back runs it anew.")
    if attended.outcome is CancelOutcome.NOT_STOPPED_YET:
        return ends.NOT_STOPPED
    return ends.CANCELLED


__all__ = ["ask", "attach"]
