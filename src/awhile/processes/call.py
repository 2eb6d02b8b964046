"""One function call in a child process: its reports, its result, and a cancel that really stops it.

Used for tool bodies that run in a process of their own.
"""

from __future__ import annotations

import functools
import inspect
import queue
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast, get_type_hints

import anyio

from awhile.processes.child import Child
from awhile.processes.errors import ChildEnded, ChildRaised, ProcessError
from awhile.processes.link import Link
from awhile.processes.shield import shielded
from awhile.processes.target import load, target_of

__all__ = ["ChildRun", "Journal", "call_in_child", "target_of"]

Report = Callable[[float, float | None, str | None], None]


@dataclass(frozen=True, slots=True)
class _Started:
    cooperates: bool


@dataclass(frozen=True, slots=True)
class _Reported:
    done: float
    total: float | None
    message: str | None


@dataclass(frozen=True, slots=True)
class _OnceAsked:
    key: str


@dataclass(frozen=True, slots=True)
class _OnceBegun:
    key: str
    idempotency_key: str
    done: bool
    outcome: object


@dataclass(frozen=True, slots=True)
class _OnceDone:
    key: str
    outcome: object


@dataclass(frozen=True, slots=True)
class _OnceNoted:
    key: str


@dataclass(frozen=True, slots=True)
class _OnceRefused:
    key: str
    message: str


@dataclass(frozen=True, slots=True)
class _Returned:
    value: object


@dataclass(frozen=True, slots=True)
class _Raised:
    type_name: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True)
class _Cancel:
    pass


class Journal(Protocol):
    """Where `ChildRun.once` keeps what came of things, on the caller's side."""

    async def begin(self, key: str) -> tuple[str, bool, object]:
        """The idempotency key; whether it was done before; what came of it."""
        ...

    async def finish(self, key: str, outcome: object) -> None:
        """Keep what came of it."""
        ...


class ChildRun:
    """What a function in a child may ask for by giving a parameter this type."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._hooks: list[Callable[[], object]] = []
        self._lock = threading.Lock()
        self._once = threading.RLock()
        self._answers: queue.SimpleQueue[_OnceBegun | _OnceNoted | _OnceRefused] = (
            queue.SimpleQueue()
        )
        self.cancelled = threading.Event()
        """Set when the caller wants the function to stop."""

    def report(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say how far the work is; `total` in the same unit as `done`, None when unknown."""
        self._link.send(_Reported(done, total, message))

    def on_cancel(self, hook: Callable[[], object]) -> None:
        """Have `hook` called, in a thread of its own, when the caller wants the function to stop.

        Typically an engine's interrupt. Called at once when that has already happened.
        """
        with self._lock:
            self._hooks.append(hook)
            late = self.cancelled.is_set()
        if late:
            hook()

    def once(self, key: str, do: Callable[[str], Any]) -> Any:
        """Do something once for all attempts of this task; see `awhile.Run.once`.

        It blocks, in a coroutine function too: run it in a thread there. One at a time.

        Raises:
            ProcessError: it cannot be noted, or the caller wants the function to stop.
        """
        with self._once:
            if self.cancelled.is_set():
                raise ProcessError(f"once({key!r}) was not begun: a stop was asked")
            begun = self._asked(_OnceAsked(key))
            assert isinstance(begun, _OnceBegun)
            if begun.done:
                return begun.outcome
            outcome = do(begun.idempotency_key)
            self._asked(_OnceDone(key, outcome))
            return outcome

    def answer(self, message: _OnceBegun | _OnceNoted | _OnceRefused) -> None:
        """What the caller's side says to what `once` has asked."""
        self._answers.put(message)

    def _asked(self, message: object) -> object:
        self._link.send(message)
        answer = self._answers.get()
        if isinstance(answer, _OnceRefused):
            raise ProcessError(answer.message)
        return answer

    def cancel(self) -> None:
        """Set `cancelled` and call the hooks; one that raises does not hinder the others."""
        with self._lock:
            self.cancelled.set()
            hooks = list(self._hooks)
        for hook in hooks:
            try:
                hook()
            except Exception:  # noqa: BLE001 - the process is terminated next if this was needed
                traceback.print_exc()


