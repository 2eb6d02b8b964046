"""How work on results is carried out: in a thread that can be stopped, or in a process apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from awhile.ask.results.views import Stop, Stopped
from awhile.processes import ChildRaised, ProcessError, call_in_child, target_of

__all__ = ["apart", "stoppable"]

_T = TypeVar("_T")

_INTERRUPT_AGAIN_SECONDS = 0.02
_TOLD = {"ValueError": ValueError, "IndexError": IndexError}


async def stoppable(work: Callable[[Stop], _T]) -> _T:
    """What `work` returns, in a thread. Cancelled, it is told to stop, and has ended then."""
    stop = Stop()
    done: list[_T] = []

    async def watch() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                while not ended.is_set():
                    stop.ask()
                    with anyio.move_on_after(_INTERRUPT_AGAIN_SECONDS):
                        await ended.wait()

    ended = anyio.Event()
    failure: Exception | None = None
    async with anyio.create_task_group() as beside:
        beside.start_soon(watch)
        try:
            done.append(await anyio.to_thread.run_sync(work, stop))
        except Stopped:
            pass
        except Exception as error:  # noqa: BLE001 - raised below, not as a group of one
            failure = error
        finally:
            ended.set()
        beside.cancel_scope.cancel()
    await anyio.lowlevel.checkpoint_if_cancelled()
    if failure is not None:
        raise failure
    return done[0]


async def apart(function: Callable[..., _T], **arguments: Any) -> _T:
    """What a function returns that runs in a process of its own, with memory of its own.

    Cancelled, that process is killed. `ValueError` and `IndexError` of the function are raised
    here; whatever else goes wrong is an `OSError`.
    """
    try:
        value: _T = await call_in_child(
            target_of(function), arguments, report=_unheard, grace_seconds=0
        )
    except ChildRaised as raised:
        if raised.type_name in _TOLD:
            raise _TOLD[raised.type_name](raised.message) from None
        raise OSError(f"Work on the rows failed: {raised}") from raised
    except ProcessError as ended:
        raise OSError(f"Work on the rows failed: {ended}") from ended
    return value


def _unheard(_done: float, _total: float | None, _message: str | None) -> None:
    """Nobody is told how far this is."""
