"""What happened to a run, step by step, from the store's own history."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, cast

from awhile.ask.mcp_server.model import HistoryModel, StepModel
from awhile.wire.codec import write_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.stores.contract import Kept, TaskStore

MOST_STEPS = 1000
"""How many steps are told at most: the last ones (source: ours)."""

_AT_ONCE = 1000
"""How many events are read from the store at once."""

_PLAIN = {
    "Released": "Handed back by its worker",
    "InputWithdrawn": "The question was withdrawn",
    "CancelAsked": "Stop requested",
    "Stopped": "Stopped",
    "StopConfirmed": "Known to have stopped",
    "GaveUp": "Not stopped in time",
    "WorkerLost": "The process that ran it is gone",
    "ToolGone": "No worker knows its tool",
    "TakenBack": "Taken back from its worker",
    "Completed": "Finished",
    "Failed": "Failed",
}


async def history(store: TaskStore, run_id: str, *, most: int = MOST_STEPS) -> HistoryModel:
    """The last ``most`` steps of a run, oldest first, and how many came before them."""
    kept: deque[StepModel] = deque(maxlen=most)
    told, after, begun = 0, 0, False
    while events := await store.history(run_id, after_seq=after, limit=_AT_ONCE):
        for event in events:
            steps = _steps(event, begun=begun)
            begun = begun or bool(event.fields.get("worker"))
            told += len(steps)
            kept.extend(steps)
        after = events[-1].seq
    return HistoryModel(steps=list(kept), earlier=told - len(kept))


def _steps(event: Kept, *, begun: bool) -> list[StepModel]:
    fields = event.fields
    match event.kind:
        case "Created":
            said = [
                _step(int(at_ms), str(message), said=True)
                for _seq, at_ms, message in cast("list[list[Any]]", fields.get("steps") or [])
            ]
            asked = "Asked, and started" if fields.get("worker") else "Asked"
            return [_step(event.at_ms, asked), *said]
        case "Claimed":
            return [_step(event.at_ms, "Started again" if begun else "Started")]
        case "Reported":
            return [_step(event.at_ms, str(fields.get("message") or ""), said=True)]
        case "InputAsked":
            return [_step(event.at_ms, f"Asked you: {_question(fields.get('request'))}")]
        case "InputAnswered":
            responses = cast("dict[str, Any]", fields.get("responses") or {})
            return [_step(event.at_ms, f"Answered: {_answer(one)}") for one in responses.values()]
        case kind if kind in _PLAIN:
            return [_step(event.at_ms, _PLAIN[kind])]
        case _:
            return []  # a lease or a note of the journal: nobody's news


def _step(at_ms: int, words: str, *, said: bool = False) -> StepModel:
    return StepModel(at=write_instant(at_ms), words=words, said=said)


def _question(request: Any) -> str:
    params = cast("Mapping[str, Any]", _part(request, "params") or {})
    return str(params.get("message") or "a question")


def _answer(response: Any) -> str:
    action = _part(response, "action")
    if action != "accept":
        return "declined" if action == "decline" else "left open"
    content = cast("Mapping[str, Any]", _part(response, "content") or {})
    return ", ".join(str(value) for value in content.values()) or "yes"


def _part(value: Any, name: str) -> Any:
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else None


__all__ = ["MOST_STEPS", "history"]
