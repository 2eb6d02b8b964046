"""One run of a body as operators see it: its span, and the task that log lines are about."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, assert_never

from awhile.runtime.ending import Halted, Raised, Returned
from awhile.telemetry import logs, traces

if TYPE_CHECKING:
    from collections.abc import Generator

    from awhile.runtime.running import Running


@contextmanager
def attempt(running: Running, tool: str, worker: str) -> Generator[None]:
    """The run's span, current while the block runs it; afterwards it says how that ended."""
    about = logs.subject.set(running.run)
    try:
        with traces.attempt(tool, running.record, awhile_worker=worker) as span:
            yield
            if running.record is not None:
                traces.about(span, traces.attributes_of(running.record))
            match running.ending:
                case Returned(is_error=True):
                    traces.failed(span, "tool_error")
                case Raised(error=error, message=words):
                    traces.failed(span, str(error.get("code")), words)
                case Halted(how=how):
                    traces.about(span, {"awhile.stopped.how": how.value})
                case Returned() | None:
                    pass
                case _:
                    assert_never(running.ending)
    finally:
        logs.subject.reset(about)


__all__ = ["attempt"]
