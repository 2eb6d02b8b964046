"""From facts to the words for how work stands: those of the page (`web/src/words.ts`), as a test
holds the two tables against each other. Pure.

Never a past tense without proof: work is called stopped only where something says that it has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from awhile.client import Known, State, show
from awhile.client.display import cancel_asked_at_ms
from awhile.client.words import unproven
from awhile.tasks import Status, StoppedHow

if TYPE_CHECKING:
    from awhile.client import Now

NEWS_AFTER_SECONDS = 10
"""How old the last news has to be to say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What the words are about."""

    work: str
    """What is running."""
    confirms: str
    """Who can say that it has stopped."""
    engine: str
    """What it runs in, where that is an engine of its own."""
    counts: str | None = None
    """What its progress counts, in the plural; None where that is not known."""
    estimates: bool = False
    """Whether its percentage is an estimate of the engine's."""
    stages: bool = False
    """Whether its messages are sentences that name its stage, and stand for "Running"."""


WORK = Subject(work="the work", confirms="the server", engine="the engine")
"""Any work of any server."""

QUERY = Subject(
    work="the query",
    confirms="the database",
    engine="the database",
    counts="rows",
    estimates=True,
    stages=True,
)
"""A run of *ask your database*."""


class StopRequest(StrEnum):
    """What this side knows of its own request to stop."""

    NONE = "none"
    SENDING = "sending"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Words:
    """The state in a word or some, and what there is to say after it."""

    badge: str
    sentence: str | None = None

    @property
    def line(self) -> str:
        """Both, as one reads them."""
        return self.badge if self.sentence is None else f"{self.badge}: {self.sentence}"


_BADGES: Mapping[State, str] = {
    State.SENDING: "Sending…",
    State.WORKING: "Running",
    State.NEEDS_INPUT: "Needs your answer",
    State.CANCEL_REQUESTED: "Stop requested",
    State.NOT_STOPPED_YET: "Not stopped yet",
    State.FINISHED: "Finished",
    State.FINISHED_ANYWAY: "Finished anyway",
    State.FAILED: "Failed",
    State.FAILED_AFTER_CANCEL: "Failed after you asked to stop",
    State.CANCELLED: "Stopped",
    State.EXPIRED: "Expired",
    State.UNREACHABLE: "Unreachable",
}

_WITHOUT_TABLE: Mapping[str | None, str] = {
    "refusal": "Not answered",
    "question_back": "Asks you back",
    "not_run": "Not run",
}
"""For runs that finished without one."""

_HOW: Mapping[StoppedHow, Callable[[str, Subject], str]] = {
    StoppedHow.NEVER_STARTED: lambda _after, _of: "it had not started",
    StoppedHow.COROUTINE_ENDED: lambda after, _of: f"confirmed{after}: the work has ended",
    StoppedHow.THREAD_RETURNED: lambda after, _of: f"confirmed{after}: the work has returned",
    StoppedHow.ENGINE_CONFIRMED: lambda after, of: f"confirmed by {of.engine}{after}",
    StoppedHow.PROCESS_ENDED: lambda after, _of: (
        f"confirmed{after}: the process running it has ended"
    ),
    StoppedHow.WORKER_LOST: lambda _after, _of: "the process that ran it was already gone",
}


def words_for(
    known: Known,
    *,
    now_ms: int,
    of: Subject = WORK,
    request: StopRequest = StopRequest.NONE,
    outcome: str | None = None,
) -> Words:
    """What to say of work, from everything known at ``now_ms``.

    Args:
        known: the facts.
        now_ms: the present, on this side's clock.
        of: what it is.
        request: what is known here of one's own request to stop.
        outcome: what a finished run came to, where that is more than a result.
    """
    now = show(known, now_ms=now_ms)
    if now.state is State.WORKING:
        return _running(now, of, request)
    if now.state is State.FINISHED and outcome in _WITHOUT_TABLE:
        return Words(_WITHOUT_TABLE[outcome])
    if now.state is State.CANCELLED and unproven(known):
        return Words("Called stopped", "nothing shows that it has, and it may still be working")
    return Words(_BADGES[now.state], _sentence(now, known, now_ms, of, request))


def _running(now: Now, of: Subject, request: StopRequest) -> Words:
    said = _own_request(request, of)
    if now.attempt == 0:
        return Words("Waiting to start", said)
    if now.attempt is None or now.attempt == 1:
        return Words("Running", said)
    return Words("Running again", said or f"{ordinal(now.attempt)} attempt")


