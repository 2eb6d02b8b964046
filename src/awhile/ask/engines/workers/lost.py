"""A worker process that is gone, in a sentence for a person; the details are the log's."""

from __future__ import annotations

import logging
import signal

from awhile.ask.engines.errors import EngineLost
from awhile.processes import ChildEnded

__all__ = ["lost"]

log = logging.getLogger(__name__)

_HEADER = "Traceback (most recent call last):"
_LONGEST = 300
"""Letters of a failure's own words that a person is told."""


def lost(ended: ChildEnded) -> EngineLost:
    """What to tell whoever waited for it; a traceback is logged."""
    log.error("A process that ran queries is gone: %s\n%s", ended, ended.last_words)
    if ended.signal == signal.SIGKILL:
        return EngineLost(
            "the process that ran the query was killed, as a system does that runs out of memory; "
            "the database is unharmed. Ask again, for less at once if it happens again"
        )
    return EngineLost(
        f"the process that ran the query {_how(ended)}; the database is unharmed. Ask again; if it "
        "happens again, the server's log tells where it failed"
    )


def _how(ended: ChildEnded) -> str:
    if ended.signal is not None:
        return f"crashed (signal {ended.signal})"
    _, header, trace = ended.last_words.rpartition(_HEADER)
    said = [line for line in trace.splitlines() if line and not line.startswith(" ")]
    if header and said:
        return f"met an error that nobody expected ({said[0][:_LONGEST]})"
    return f"ended by itself (exit code {ended.exit_code})"
