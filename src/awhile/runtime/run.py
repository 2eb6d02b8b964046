"""`Run`: what a tool's body holds of its own run."""

from __future__ import annotations

import contextvars
import threading
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from awhile.runtime.bell import Bell
from awhile.runtime.ending import StopAsked
from awhile.runtime.journal import Once
from awhile.runtime.progress import Progress, sanitised

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import anyio

    from awhile.runtime.journal import Notes
    from awhile.tasks import Note, StoppedHow

T = TypeVar("T")

current_run: contextvars.ContextVar[Run] = contextvars.ContextVar("awhile_run")
"""The run of the body this code is part of, if any."""


class Asker(Protocol):
    """What puts a body's question to its caller and waits for the answer."""

    async def __call__(self, request: Mapping[str, Any], key: str | None) -> Any: ...


class Run:
    """One run of a tool's body: report progress, notice a stop, ask the caller.

    A tool gets it by a parameter annotated ``Run``. `ask` belongs to the event loop; everything
    else may be called from any thread.

    Attributes:
        id: the task's id, or None as long as the call has not become a task.
        attempt: 1 on the first run; more when an earlier worker was lost and the tool is declared
            safe to run again.
        owner: the principal that made the call.
    """

    def __init__(self, *, owner: str, asker: Asker, notes: Notes) -> None:
        self.id: str | None = None
        self.attempt = 1
        self.owner = owner
        self.progress = Progress()
        self.started = False
        self.halted = False
        self.ended = False
        self.stopped_how: StoppedHow | None = None
        self._check: Callable[[Mapping[str, Any]], None] | None = None
        self.scopes: list[anyio.CancelScope] = []
        self.hooks: list[Callable[[], Awaitable[object] | object]] = []
        self.stop_bell = Bell()
        self.turn = Bell()
        self.told_outside = False
        """Whether what the body started elsewhere was told to stop."""
        self._asker = asker
        self.notes = notes
        self._once = Once()
        self._stop = threading.Event()

    def report(
        self,
        done: float | None = None,
        total: float | None = None,
        message: str | None = None,
    ) -> None:
        """Say how far the work is. Never blocks; cheap enough to call in a loop.

        Args:
            done: how much is done, in whatever unit ``total`` has.
            total: how much there is; leave it out when that is not honestly known.
            message: what is being done, for a person. A changed message is a step of the history.
        """
        self.progress.put(sanitised(done, total, message))

    @property
    def stop_asked(self) -> bool:
        """Whether somebody asked for this work to be stopped."""
        return self._stop.is_set()

    def check(self) -> None:
        """Raise `StopAsked` if a stop was asked: call it now and then in a thread's loop."""
        if self._stop.is_set():
            raise StopAsked("This work was asked to stop.")

    def wait(self, seconds: float) -> bool:
        """Sleep in a thread body; returns True, and at once, when a stop is asked."""
        return self._stop.wait(seconds)

    def on_cancel(self, hook: Callable[[], Awaitable[object] | object]) -> None:
        """Have ``hook`` called when a stop is asked (at once, if it already was).

        A plain function runs in a thread of its own, so it may block (a driver's ``cancel()``).
        If it returns a `StoppedHow`, that is kept as the proof of how the work stopped.
        """
        self.hooks.append(hook)
        self.stop_bell.ring()

    @overload
    def once(self, key: str, do: Callable[[str], Awaitable[T]]) -> Awaitable[T]: ...

    @overload
    def once(self, key: str, do: Callable[[str], T]) -> T: ...

    def once(self, key: str, do: Callable[[str], Any]) -> Any:
        """Do something once for all attempts of this task: start a job elsewhere, send a message.

        The outcome is stored with the task, durably, before this returns. If this process dies and
        the tool runs again (``rerun="safe"``), the same key gives the same outcome and ``do`` is
        not called. ``do`` gets an idempotency key, the same for every attempt: hand it to the
        service, because a process can die after the job was started and before that was noted, and
        then ``do`` is called again. The call becomes a task if it is not one yet.

        In a thread it blocks; in an async body, give an async function and await it. One key is
        done once, however many threads ask for it at the same time. If ``do`` raises, nothing is
        noted of it but that it was begun.

        How to stop what was started, also after a crash, is declared with the tool (``stop``).

        Args:
            key: which thing of this task it is, 1 to 200 characters; a task has 100 keys at most.
            do: does it, given the idempotency key; returns what later attempts have to know
                (the job's id), as JSON values.

        Raises:
            StopAsked: a stop was asked, so it was not begun.
            Fenced: another worker has the task now; let it pass.
            CannotNote: the key or the outcome cannot be noted, or this key is one too many.
        """
        return self._once(self, key, do)

    def confirm_stopped(self, how: StoppedHow) -> None:
        """Say how it is known that the work has really stopped (an engine confirmed it, …)."""
        self.stopped_how = how

    async def ask(self, request: Mapping[str, Any], *, key: str | None = None) -> Any:
        """Put a server-to-client request (``method``, ``params``) to the caller; its response.

        The call becomes a task if it is not one yet. What was answered stays answered: where the
        process dies and the tool runs again (``rerun="safe"``), the same question under the same
        ``key`` gives the same answer and nobody is asked twice. Without a key it is asked again.

        Raises:
            CannotAsk: this caller cannot be asked, or not by such a request.
        """
        if self._check is not None:
            self._check(request)
        return await self._asker(request, key)

    # --- for the room that runs the body (`awhile.server`) and the runtime ------------------

    def mark_started(self) -> None:
        """The tool's own function begins: what came before (arguments, resolvers) is done."""
        self.started = True
        self.scopes.clear()  # from here on, the room that runs the function says how it is stopped
        self.turn.ring()

    def ask_only(self, check: Callable[[Mapping[str, Any]], None]) -> None:
        """Have ``check`` refuse, with a `CannotAsk`, what the caller cannot be asked."""
        self._check = check

    def add_scope(self, scope: anyio.CancelScope) -> None:
        """Have ``scope`` cancelled when a stop is asked (at once, if it already was)."""
        self.scopes.append(scope)
        self.stop_bell.ring()

    def mark_halted(self) -> None:
        """The body ended because it was told to stop, whatever it returns or raises now."""
        self.halted = True

    def mark_ended(self) -> None:
        """The body has ended, however it did."""
        self.ended = True
        self.stop_bell.ring()

    def let_go(self) -> None:
        """Know nothing more of what ran the body, which is over: see `Running.live`."""
        self.progress.bell.heard = None
        self._asker, self.notes = _asked_too_late, _TOO_LATE

    def ask_to_stop(self) -> None:
        """Set the stop token; `awhile.runtime.cancel` then climbs the ladder."""
        self._stop.set()
        self.stop_bell.ring()


async def _asked_too_late(request: Mapping[str, Any], key: str | None) -> Any:
    raise StopAsked("This run is over, so nobody can be asked.")


class _TooLate:
    """The journal of a run that is over."""

    async def begin(self, run: Run, key: str) -> tuple[str, Note]:
        raise StopAsked(f"This run is over, so {key!r} cannot begin.")

    async def finish(self, run: Run, key: str, outcome: Any) -> None:
        raise StopAsked(f"This run is over, so what came of {key!r} cannot be noted.")


_TOO_LATE = _TooLate()


__all__ = ["Run", "current_run"]
