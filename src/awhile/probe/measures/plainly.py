"""The tool called by a caller that takes no tasks: its stream and progress; a dropped stream."""

from __future__ import annotations

import anyio

from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import Exchange, Json
from awhile.probe.limits import Limits
from awhile.probe.measures.evidence import Plain
from awhile.probe.sessions import Session, new_token
from awhile.probe.targets import Trial

DROPPED_AFTER_SECONDS = 0.7
WORKS_ON_SECONDS = 1.5
"""How long the witness is watched after a stream was dropped."""

RESTING_SECONDS = 0.5
"""What a server gets to notice that the stream is gone (source: ours)."""


async def call_plainly(session: Session, trial: Trial, limits: Limits) -> Plain:
    """Call the tool without taking tasks; with a witness, once more and leave.

    Raises:
        Spent: a bound was reached.
    """
    params: Json = {"name": trial.tool, "arguments": dict(trial.arguments)}
    token = new_token()
    call = await session.ask(
        "tools/call",
        params,
        "call the tool without taking tasks",
        declared=False,
        token=token,
        seconds=limits.run_seconds,
        to_the_end=True,
    )
    seen = Plain(call, token)
    ran = call.result is not None and not call.result.get("isError")
    if ran and trial.witness is not None and session.era != LEGACY and session.channel.over_http:
        seen.left = await _leave(session, params)
        await anyio.sleep(RESTING_SECONDS)
        first = await trial.witness()
        await anyio.sleep(WORKS_ON_SECONDS)
        seen.witness = (first, await trial.witness())
    return seen


async def _leave(session: Session, params: Json) -> Exchange:
    """Begin a call and drop its connection before it is answered."""
    return await session.ask(
        "tools/call",
        params,
        "call it and drop the stream",
        declared=False,
        seconds=DROPPED_AFTER_SECONDS,
    )


__all__ = ["call_plainly"]
