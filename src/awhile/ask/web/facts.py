"""From what the server tells of a run to what the page is shown. Pure."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from mcp_types import CallToolResult

from awhile.ask.web.board import Clocks, Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.client import Now


def read_run(listed: Mapping[str, Any], known: Run | None) -> Run:
    """One entry of ``list_runs``; what only a watch tells is kept from ``known``."""
    asked, ended = listed.get("cancel_asked_at"), listed.get("ended_at")
    status = str(listed["status"])
    fresh = Run(
        id=str(listed["run_id"]),
        tool=str(listed["tool"]),
        question=listed.get("question"),
        sql=listed.get("sql"),
        parameters=listed.get("parameters"),
        reading=listed.get("reading"),
        status=status,
        is_error=bool(listed.get("is_error")),
        outcome=listed.get("outcome"),
        message=listed.get("status_message"),
        created_at=listed.get("created_at"),
        ended_at=ended,
        cancel_asked_at=asked,
        stopped_how=listed.get("stopped_how"),
        stopped_after_seconds=between(asked, ended) if status == "cancelled" else None,
        attempt=1 if (attempt := listed.get("attempt")) is None else int(attempt),
        answers=tuple(listed.get("answers") or ()),
        title=listed.get("title"),
        pinned=bool(listed.get("pinned")),
        stop_when_left=bool(listed.get("stop_when_left")),
        follows=listed.get("follows"),
        result_name=listed.get("result_name"),
        unobserved_seconds=listed.get("unobserved_seconds"),
    )
    if known is None or not fresh.live:
        return fresh
    # The watch is closer to the work than the list, and the only one that knows how far it is.
    message = known.message if known.live and known.message else fresh.message
    return replace(
        fresh,
        message=message,
        percent=known.percent,
        row_count=known.row_count,
        inputs=known.inputs if status == "input_required" else (),
    )


def with_progress(run: Run, now: Now) -> Run:
    """The same run with what its watch says about the work under way."""
    if now.ended or not run.live:
        return run
    # Our tools count rows while they fetch them; there is no total then, and no percentage.
    rows = int(now.done) if now.done is not None and now.total is None else None
    return replace(
        run,
        message=now.message or run.message,
        percent=now.percent,
        row_count=rows,
        inputs=tuple(_asked(key, request) for key, request in now.inputs.items()),
    )


def _asked(key: str, request: Any) -> dict[str, Any]:
    """One question of the work, as the page's card has it."""
    params = cast("Mapping[str, Any]", cast("Mapping[str, Any]", request).get("params") or {})
    return {
        "key": key,
        "message": str(params.get("message") or ""),
        "schema": params.get("requestedSchema"),
        "url": params.get("url"),
    }


def clocks_of(listed: Mapping[str, Any], *, at: float, wall: datetime) -> Clocks:
    """How long the run took, or has taken; ``wall`` is now, and ``at`` the same on the board."""
    created, ended = listed.get("created_at"), listed.get("ended_at")
    elapsed = between(created, ended) if ended else since(created, wall)
    asked = listed.get("cancel_asked_at")
    return Clocks(
        at=at,
        elapsed_seconds=elapsed or 0.0,
        cancel_asked_seconds=since(asked, wall) if asked and not ended else None,
        news_seconds=since(listed.get("updated_at"), wall) or 0.0,
    )


def between(earlier: str | None, later: str | None) -> float | None:
    """Seconds from one ISO 8601 instant to another; None where one is missing."""
    if earlier is None or later is None:
        return None
    return since(earlier, datetime.fromisoformat(later))


def since(instant: str | None, wall: datetime) -> float | None:
    """Seconds from an ISO 8601 instant to ``wall``, never below 0; None for None."""
    if instant is None:
        return None
    return max(0.0, (wall - datetime.fromisoformat(instant)).total_seconds())


def structured(result: CallToolResult | Mapping[str, Any]) -> dict[str, Any]:
    """The structured content of a tool's result; empty where it has none."""
    if isinstance(result, CallToolResult):
        return dict(result.structured_content or {})
    return dict(result.get("structuredContent") or {})


def text_of(result: Mapping[str, Any]) -> str:
    """The text blocks of a tool's result."""
    blocks = cast("list[dict[str, Any]]", result.get("content") or [])
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")


__all__ = [
    "between",
    "clocks_of",
    "read_run",
    "since",
    "structured",
    "text_of",
    "with_progress",
]
