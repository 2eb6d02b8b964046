"""Coming back to work of any server, by the handle that this user's ledger has."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import anyio

from awhile.cli import ends
from awhile.cli.answering import fill_in
from awhile.cli.attend import Manner, attend, stop_words
from awhile.cli.calling import finish
from awhile.cli.credentials import credentials_for
from awhile.cli.interrupts import Interrupts
from awhile.cli.keyboard import at_a_terminal
from awhile.cli.reaching import Place, opened
from awhile.cli.screen import say
from awhile.cli.words import WORK
from awhile.client import CancelOutcome, Ledger
from awhile.errors import SettingsError

if TYPE_CHECKING:
    from awhile.cli.settings import Effective
    from awhile.cli.words import Subject
    from awhile.client import Entry, Handle


def all_noted(effective: Effective) -> list[Entry]:
    """What this user's programs noted down, newest first."""
    with closing(Ledger(effective.settings.ledger)) as ledger:
        return ledger.entries()


def noted(effective: Effective, beginning: str) -> list[Entry]:
    """Of those, the ones whose ids begin so; an empty beginning is that of none."""
    return [one for one in all_noted(effective) if beginning and one.task_id.startswith(beginning)]


def must_be_noted(effective: Effective, beginning: str) -> Entry:
    """The one handle whose id begins so.

    Raises:
        SettingsError: there is none, or there are several.
    """
    found = noted(effective, beginning)
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} pieces of work have" if found else "No work of this terminal has"
    raise SettingsError(f"{what} an id that begins with {beginning!r}. Give all of the id.")


def come_back(effective: Effective, entry: Entry, *, as_one_json: bool, quiet: bool) -> int:
    """Watch it to its end and print its result; the exit code.

    Raises:
        SettingsError: its server cannot be reached by anybody.
        RemoteError: its server cannot be reached, or refuses.
    """
    manner = Manner(of=WORK, quiet=quiet, answer=fill_in if at_a_terminal() else None)

    async def run() -> int:
        async with (
            Interrupts.listening() as interrupts,
            opened(_place(effective, entry), effective.settings, quiet=quiet) as server,
        ):
            handle = await server.resume(entry.task_id)
            attended = await attend(handle, interrupts, manner)
            return await finish(handle, attended, manner, as_one_json=as_one_json)

    return anyio.run(run)


def stop(effective: Effective, entry: Entry) -> int:
    """Ask for a stop and wait what comes of it; the exit code.

    Raises: as `come_back`.
    """

    async def run() -> int:
        async with (
            Interrupts.listening() as interrupts,
            opened(_place(effective, entry), effective.settings) as server,
        ):
            return await stop_and_tell(await server.resume(entry.task_id), interrupts, of=WORK)

    return anyio.run(run)


async def stop_and_tell(handle: Handle, interrupts: Interrupts, *, of: Subject) -> int:
    """Ask for a stop, wait, and say what came of it; the exit code."""
    manner = Manner(of=of, stop=True)
    attended = await attend(handle, interrupts, manner)
    say(stop_words(attended, manner, handle.id) or "")
    if attended.left or attended.outcome is CancelOutcome.NOT_STOPPED_YET:
        return ends.NOT_STOPPED
    if attended.outcome is CancelOutcome.FINISHED_ANYWAY:
        say(f"Its result: awhile attach {handle.id}")
    return ends.RESULT


def _place(effective: Effective, entry: Entry) -> Place:
    if not entry.server.startswith(("http://", "https://")):
        raise SettingsError(
            f"{entry.task_id!r} ran at a server that was started by a command "
            f"({entry.server!r}), which no other program reaches. Call it anew."
        )
    return Place(url=entry.server, credentials=credentials_for(effective, entry.server))


__all__ = ["all_noted", "come_back", "must_be_noted", "noted", "stop", "stop_and_tell"]
