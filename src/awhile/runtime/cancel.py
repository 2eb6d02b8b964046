"""The ladder from "stop was asked" to "the work has stopped".

First the cancel scopes of the body (they end a coroutine, and through it a child process),
then the body's own `Run.on_cancel` hooks (an engine's interrupt, an external job's cancel). Both
only *ask*: that the work has stopped is known when the body has ended, and how that is known is
what was proven on the way.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, cast

import anyio
import anyio.to_thread

from awhile.tasks import StoppedHow
from awhile.telemetry.logs import task_logger

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from awhile.runtime.run import Run

logger = task_logger(__name__)

PROOF_SECONDS = 2.0
"""How long a hook that is still confirming may go on after the body itself has ended."""


async def climb(run: Run) -> None:
    """Stop a body whose stop was asked; returns when it has ended and its hooks are through."""
    run.ask_to_stop()
    seen = called = 0
    # Threads of its own: the default limiter may be full of the very bodies to be stopped.
    threads = anyio.CapacityLimiter(8)
    async with anyio.create_task_group() as hooks:
        while not run.ended:
            for scope in run.scopes:
                scope.cancel(reason="stop asked")
            for hook in run.hooks[called:]:
                called += 1
                hooks.start_soon(_call, hook, run, threads)
            seen = await run.stop_bell.wait(seen)
        hooks.cancel_scope.deadline = anyio.current_time() + PROOF_SECONDS


async def _call(
    hook: Callable[[], Awaitable[object] | object], run: Run, threads: anyio.CapacityLimiter
) -> None:
    try:
        if inspect.iscoroutinefunction(hook):
            proof = await hook()
        else:
            proof = await anyio.to_thread.run_sync(hook, abandon_on_cancel=True, limiter=threads)
            if inspect.isawaitable(proof):
                proof = await cast("Awaitable[object]", proof)
    except anyio.get_cancelled_exc_class():
        raise
    except BaseException:
        # A hook that fails must not keep the others from running; whether the work stopped is
        # learned from the body itself.
        logger.exception("An on_cancel hook failed; the work is still being stopped without it.")
        return
    if isinstance(proof, StoppedHow):
        run.confirm_stopped(proof)