async def call_in_child(
    target: str,
    arguments: Mapping[str, object],
    *,
    report: Report,
    grace_seconds: float,
    on_stopped: Callable[[str, float], None] | None = None,
    on_late_result: Callable[[object], None] | None = None,
    journal: Journal | None = None,
) -> Any:
    """Call `target` (`module:qualname`, see `target_of`) with keyword arguments in a new process.

    Arguments, reports and the result must be picklable. A coroutine function is run in an event
    loop of the child. `report(done, total, message)` is called here, on the event loop.

    Cancelling the caller stops the child before the cancellation goes on: a function that has a
    `ChildRun` parameter is told and given `grace_seconds` to end by itself; then, as for every
    other function, SIGTERM, and SIGKILL after `grace_seconds` more. `on_stopped` then gets how
    it ended and the seconds from the cancel to the reaped process; `on_late_result` gets the
    value of a function that returned normally although it had been told to stop. ``journal`` is
    where `ChildRun.once` keeps what it did.

    Raises `ChildRaised` (the function raised) and `ChildEnded` (the process died).
    """
    child = await Child.start(
        "awhile.processes.call:serve_call", target, dict(arguments), echo=True
    )
    cooperates = False
    unsaid: object = None
    """What the child waits for to hear, where a cancel comes before it has."""
    try:
        while True:
            match await child.receive():
                case _Started(cooperates):
                    pass
                case _Reported(done, total, message):
                    report(done, total, message)
                case _OnceAsked(key) as once:
                    unsaid = _OnceRefused(key, f"once({key!r}) was not begun: a stop was asked")
                    await child.send(await _noted(journal, once))
                    unsaid = None
                case _OnceDone() as once:
                    unsaid = await _noted(journal, once)
                    await child.send(unsaid)
                    unsaid = None
                case _Returned(value):
                    return value
                case _Raised(type_name, message, trace):
                    raise ChildRaised(type_name, message, trace)
                case other:
                    raise TypeError(f"the child sent {other!r}, which is not part of a call")
    except anyio.get_cancelled_exc_class():
        asked = time.monotonic()
        with shielded():
            how, late = await _stop(child, cooperates, grace_seconds, journal, unsaid)
        if on_stopped is not None:
            on_stopped(how, time.monotonic() - asked)
        if isinstance(late, _Returned) and on_late_result is not None:
            on_late_result(late.value)
        raise
    finally:
        await child.kill()


async def _noted(
    journal: Journal | None, asked: _OnceAsked | _OnceDone
) -> _OnceBegun | _OnceNoted | _OnceRefused:
    """Keep what the child's `ChildRun.once` asks to be kept; the answer to it."""
    try:
        if journal is None:
            raise ProcessError("nothing can be done once here: the call is no task's")
        if isinstance(asked, _OnceAsked):
            return _OnceBegun(asked.key, *await journal.begin(asked.key))
        with shielded():  # it has come about, so it has to be known
            await journal.finish(asked.key, asked.outcome)
        return _OnceNoted(asked.key)
    except anyio.get_cancelled_exc_class():
        raise
    except Exception as refused:  # noqa: BLE001 - told to the child, where the function raises it
        return _OnceRefused(asked.key, str(refused))


async def _stop(
    child: Child, cooperates: bool, grace_seconds: float, journal: Journal | None, unsaid: object
) -> tuple[str, object]:
    """Stop the child; how it ended, and its last message if the function ended by itself."""
    if cooperates:
        with anyio.move_on_after(grace_seconds):
            try:
                await child.send(_Cancel())
                if unsaid is not None:
                    await child.send(unsaid)
                while True:
                    message = await child.receive()
                    if isinstance(message, _OnceAsked | _OnceDone):
                        await child.send(await _noted(journal, message))
                    if isinstance(message, _Returned | _Raised):
                        await child.kill()
                        ended = "returned" if isinstance(message, _Returned) else "raised"
                        return f"the function {ended} after being told to stop", message
            except ChildEnded:
                return "the process had already ended", None
            except ProcessError:
                pass  # it was told a part of something, and can be told nothing more
    ending = await child.terminate(grace_seconds)
    words = {
        "already ended": "the process had already ended",
        "exited": "the process exited when told to",
    }
    return words.get(ending, f"the process was {ending}"), None


def serve_call(link: Link, target: str, arguments: dict[str, object]) -> None:
    """The child's side of `call_in_child`."""
    run = ChildRun(link)
    try:
        function = load(target)
        wanted = _run_parameters(function)
        link.send(_Started(cooperates=bool(wanted)))
        threading.Thread(target=_listen, args=(link, run), daemon=True).start()
        call = functools.partial(function, **arguments, **dict.fromkeys(wanted, run))
        value = anyio.run(call) if inspect.iscoroutinefunction(function) else call()
        ending: object = _Returned(value)
        link.send(ending)
    except Exception as error:  # noqa: BLE001 - told to the parent, which raises it
        link.send(_described(error))


def _listen(link: Link, run: ChildRun) -> None:
    while not isinstance(message := link.receive(), _Cancel):
        if isinstance(message, _OnceBegun | _OnceNoted | _OnceRefused):
            run.answer(message)
    threading.Thread(target=run.cancel, daemon=True).start()  # its hooks may block
    while True:  # what was begun before is still noted
        message = link.receive()
        if isinstance(message, _OnceBegun | _OnceNoted | _OnceRefused):
            run.answer(message)


def _run_parameters(function: Callable[..., object]) -> list[str]:
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):
        hints = cast("dict[str, object]", getattr(function, "__annotations__", {}))
    return [name for name, hint in hints.items() if hint is ChildRun and name != "return"]


def _described(error: Exception) -> _Raised:
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else (f"{kind.__module__}.{kind.__qualname__}")
    )
    return _Raised(name, str(error), "".join(traceback.format_exception(error)))