def _sentence(now: Now, known: Known, now_ms: int, of: Subject, request: StopRequest) -> str | None:
    match now.state:
        case State.NEEDS_INPUT | State.SENDING:
            return _own_request(request, of)
        case State.CANCEL_REQUESTED:
            return f"still running until {of.confirms} confirms"
        case State.NOT_STOPPED_YET if known.call_closed:
            return "closing the call asks the server to stop; it does not say if it has"
        case State.NOT_STOPPED_YET if now.ended:
            return "it could not be stopped and may still be having effects"
        case State.NOT_STOPPED_YET:
            asked_at_ms = cancel_asked_at_ms(known)
            ago = duration((now_ms - (now_ms if asked_at_ms is None else asked_at_ms)) / 1000)
            return f"asked to stop {ago} ago, and {of.confirms} has not confirmed it"
        case State.FINISHED_ANYWAY:
            return "result kept"
        case State.CANCELLED:
            return _because(now, of)
        case State.UNREACHABLE if known.call_lost is not None:
            return "the connection broke off before the answer"
        case State.UNREACHABLE:
            return _own_request(request, of) or _last_heard(known)
        case State.EXPIRED:
            return "the server no longer keeps this run"
        case _:
            return None


def _own_request(request: StopRequest, of: Subject) -> str | None:
    match request:
        case StopRequest.NONE:
            return None
        case StopRequest.SENDING:
            return "sending your request to stop…"
        case StopRequest.NOT_SENT:
            return f"request not sent; {of.work} is unaffected"
        case StopRequest.UNKNOWN:
            return "not known whether your request to stop arrived; you can send it again"


def _last_heard(known: Known) -> str:
    if cancel_asked_at_ms(known) is not None:
        return "a stop was requested, and not confirmed when last heard of"
    if known.task is not None and known.task.status is Status.INPUT_REQUIRED:
        return "it needed your answer when last heard of"
    return "it was running when last heard of, and may be still"


def _because(now: Now, of: Subject) -> str:
    how = None if now.how_stopped is None else _HOW.get(now.how_stopped)
    if how is None:
        return "the server says so"
    seconds = now.stopped_after_seconds
    return how("" if seconds is None else f" after {duration(seconds)}", of)


def ordinal(count: int) -> str:
    """1st, 2nd, 3rd, 4th, … 11th, 12th, 13th, … 21st."""
    ending = None if count // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10)
    return f"{count}{ending or 'th'}"


def duration(seconds: float) -> str:
    """<0.01 s, 0.03 s, 4.2 s, 42 s, 3 min 05 s, 2 h 04 min; never rounded up to the next unit."""
    if seconds < 0.01:
        return "<0.01 s"
    if seconds < 1:
        return f"{math.floor(seconds * 100) / 100:.2f} s"
    if seconds < 10:
        return f"{math.floor(seconds * 10) / 10:.1f} s"
    whole = math.floor(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def ticking(seconds: float) -> str:
    """A running clock: whole seconds, so that nothing flickers."""
    return f"{math.floor(seconds)} s" if seconds < 60 else duration(seconds)


def last_news_in_words(seconds: float) -> str | None:
    """How old the last news of running work is; said once it is old enough to wonder."""
    return None if seconds < NEWS_AFTER_SECONDS else f"last news {ticking(seconds)} ago"


def left_in_words(seconds: float) -> str:
    """What is left, where it can be told; in steps coarse enough to be true."""
    if seconds < 60:
        return f"about {max(5, _rounded(seconds / 5) * 5)} s left"
    if seconds < 3600:
        return f"about {_rounded(seconds / 60)} min left"
    return f"about {_rounded(seconds / 3600)} h left"


def percent_in_words(percent: float) -> str:
    """Never rounded up: 100 is done."""
    return f"{math.floor(percent)} %"


def rows_in_words(count: int, *, truncated: bool = False) -> str:
    """The number of rows, and whether that is all of them."""
    if truncated:
        return f"First {count:,} rows of more"
    return "1 row" if count == 1 else f"{count:,} rows"


def _rounded(value: float) -> int:
    """Halves upwards, as JavaScript does."""
    return math.floor(value + 0.5)


__all__ = [
    "QUERY",
    "WORK",
    "StopRequest",
    "Subject",
    "Words",
    "duration",
    "last_news_in_words",
    "left_in_words",
    "ordinal",
    "percent_in_words",
    "rows_in_words",
    "ticking",
    "words_for",
]
