"""The questions before a question, by the runs that answered them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError

from awhile.ask.translators.contract import Turn

if TYPE_CHECKING:
    from awhile.ask.answer.statements import Statements
    from awhile.runtime.run import Run
    from awhile.server.tasks import Tasks

__all__ = ["conversation_of"]

MOST_TURNS = 10
"""How far back a conversation is read."""

_BY_HAND = "(a SELECT written by hand)"


async def conversation_of(
    follows: str | None, run: Run, *, tasks: Tasks, statements: Statements
) -> tuple[Turn, ...]:
    """What was asked and answered before, oldest first, from the run that this one follows on.

    Raises:
        ToolError: there is no such run of the caller's, or it answered nothing.
    """
    turns: list[Turn] = []
    at, seen = follows, set[str]()
    while at is not None and at not in seen and len(turns) < MOST_TURNS:
        seen.add(at)
        record = await tasks.store.get(at)
        mine = record is not None and record.owner == run.owner
        statement = await anyio.to_thread.run_sync(statements.load, at) if mine else None
        if statement is None:
            if turns:  # what came before has expired
                break
            raise ToolError(
                "There is no answered run of yours that this could follow. It may have expired; "
                "list_runs shows those kept. Or ask the whole question."
            )
        by_hand = statement.question is None
        question = _BY_HAND if statement.question is None else statement.question
        turns.append(Turn(question, statement.sql, edited=by_hand))
        at = statement.follows
    return tuple(reversed(turns))
