"""What ``awhile call`` does with its command line: any tool of any server, watched to its end."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types import MISSING_REQUIRED_CLIENT_CAPABILITY

from awhile.cli import ends
from awhile.cli.answering import fill_in
from awhile.cli.arguments import Arguments
from awhile.cli.attend import Attending, Left, Manner, stop_words
from awhile.cli.begun import Begun
from awhile.cli.content import shown_result, tool_lines
from awhile.cli.credentials import comes_by_flag, credentials_for
from awhile.cli.interrupts import Interrupts
from awhile.cli.keyboard import at_a_terminal
from awhile.cli.reaching import Place, opened
from awhile.cli.screen import as_json, out, say
from awhile.cli.typed import arguments_typed, command_typed
from awhile.cli.words import WORK
from awhile.client import CancelOutcome
from awhile.client.display import result_text
from awhile.errors import Cancelled, ProtocolFailed, SettingsError, ToolFailed

if TYPE_CHECKING:
    from mcp_types import Tool

    from awhile.cli.attend import Attended
    from awhile.cli.settings import Effective, Settings
    from awhile.client import Handle


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line as it was given."""

    words: tuple[str, ...]
    stdio: str | None = None
    args: str | None = None
    headers: tuple[str, ...] = ()
    as_json: bool = False
    quiet: bool = False


def run(asked: Asked, effective: Effective) -> int:
    """Call the tool, or list the tools there are; return the exit code.

    Raises:
        SettingsError: something on the command line cannot be used.
        RemoteError: the server cannot be reached, or refuses.
    """
    words = list(asked.words)
    if asked.stdio is None and not words:
        raise SettingsError(
            "No server is named. Give its URL, or --stdio COMMAND: "
            "awhile call http://127.0.0.1:8000/mcp TOOL key=value"
        )
    if asked.stdio is not None:
        if asked.headers or comes_by_flag(effective):
            raise SettingsError(
                "--header and --token-from are about HTTP, and a server over --stdio gets none. "
                "It gets the variables of this terminal."
            )
        place = Place(command=command_typed("--stdio", asked.stdio))
    else:
        url = words.pop(0)
        place = Place(url=url, credentials=credentials_for(effective, url, asked.headers))
    whole = {} if asked.args is None else arguments_typed(asked.args)
    return anyio.run(_run, _Calling(place, effective.settings, asked), words, whole)


async def _run(calling: _Calling, words: list[str], whole: dict[str, Any]) -> int:
    end = ends.CANCELLED
    async with Interrupts.listening() as interrupts, anyio.create_task_group() as beside:
        leaving = calling.begun.leave_when_interrupted
        beside.start_soon(leaving, interrupts, beside.cancel_scope)
        end = await calling.to_the_end(words, whole, interrupts)
        beside.cancel_scope.cancel()
    return end


class _Calling:
    """One call, from reaching the server to the result."""

    def __init__(self, place: Place, settings: Settings, asked: Asked) -> None:
        self.begun = Begun("look at the server.")
        self._place = place
        self._settings = settings
        self._asked = asked

    async def to_the_end(
        self, words: list[str], whole: dict[str, Any], interrupts: Interrupts
    ) -> int:
        """The exit code."""
        async with opened(self._place, self._settings, quiet=self._asked.quiet) as server:
            tools = await server.list_tools()
            if not words:
                return self._list(tools)
            tool = _found(server.name, tools, words[0])
            arguments = Arguments(tool.name, tool.input_schema).read(words[1:], whole)
            answers = at_a_terminal()
            manner = Manner(
                of=WORK,
                quiet=self._asked.quiet,
                answer=fill_in if answers else None,
                left=Left.ENDS if self._place.url is None else Left.RUNS_ON,
            )
            waiting: list[Attending] = []

            async def put(request: Mapping[str, Any]) -> Mapping[str, Any]:
                return await waiting[0].put(request)

            handle = server.begin(tool.name, arguments, on_input=put if answers else None)
            self.begun.sent, self.begun.handle = True, handle
            waiting.append(Attending(handle, interrupts, manner))
            return await finish(
                handle, await waiting[0].to_the_end(), manner, as_one_json=self._asked.as_json
            )

    def _list(self, tools: list[Tool]) -> int:
        if self._asked.as_json:
            found = [
                tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools
            ]
            out().print(as_json(found), soft_wrap=True)
            return ends.RESULT
        if not tools:
            say("It has no tools.")
        for tool in tools:
            for line in tool_lines(tool, Arguments(tool.name, tool.input_schema)):
                out().print(line, soft_wrap=True)
        return ends.RESULT


def _found(server: str, tools: list[Tool], name: str) -> Tool:
    for tool in tools:
        if tool.name == name:
            return tool
    names = [tool.name for tool in tools]
    near = difflib.get_close_matches(name, names, n=3)
    meant = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    there = f" It has {', '.join(map(repr, names))}." if names else " It has none."
    raise SettingsError(f"The server at {server!r} has no tool {name!r}.{meant}{there}")


async def finish(handle: Handle, attended: Attended, manner: Manner, *, as_one_json: bool) -> int:
    """Say how it came out, print the result, and return the exit code."""
    if words := stop_words(attended, manner, handle.id):
        say(words)
    if attended.left:
        if handle.id is not None and manner.left is Left.RUNS_ON:
            say(f"Come back with: awhile attach {handle.id}")
        not_stopped = attended.outcome is CancelOutcome.NOT_STOPPED_YET
        return ends.NOT_STOPPED if not_stopped else ends.CANCELLED
    try:
        result = await handle.result()
    except ToolFailed as no:
        _print(no.result, as_one_json=as_one_json, failed=True)
        return ends.FAILED
    except Cancelled as why:
        if not attended.stop_asked:  # by somebody else
            say(str(why))
        return ends.CANCELLED
    except ProtocolFailed as no:
        if as_one_json:
            error = {"code": no.code, "message": str(no), "data": no.data}
            out().print(as_json({"error": error}), soft_wrap=True)
        if no.code == MISSING_REQUIRED_CLIENT_CAPABILITY and manner.answer is None:
            raise ProtocolFailed(
                f"{no} It asks something: call it at a terminal to answer.", code=no.code
            ) from no
        raise
    whole = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    _print(whole, as_one_json=as_one_json, failed=False)
    return ends.RESULT


def _print(result: Mapping[str, Any], *, as_one_json: bool, failed: bool) -> None:
    if as_one_json:
        out().print(as_json(result), soft_wrap=True)
    elif failed:
        say(result_text(result) or "The tool failed without saying why.")
    elif text := shown_result(result):
        out().print(text, soft_wrap=True)


__all__ = ["Asked", "finish", "run"]
