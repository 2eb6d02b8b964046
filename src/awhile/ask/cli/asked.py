"""What ``awhile ask`` and ``awhile attach`` do with their command lines, to an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio

from awhile.ask.cli.asking import Asking
from awhile.ask.cli.reach import of_another_kind
from awhile.ask.mcp_server.model import LONGEST_QUESTION, LONGEST_SQL
from awhile.cli import ends
from awhile.cli.coming_back import come_back
from awhile.cli.keyboard import at_a_terminal, typed_line
from awhile.cli.screen import say
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from awhile.ask.cli.asking import Choices
    from awhile.ask.cli.how import How, Request, Script
    from awhile.cli.settings import Effective


def run(effective: Effective, how: How, what: Request | Script) -> int:
    """Ask, and wait for the answer.

    Raises:
        SettingsError: the text is too long.
        RemoteError: the server cannot be reached, or refuses.
    """
    question = what[1].get("question") if isinstance(what, tuple) else None
    arguments = what[1] if isinstance(what, tuple) else what.arguments
    text = str(question or arguments.get("sql"))
    longest = LONGEST_QUESTION if question is not None else LONGEST_SQL
    if len(text) > longest:
        raise SettingsError(
            f"The text has {len(text):,} characters; {longest:,} is the most that can be asked at "
            "once. Shorten it."
        )
    return _to_the_end(effective, how, what)


def come_back_to(effective: Effective, how: How, run_id: str) -> int:
    """Watch a run, or any work that this terminal began, to its end.

    Raises:
        SettingsError: nothing has such an id, or several have; or what it is about has no rows.
        RemoteError: the server cannot be reached, or refuses.
    """
    entry = of_another_kind(effective, run_id)
    if entry is None:
        return _to_the_end(effective, how, run_id)
    if how.form not in ("screen", "json"):
        raise SettingsError("A result of another server than one of ours has no rows; take --json.")
    return come_back(effective, entry, as_one_json=how.form == "json", quiet=how.quiet)


def _to_the_end(effective: Effective, how: How, what: Request | Script | str) -> int:
    while True:
        end = anyio.run(Asking(effective, how).to_the_end, what)
        if isinstance(end, int):
            return end
        chosen = anyio.run(_choose, end)
        if chosen is None:
            return ends.NOT_ANSWERED
        if question := chosen.get("question"):
            what = ("ask", {"question": question})
        elif isinstance(what, tuple):
            what = (what[0], {**what[1], "confirm_cost": True})
        else:
            say("Ask it anew, with --confirm-cost.")
            return ends.NOT_ANSWERED


async def _choose(choices: Choices) -> dict[str, Any] | None:
    """The choice somebody at the terminal picks; None where nobody is there, or picks none."""
    if not at_a_terminal():
        return None
    while True:
        said = await typed_line(f"Which one? (1 to {len(choices)}, Enter for none) ")
        if not said:
            return None
        if said.isascii() and said.isdecimal() and 1 <= int(said) <= len(choices):
            return choices[int(said) - 1]


__all__ = ["come_back_to", "run"]
