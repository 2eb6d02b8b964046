"""Running a tool's own function as its author declared it: awaited, in a thread, in a process."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, Literal, assert_never

import anyio
import anyio.to_thread

from awhile.errors import SettingsError
from awhile.processes.call import ChildRun, call_in_child
from awhile.processes.errors import ChildRaised, ProcessError
from awhile.processes.target import CHILD_FUNCTION, target_of
from awhile.runtime.ending import StopAsked
from awhile.runtime.journal import check_key, plain
from awhile.tasks import StoppedHow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from awhile.runtime.run import Run

RunIn = Literal["async", "thread", "process"]


def placed(function: Callable[..., Any], run_in: RunIn | None) -> RunIn:
    """Where a function runs: as declared, else by its kind.

    Raises:
        SettingsError: the function cannot run there.
    """
    name = getattr(function, "__qualname__", repr(function))
    if not inspect.isroutine(function):
        raise SettingsError(
            f"{name} is no function or method but {type(function).__name__!r}: wrap what it calls "
            "in a function of its own, whose name and annotations MCP clients can be shown."
        )
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SettingsError(
            f"{name!r} yields, but a tool has one result: return it, and tell what comes before it "
            "by Run.report."
        )
    is_async = inspect.iscoroutinefunction(function)
    place: RunIn = run_in or ("async" if is_async else "thread")
    if place == "async" and not is_async:
        raise SettingsError(
            f"{name!r} is a plain function but run_in is 'async': it would block every other call. "
            "Use run_in='thread' or 'process', or make it 'async def'."
        )
    if place == "thread" and is_async:
        raise SettingsError(
            f"{name!r} is a coroutine function but run_in is 'thread': use run_in='async'."
        )
    if place == "process":
        try:
            target_of(function)
        except ProcessError as cannot:
            raise SettingsError(f"{name!r} cannot run in a process of its own: {cannot}") from None
    return place


async def perform(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    run: Run,
    run_in: RunIn,
    grace_seconds: float,
) -> Any:
    """Run the function to its end, as a body that can be stopped; its return value.

    Raises:
        StopAsked: it ended because it was told to stop; how that is known is in the run.
    """
    run.mark_started()
    try:
        match run_in:
            case "async":
                return await _awaited(function, arguments, run)
            case "thread":
                return await _in_thread(function, arguments, run)
            case "process":
                return await _in_process(function, arguments, run, grace_seconds)
            case _:
                assert_never(run_in)
    except StopAsked:
        if run.stop_asked:  # else the function raised it itself, which is an error like any other
            run.mark_halted()
        raise
    except Exception:
        # A driver whose query was interrupted by an on_cancel hook raises an error of its own.
        if run.stop_asked and (run.hooks or run.told_outside):
            run.mark_halted()
        raise


async def _awaited(function: Callable[..., Any], arguments: Mapping[str, Any], run: Run) -> Any:
    with anyio.CancelScope() as scope:
        run.add_scope(scope)
        return await function(**arguments)
    raise StopAsked("The coroutine was cancelled.")


async def _in_thread(function: Callable[..., Any], arguments: Mapping[str, Any], run: Run) -> Any:
    # No scope of the run: a thread cannot be cancelled, and its value must not be thrown away. It
    # is only ever left behind when this process stops (abandon_on_cancel). Its own limiter: the
    # worker's slots bound the threads already, and the default one is the SDK's.
    call = functools.partial(function, **arguments)
    alone = anyio.CapacityLimiter(1)
    returned = True
    try:
        return await anyio.to_thread.run_sync(call, limiter=alone, abandon_on_cancel=True)
    except anyio.get_cancelled_exc_class():
        returned = False
        raise
    finally:
        if returned and run.stop_asked and run.stopped_how is None:
            run.confirm_stopped(StoppedHow.THREAD_RETURNED)


async def _in_process(
    function: Callable[..., Any], arguments: Mapping[str, Any], run: Run, grace_seconds: float
) -> Any:
    late: list[object] = []

    def stopped(_how: str, _seconds: float) -> None:
        run.confirm_stopped(StoppedHow.PROCESS_ENDED)

    with anyio.CancelScope() as scope:
        run.add_scope(scope)
        return await call_in_child(
            target_of(function),
            arguments,
            report=run.report,
            grace_seconds=grace_seconds,
            on_stopped=stopped,
            on_late_result=late.append,
            journal=_ChildsJournal(run),
        )
    if late:  # it returned normally although it was told to stop: that is a result
        return late[0]
    raise StopAsked("The child process was stopped.")


class _ChildsJournal:
    """What a child's `ChildRun.once` did, kept in the journal of the run it belongs to."""

    def __init__(self, run: Run) -> None:
        self._run = run

    async def begin(self, key: str) -> tuple[str, bool, object]:
        check_key(key)
        own_key, note = await self._run.notes.begin(self._run, key)
        return own_key, note.done, note.outcome

    async def finish(self, key: str, outcome: object) -> None:
        await self._run.notes.finish(self._run, key, plain(key, outcome))


__all__ = ["CHILD_FUNCTION", "ChildRaised", "ChildRun", "RunIn", "perform", "placed"]
