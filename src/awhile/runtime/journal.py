"""`Run.once`: something done once for all attempts of a task, and what came of it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import inspect
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from awhile.processes.shield import shielded
from awhile.runtime.bell import running_loop
from awhile.runtime.ending import CannotNote, StopAsked

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from awhile.runtime.run import Run
    from awhile.tasks import Note, TaskRecord

KEY_LENGTH = 200
"""Characters in a key of the journal."""

OUTCOME_BYTES = 64 * 1024
"""How large one outcome may be as JSON: every claim of the task reads all of them."""

LOOK_SECONDS = 0.5
"""How often a thread that waits for the event loop looks whether that is still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing a run did elsewhere, as the tool's ``stop`` gets it.

    Attributes:
        idempotency_key: what the function of `Run.once` was given.
        done: whether it is known to have come about; False if the process died in between.
        outcome: what the function returned, once it is done.
    """

    idempotency_key: str
    done: bool
    outcome: Any


def idempotency_key(task_id: str, key: str) -> str:
    """The same for every attempt of a task, and for no other: 32 hexadecimal digits."""
    return hashlib.sha256(f"{task_id}\0{key}".encode()).hexdigest()[:32]


def entries_of(record: TaskRecord) -> dict[str, Entry]:
    """A record's journal by its keys, in order."""
    return {
        key: Entry(
            idempotency_key=idempotency_key(record.task_id, key),
            done=note.done,
            outcome=note.outcome,
        )
        for key, note in record.journal.items()
    }


class Notes(Protocol):
    """The journal of one running body, durable with its row."""

    async def begin(self, run: Run, key: str) -> tuple[str, Note]:
        """Note that something begins; its idempotency key, and what is noted of it."""
        ...

    async def finish(self, run: Run, key: str, outcome: Any) -> None:
        """Note what came of it."""
        ...


class Once:
    """Does each key's function once, whoever in the body asks for it. Safe from any thread."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._begun: dict[str, concurrent.futures.Future[Any]] = {}

    def __call__(self, run: Run, key: str, do: Callable[[str], Any]) -> Any:
        """See `Run.once`: awaitable on the event loop, else it blocks."""
        check_key(key)
        if running_loop() is self._loop:
            return self._in_loop(run, key, do)
        return self._in_thread(run, key, do)

    async def _in_loop(self, run: Run, key: str, do: Callable[[str], Any]) -> Any:
        settled, mine = self._claim(key)
        if not mine:
            return await asyncio.wrap_future(settled)
        with _Settling(self, key, settled) as told:
            own_key, note = await run.notes.begin(run, key)
            value = note.outcome
            if not note.done:
                value = do(own_key)
                if inspect.isawaitable(value):
                    value = await value
                value = plain(key, value)
                with shielded():  # what has come about has to be known
                    await run.notes.finish(run, key, value)
            told(value)
        return value

    def _in_thread(self, run: Run, key: str, do: Callable[[str], Any]) -> Any:
        settled, mine = self._claim(key)
        if not mine:
            return self._wait(settled)
        with _Settling(self, key, settled) as told:
            own_key, note = self._call(run.notes.begin(run, key))
            value = note.outcome
            if not note.done:
                value = do(own_key)
                if inspect.iscoroutine(value):
                    value.close()
                    raise CannotNote(
                        f"The function of once({key!r}) is asynchronous, and this is a thread: "
                        "give a plain function, or make the tool 'async def'."
                    )
                value = plain(key, value)
                self._call(run.notes.finish(run, key, value))
            told(value)
        return value

    def forget(self, key: str) -> None:
        """Let the key be tried again (it is noted, or has failed)."""
        with self._lock:
            self._begun.pop(key, None)

    def _claim(self, key: str) -> tuple[concurrent.futures.Future[Any], bool]:
        with self._lock:
            if key in self._begun:
                return self._begun[key], False
            mine = self._begun[key] = concurrent.futures.Future[Any]()
            return mine, True

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        try:
            return self._wait(asyncio.run_coroutine_threadsafe(work, self._loop))
        except concurrent.futures.CancelledError:
            raise StopAsked("The process is stopping.") from None

    def _wait(self, settled: concurrent.futures.Future[Any]) -> Any:
        while True:  # bounded: a loop that has ended would never answer
            done, _ = concurrent.futures.wait([settled], LOOK_SECONDS)
            if done:
                return settled.result()
            if self._loop.is_closed():
                raise StopAsked("The process is stopping.")


class _Settling:
    """Settle the future of a key for the others that wait for it, however the block ends."""

    def __init__(self, once: Once, key: str, settled: concurrent.futures.Future[Any]) -> None:
        self._once, self._key, self._settled = once, key, settled

    def __enter__(self) -> Callable[[Any], None]:
        return self._settled.set_result

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._once.forget(self._key)
        if error is not None:
            cancelled = not isinstance(error, Exception)
            told = StopAsked("This was stopped before it was done.") if cancelled else error
            self._settled.set_exception(told)


def check_key(key: str) -> None:
    """Refuse a key that is none.

    Raises:
        CannotNote: it is empty or too long.
    """
    if not 0 < len(key) <= KEY_LENGTH:
        raise CannotNote(f"The key {key[:50]!r} has {len(key)} characters; use 1 to {KEY_LENGTH}.")


def plain(key: str, outcome: Any) -> Any:
    """The outcome as every later attempt will read it.

    Raises:
        CannotNote: it has no JSON form, or is too large.
    """
    try:
        text = json.dumps(outcome, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CannotNote(
            f"What once({key!r}) returned cannot be noted as JSON ({error}), so another attempt "
            "would do it again. Return the id of what was started, or a small object."
        ) from error
    if len(text) > OUTCOME_BYTES:
        raise CannotNote(
            f"What once({key!r}) returned is {len(text)} bytes of JSON, more than the "
            f"{OUTCOME_BYTES} that are noted. Return its id, and read the rest by that."
        )
    return json.loads(text)


__all__ = ["Entry", "Notes", "Once", "check_key", "entries_of", "idempotency_key", "plain"]
