"""A call without a task, told as if it were one, so that both are watched alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from awhile.client.clock import wall_clock_ms
from awhile.client.steps import heard, with_step
from awhile.tasks import Progress, Status, Step
from awhile.wire.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.errors import ProtocolFailed


class OpenCall:
    """What is known of a call from its own response stream: progress, and then its end."""

    def __init__(self, *, began_at_ms: int) -> None:
        self.began_at_ms = began_at_ms
        self._progress: Progress | None = None
        self._steps: tuple[Step, ...] = ()

    async def hear(self, progress: float, total: float | None, message: str | None) -> None:
        """One ``notifications/progress``."""
        at_ms = wall_clock_ms()
        self._steps = with_step(self._steps, message, at_ms=at_ms)
        self._progress = heard(progress, total, message, at_ms=at_ms)

    def working(self) -> Snapshot:
        """The call under way."""
        return self._snapshot(Status.WORKING)

    def completed(self, result: Mapping[str, Any]) -> Snapshot:
        """The call answered with a result, which may say that the tool failed."""
        return self._snapshot(Status.COMPLETED, result=result)

    def failed(self, error: ProtocolFailed) -> Snapshot:
        """The call answered with a JSON-RPC error."""
        fields = {"code": error.code, "message": str(error), "data": error.data}
        return self._snapshot(Status.FAILED, error=fields)

    def _snapshot(
        self,
        status: Status,
        *,
        result: Mapping[str, Any] | None = None,
        error: Mapping[str, Any] | None = None,
    ) -> Snapshot:
        return Snapshot(
            task_id="",
            status=status,
            created_at_ms=self.began_at_ms,
            last_updated_at_ms=wall_clock_ms(),
            result=result,
            error=error,
            progress=self._progress,
            steps=self._steps,
        )


__all__ = ["OpenCall"]
