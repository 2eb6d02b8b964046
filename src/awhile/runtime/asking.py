"""What a body asks its caller: each question under a key of its own, for as long as it may wait."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from awhile.runtime.bell import Bell
from awhile.runtime.ending import CannotAsk, NoAnswer, StopAsked
from awhile.tasks import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from awhile.runtime.run import Run
    from awhile.tasks import Event, Input, TaskRecord


class Asker(Protocol):
    """The running body that asks."""

    run: Run
    record: TaskRecord | None

    async def own_row(self) -> TaskRecord:
        """Its row, once it has one."""
        ...

    async def append(self, event: Event) -> bool:
        """Write an event to the row; False if it was too late for it."""
        ...

    async def write_what_was_said(self) -> None:
        """Write its reports so far."""
        ...


class Asking:
    """The questions of one body.

    Args:
        asker: the body.
        patience_seconds: how long one question waits for its answer; None: until it comes.
        may_ask: whether its caller can answer.
        now_ms: the clock, Unix milliseconds.
    """

    def __init__(
        self,
        asker: Asker,
        *,
        patience_seconds: float | None,
        may_ask: bool,
        now_ms: Callable[[], int],
    ) -> None:
        self.changed = Bell()
        """To be rung when the row is known to have changed."""
        self._asker = asker
        self._patience_seconds = patience_seconds
        self._may_ask = may_ask
        self._now_ms = now_ms
        self._asked = 0
        self._waiting = 0
        self._over = False
        self._keys: set[str] = set()

    @property
    def waits(self) -> bool:
        """Whether the body waits for an answer, which is no work: that time does not count."""
        return self._waiting > 0

    async def ask(self, request: Mapping[str, Any], key: str | None) -> Any:
        """The answer to one question; see `Run.ask`."""
        if not self._may_ask:
            raise CannotAsk(
                "This tool needs to ask its caller something, and this caller cannot be asked: "
                "call it from a client that supports tasks with elicitation."
            )
        row = await self._asker.own_row()
        given = self._given_before(request, key, row)
        if given is not None:
            return given.response
        name = self._single_use(key, row)
        seen = self.changed.count
        await self._asker.write_what_was_said()  # else an old step would hide that it waits
        patience = self._patience_seconds
        by_ms = None if patience is None else self._now_ms() + round(patience * 1000)
        generation = row.generation
        asked = ev.InputAsked(generation=generation, key=name, request=request, answer_by_ms=by_ms)
        if not await self._asker.append(asked):
            raise StopAsked("This run is no longer the task's, so nobody can be asked.")
        try:
            with anyio.move_on_after(patience) as in_time, self._work_paused():
                while self._input(name).outstanding and not self._over:
                    seen = await self.changed.wait(seen)
        finally:
            if self._input(name).outstanding and not self._over:  # cancelled, or in vain
                with anyio.CancelScope(shield=True):
                    keys = frozenset({name})
                    await self._asker.append(ev.InputWithdrawn(generation=generation, keys=keys))
        if in_time.cancelled_caught and self._input(name).withdrawn:
            raise NoAnswer(f"Nobody answered within {patience:g} s, so this could not go on.")
        if self._input(name).outstanding or self._input(name).withdrawn:
            raise StopAsked("The task ended before its question was answered.")
        return self._input(name).response

    def let_go(self) -> None:
        """The body is over: what it left behind waits for no answer any more."""
        self._over = True
        self.changed.ring()

    def _given_before(
        self, request: Mapping[str, Any], key: str | None, row: TaskRecord
    ) -> Input | None:
        """The answer that an earlier attempt was given to this very question under this key."""
        for name, one in row.inputs.items() if key else ():
            same = name == key or name.rpartition("-")[0] == key
            answered = not one.outstanding and not one.withdrawn
            if same and answered and name not in self._keys and one.request == request:
                self._keys.add(name)
                return one
        return None

    def _single_use(self, key: str | None, row: TaskRecord) -> str:
        """That key, or the next one that the task has never used (ext-tasks)."""
        self._asked += 1
        wanted = key or f"input-{self._asked}"
        name, tries = wanted, 1
        while name in self._keys or name in row.inputs:
            tries += 1
            name = f"{wanted}-{tries}"
        self._keys.add(name)
        return name

    def _input(self, name: str) -> Input:
        assert self._asker.record is not None  # it was asked under a row
        return self._asker.record.inputs[name]

    @contextmanager
    def _work_paused(self) -> Generator[None]:
        self._waiting += 1
        self._asker.run.turn.ring()
        try:
            yield
        finally:
            self._waiting -= 1
            self._asker.run.turn.ring()


__all__ = ["Asking"]
