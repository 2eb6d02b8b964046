"""One request, from reaching a server to its answer."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
from rich.text import Text

from awhile.ask.cli import shown
from awhile.ask.cli.how import File, Script
from awhile.ask.cli.leaving import write_file
from awhile.ask.cli.paging import show_or_page
from awhile.ask.cli.reach import found, reached, run_key, whole_id
from awhile.ask.cli.rows import write_json
from awhile.ask.cli.values import missing_in, one_value, unnamed
from awhile.cli import ends
from awhile.cli.answering import fill_in
from awhile.cli.attend import Left, Manner, attend, stop_words
from awhile.cli.begun import Begun
from awhile.cli.interrupts import Interrupts
from awhile.cli.keyboard import at_a_terminal, typed_line
from awhile.cli.screen import as_json, err, say, visible_lines
from awhile.cli.words import QUERY
from awhile.client import CancelOutcome
from awhile.client.display import result_text
from awhile.errors import Cancelled, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.cli.how import Form, How, Request
    from awhile.ask.cli.reach import Reached
    from awhile.cli.attend import Attended
    from awhile.cli.settings import Effective
    from awhile.client import Handle

Choices = list[dict[str, Any]]
"""The ways to go on that an answer offers."""


class Asking:
    """One request: asked, waited for, answered."""

    def __init__(self, effective: Effective, how: How) -> None:
        self._effective = effective
        self._how = how
        self._begun = Begun("`awhile tasks` shows.")
        self._answers = at_a_terminal()
        self._left_running = False

    async def to_the_end(self, what: Request | Script | str) -> int | Choices:
        """The exit code, or the choices of a question that came back."""
        end: int | Choices = ends.CANCELLED
        async with Interrupts.listening() as interrupts, anyio.create_task_group() as beside:
            leaving = self._begun.leave_when_interrupted
            beside.start_soon(leaving, interrupts, beside.cancel_scope)
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
        async with reached(
            self._effective, answers_forms=self._answers, quiet=self._how.quiet
        ) as there:
            if err().is_terminal and not there.own:
                self._aside(f"Asking {there.database} at {there.url}")
            if tool == "run_sql":
                arguments = await self._with_values(there, arguments)
            # A key makes the call safe to repeat: it finds the run it has already started.
            keyed = {**arguments, "request_key": run_key()}
            if "follows" in arguments:
                keyed["follows"] = await whole_id(there, str(arguments["follows"]))
            self._begun.sent = True
            self._begun.handle = handle = await there.server.start(tool, keyed)
            return await self._wait(there, handle, interrupts, keyed)

    async def _script(self, script: Script, interrupts: Interrupts) -> int:
        """Wait for one statement after the other; the first without a table is the end."""
        async with reached(
            self._effective, answers_forms=self._answers, quiet=self._how.quiet
        ) as there:
            runs = await self._begin_script(there, script.arguments)
            for run in runs:
                number, run_id = int(run["number"]), str(run["run_id"])
                self._aside(f"Statement {number} of {len(runs)} (run {run_id})")
                self._begun.handle = handle = await there.server.resume(run_id)
                end = await self._wait(there, handle, interrupts)
                if end != ends.RESULT:
                    rest = [one["number"] for one in runs[number:]]
                    if rest:
                        what = "It goes on with" if self._left_running else "Not run:"
                        say(f"{what} {_numbered(rest)}.")
                    return end if isinstance(end, int) else ends.NOT_ANSWERED
        return ends.RESULT

    async def _begin_script(
        self, there: Reached, arguments: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Its runs; refused for a value that is missing, it is begun again with that."""
        while True:
            keyed = {**arguments, "request_key": run_key()}
            self._begun.sent = True
            try:
                return (await there.call("run_script", keyed))["runs"]
            except ToolFailed as no:
                self._begun.sent = False
                more = await self._asked_for(missing_in(str(no)), arguments)
                if more is None:
                    raise
                arguments = more

    async def _with_values(self, there: Reached, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same with values for the `:names` that had none, as far as somebody gives any."""
        sql = str(arguments["sql"])
        while self._answers and unnamed(sql, arguments.get("parameters", {})):
            # Only the database's own reading tells what is a parameter.
            about = {name: arguments[name] for name in ("sql", "parameters") if name in arguments}
            error: Mapping[str, Any] = (await there.call("check_sql", about)).get("error") or {}
            more = await self._asked_for(missing_in(str(error.get("message"))), arguments)
            if more is None:
                break
            arguments = more
        return arguments

    async def _asked_for(
        self, name: str | None, arguments: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """The arguments with a value for that name; None where nobody gives one."""
        said = await typed_line(f"A value for :{name}: ") if name and self._answers else ""
        if not said:
            return None
        return {
            **arguments,
            "parameters": {**arguments.get("parameters", {}), name: one_value(said)},
        }

    async def _come_back(self, run_id: str, interrupts: Interrupts) -> int | Choices:
        async with found(
            self._effective, run_id, answers_forms=self._answers, quiet=self._how.quiet
        ) as (there, handle):
            self._begun.handle = handle
            return await self._wait(there, handle, interrupts)

    async def _wait(
        self,
        there: Reached,
        handle: Handle,
        interrupts: Interrupts,
        arguments: Mapping[str, Any] | None = None,
    ) -> int | Choices:
        manner = Manner(
            of=QUERY,
            quiet=self._how.quiet,
            answer=fill_in if self._answers else None,
        )
        attended = await attend(handle, interrupts, manner)
        if attended.left and there.own and not attended.stop_asked:
            if await there.own.let_go():
                self._aside("Its server goes on in the background, until nothing runs there.")
            else:
                manner = replace(manner, left=Left.ENDS)
        self._left_running = (
            attended.left and not attended.stop_asked and manner.left is not Left.ENDS
        )
        if words := stop_words(attended, manner, handle.id):
            say(words)
        if attended.left:
            return how_to_come_back(attended, handle)
        answer: Mapping[str, Any]
        failure: str | None = None
        try:
            answer = (await handle.result()).structured_content or {}
        except ToolFailed as no:
            answer = no.result.get("structuredContent") or {}
            failure = result_text(no.result) or str(no)
        except Cancelled:
            if not attended.stop_asked:  # by somebody else
                say(stop_words(replace(attended, stop_asked=True), manner, handle.id) or "")
            return ends.CANCELLED
        if handle.id is None and "run_id" in answer:
            await there.keep(str(answer["run_id"]), handle, arguments or {})
        return await self._show(there, answer, failure, interrupts)

    async def _show(
        self,
        there: Reached,
        answer: Mapping[str, Any],
        failure: str | None,
        interrupts: Interrupts,
    ) -> int | Choices:
        end, form = _end_of(answer, failure), self._how.form
        if form == "json":
            if end == ends.RESULT:
                await write_json(there, answer, sys.stdout)
            else:
                sys.stdout.write(as_json(dict(answer) or {"error": {"message": failure}}) + "\n")
        elif end == ends.RESULT:
            end = await self._show_rows(there, answer, form, interrupts)
        else:
            _show_no_rows(answer, failure)
            if answer.get("question_back") and form == "screen":
                return shown.choices(answer["question_back"])
        return end

    async def _show_rows(
        self, there: Reached, answer: Mapping[str, Any], form: Form, interrupts: Interrupts
    ) -> int:
        quiet = self._how.quiet
        mark = shown.mark_of(answer)
        if mark is not None and (quiet or isinstance(form, File)):
            say(mark)  # where the reading is not shown
        if isinstance(form, File):
            return await _written(there, str(answer["run_id"]), form, interrupts, quiet=quiet)
        await show_or_page(there, answer, quiet=quiet, may_page=self._how.may_page)
        return ends.RESULT

    def _aside(self, text: str) -> None:
        if not self._how.quiet:
            say(text, aside=True)


async def _written(
    there: Reached, run_id: str, form: File, interrupts: Interrupts, *, quiet: bool
) -> int:
    """Write all rows; Ctrl-C leaves them at the server, which then makes no file."""
    end = ends.CANCELLED
    async with anyio.create_task_group() as beside:

        async def leave() -> None:
            await interrupts.wait(interrupts.presses + 1)
            come_back = f"awhile attach {run_id} {form.how}"
            say(f"Left before all rows were written. They are kept: {come_back}")
            beside.cancel_scope.cancel()

        beside.start_soon(leave)
        await write_file(there, run_id, form, quiet=quiet)
        end = ends.RESULT
        beside.cancel_scope.cancel()
    return end


def _show_no_rows(answer: Mapping[str, Any], failure: str | None) -> None:
    screen = err()
    if refusal := answer.get("refusal"):
        shown.show_refusal(refusal, screen)
    elif back := answer.get("question_back"):
        shown.show_question_back(back, screen)
    elif answer.get("not_run"):
        shown.show_not_run(answer, screen)
    elif error := answer.get("error"):
        shown.show_error(error, answer.get("sql"), screen)
        if name := missing_in(str(error.get("message"))):
            say(f"Give it with --value {name}=…")
    else:
        screen.print(Text(visible_lines(failure or "The server gave no answer."), style="red"))


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


def how_to_come_back(attended: Attended, handle: Handle) -> int:
    """Say it, and return the exit code."""
    if handle.id is not None:
        say(f"Come back with: awhile attach {handle.id}")
    if attended.outcome is CancelOutcome.NOT_STOPPED_YET:
        return ends.NOT_STOPPED
    return ends.CANCELLED


__all__ = ["Asking", "Choices"]
