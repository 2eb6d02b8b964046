"""What our servers tell of a run beside both eras' task: progress, steps, facts about stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.tasks import Progress, Step, StoppedHow
from awhile.wire.codec import maybe_instant, maybe_number, whole, without_none, write_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.wire.snapshot import Snapshot

RUN_META = "awhile/run"
"""Our ``_meta`` entry. Source: ours."""

UNOBSERVED_META = "awhile/unobservedSeconds"
"""In the ``_meta`` of a call: how long its work may go on while nobody looks; null: for as long as
it takes. Source: ours."""


def write_run(task: Snapshot) -> dict[str, Any]:
    """The ``_meta`` with what is known of the run; empty if nothing is."""
    at = task.progress
    run = without_none(
        {
            "progress": without_none(
                {
                    "done": at.done,
                    "total": at.total,
                    "message": at.message,
                    "at": write_instant(at.at_ms),
                }
            )
            if at
            else None,
            "steps": [
                {"seq": step.seq, "at": write_instant(step.at_ms), "message": step.message}
                for step in task.steps
            ]
            or None,
            "answerBy": _maybe_write(task.answer_by_ms),
            "cancelAskedAt": _maybe_write(task.cancel_asked_at_ms),
            "stoppedAt": _maybe_write(task.stopped_at_ms),
            "stoppedHow": task.stopped_how.value if task.stopped_how else None,
            "attempt": task.attempt,
            "place": task.place,
            "unobservedMs": task.unobserved_ms,
        }
    )
    return {RUN_META: run} if run else {}


def read_run(meta: Any) -> dict[str, Any]:
    """The members of a `Snapshot` that a ``_meta`` tells; what is unreadable in it is absent."""
    run = mapping(mapping(meta).get(RUN_META))
    how = run.get("stoppedHow")
    return {
        "progress": _read_progress(run.get("progress")),
        "steps": _read_steps(run.get("steps")),
        "answer_by_ms": maybe_instant(run.get("answerBy")),
        "cancel_asked_at_ms": maybe_instant(run.get("cancelAskedAt")),
        "stopped_at_ms": maybe_instant(run.get("stoppedAt")),
        "stopped_how": StoppedHow(how) if isinstance(how, str) and how in set(StoppedHow) else None,
        "attempt": whole(run.get("attempt")),
        "place": whole(run.get("place")),
        "unobserved_ms": whole(run.get("unobservedMs")),
    }


def mapping(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one for anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _read_progress(value: Any) -> Progress | None:
    fields = mapping(value)
    at_ms = maybe_instant(fields.get("at"))
    if at_ms is None:
        return None
    message = fields.get("message")
    return Progress(
        at_ms=at_ms,
        done=maybe_number(fields.get("done")),
        total=maybe_number(fields.get("total")),
        message=message if isinstance(message, str) else None,
    )


def _read_steps(value: Any) -> tuple[Step, ...]:
    if not isinstance(value, list):
        return ()
    steps: list[Step] = []
    for one in cast("list[Any]", value):
        fields = mapping(one)
        seq, at_ms = fields.get("seq"), maybe_instant(fields.get("at"))
        message = fields.get("message")
        if isinstance(seq, int) and at_ms is not None and isinstance(message, str):
            steps.append(Step(seq=seq, at_ms=at_ms, message=message))
    return tuple(steps)


def _maybe_write(at_ms: int | None) -> str | None:
    return None if at_ms is None else write_instant(at_ms)
