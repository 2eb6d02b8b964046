"""What the page is shown: every run's facts, whether the server is reachable, and what changed.

State is synchronised, not events replayed: each row carries the revision of its last change, so a
stream that (re)connects asks for "what changed after revision n" and misses nothing. Revisions
mean something within one epoch; a new board is a new epoch, which makes every page start over.
"""

from __future__ import annotations

import secrets
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run as the page knows it. Instants are ISO 8601, durations seconds."""

    id: str
    tool: str
    question: str | None = None
    sql: str | None = None
    parameters: Mapping[str, Any] | None = None
    """The values of the SQL's ``:names``, where it has any."""
    reading: str | None = None
    """What the question was taken to mean, in words; known as soon as the SQL is."""
    status: str
    """A status of the Tasks extension, or ``expired``."""
    is_error: bool = False
    outcome: str | None = None
    """``table``, ``refusal``, ``question_back`` or ``error``; None unless it completed."""
    message: str | None = None
    percent: float | None = None
    """0 to 100, only where the engine gave one; its own estimate."""
    row_count: int | None = None
    created_at: str | None = None
    ended_at: str | None = None
    cancel_asked_at: str | None = None
    stopped_how: str | None = None
    stopped_after_seconds: float | None = None
    attempt: int = 1
    """0: nobody has begun it yet; more than 1: the process that ran it before was lost."""
    inputs: tuple[Mapping[str, Any], ...] = ()
    """What it asks of the person now: ``key``, ``message`` and the ``schema`` of the answer."""
    answers: tuple[Mapping[str, Any], ...] = ()
    """What was asked and answered before, as given."""
    title: str | None = None
    """What its owner calls it, in place of its question."""
    pinned: bool = False
    stop_when_left: bool = False
    """Whether it is stopped once no page is open any more."""
    follows: str | None = None
    """The run whose question this one goes on from."""
    result_name: str | None = None
    """What its rows are called in later SQL."""
    unobserved_seconds: float | None = None
    """How long it goes on while nobody looks; None: to its end."""

    @property
    def live(self) -> bool:
        """Whether something may still change by itself."""
        return self.status in {"working", "input_required"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """How long, as of ``at`` (seconds on the event loop's clock). Clocks alone are no news."""

    at: float
    elapsed_seconds: float
    cancel_asked_seconds: float | None = None
    news_seconds: float = 0.0
    """Since something of the run last changed, by the server's word."""


@dataclass(frozen=True, slots=True)
class _Row:
    run: Run
    clocks: Clocks
    rev: int


class Board:
    """The one place the streams read. Lives on one event loop."""

    def __init__(self) -> None:
        self.epoch = secrets.token_hex(8)
        self.rev = 0
        self.reachable = False
        self.since: str | None = None
        self._rows: dict[str, _Row] = {}
        self._changed = anyio.Event()

    def run(self, run_id: str) -> Run | None:
        """The run of that id, if it is on the board."""
        row = self._rows.get(run_id)
        return row.run if row else None

    def runs(self) -> list[Run]:
        """Every run on the board."""
        return [row.run for row in self._rows.values()]

    def put(self, run: Run, clocks: Clocks) -> None:
        """Take what is now known of a run; wakes the streams only if it is news."""
        known = self._rows.get(run.id)
        if known is not None and known.run == run:
            self._rows[run.id] = replace(known, clocks=clocks)
            return
        self.rev += 1
        self._rows[run.id] = _Row(run, clocks, self.rev)
        self._ring()

    def put_progress(self, run: Run, *, now: float) -> None:
        """The same, from a watch: the clocks go on as they were, but that this is news."""
        row = self._rows.get(run.id)
        if row is not None and row.run != run:
            self.put(run, replace(_carried_on(row, now), news_seconds=0.0))

    def twin(self, tool: str, arguments: Mapping[str, Any]) -> Run | None:
        """A run of the very same question or statement that goes on, not asked to stop."""
        question, sql = arguments.get("question"), arguments.get("sql")
        parameters: Mapping[str, Any] = arguments.get("parameters") or {}
        return next(
            (
                run
                for run in self.runs()
                if run.live
                and run.cancel_asked_at is None
                and run.tool == tool
                and (run.question == question if question is not None else run.sql == sql)
                and dict(run.parameters or {}) == dict(parameters)
                and run.follows == arguments.get("follows")
            ),
            None,
        )

    def drop(self, run_id: str) -> None:
        """Forget a run that was deleted. Pages then start over."""
        self.keep_only(self._rows.keys() - {run_id})

    def keep_only(self, ids: Iterable[str]) -> None:
        """Drop every other run: the server no longer lists it. Pages then start over."""
        gone = self._rows.keys() - set(ids)
        if not gone:
            return
        for run_id in gone:
            del self._rows[run_id]
        self.epoch = secrets.token_hex(8)
        self._ring()

    def server_is(self, *, reachable: bool, since: str) -> None:
        """Take whether the server answers; ``since`` only counts when that changed."""
        if self.since is not None and self.reachable == reachable:
            return
        self.reachable, self.since = reachable, since
        self.rev += 1
        self._ring()

    def as_json(self, run_id: str, *, now: float) -> dict[str, Any] | None:
        """One run for the page, its clocks carried on to ``now``."""
        row = self._rows.get(run_id)
        return None if row is None else _json(row, now)

    def sync(self, epoch: str | None, after: int, *, now: float) -> dict[str, Any]:
        """What a page that has seen ``epoch`` up to ``after`` needs to be up to date."""
        full = epoch != self.epoch
        rows = [row for row in self._rows.values() if full or row.rev > after]
        return {
            "epoch": self.epoch,
            "rev": self.rev,
            "full": full,
            "server": {"reachable": self.reachable, "since": self.since},
            "runs": [_briefly(_json(row, now)) for row in rows],
        }

    def has_news(self, epoch: str | None, after: int) -> bool:
        """Whether `sync` would say anything new."""
        return epoch != self.epoch or self.rev > after

    async def changed(self) -> None:
        """Return at the next change."""
        await self._changed.wait()

    def _ring(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


def shown(run: Run, clocks: Clocks) -> dict[str, Any]:
    """A run that is on no board, for the page."""
    return _json(_Row(run, clocks, 0), clocks.at)


def _briefly(run: dict[str, Any]) -> dict[str, Any]:
    """A finished question's SQL comes with the run itself; hundreds would swell each sync."""
    told_later = run["question"] is not None and run["ended_at"] is not None
    return {**run, "sql": None, "reading": None} if told_later else run


def _carried_on(row: _Row, now: float) -> Clocks:
    """The clocks of a row at ``now``; those of an ended run stand still."""
    then = row.clocks
    passed = max(0.0, now - then.at) if row.run.live else 0.0
    asked = then.cancel_asked_seconds
    return Clocks(
        at=now,
        elapsed_seconds=then.elapsed_seconds + passed,
        cancel_asked_seconds=None if asked is None else asked + passed,
        news_seconds=then.news_seconds + passed,
    )


def _json(row: _Row, now: float) -> dict[str, Any]:
    clocks = asdict(_carried_on(row, now))
    del clocks["at"]
    return {**asdict(row.run), "rev": row.rev, **clocks}


__all__ = ["Board", "Clocks", "Run", "shown"]
