"""What each protocol era calls the requests about a task. A missing era has no tasks for us yet.

Source: ext-tasks ``specification/draft/tasks.md`` for 2026-07-28.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcp_types import INVALID_PARAMS, Request

from awhile.wire import v2026_07_28

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from awhile.wire.snapshot import Snapshot

AnyRequest = Request[Any, Any]
Fields = dict[str, Any]


class CallTool(Request[Fields, Literal["tools/call"]]):
    """``tools/call``; its parameters stay plain, so null arguments reach the server as null."""

    method: Literal["tools/call"] = "tools/call"


class GetTask(Request[Fields, Literal["tasks/get"]]):
    """``tasks/get``. The SDK's own class sends no ``Mcp-Name``, which the extension demands."""

    method: Literal["tasks/get"] = "tasks/get"
    name_param = "taskId"


class UpdateTask(Request[Fields, Literal["tasks/update"]]):
    """``tasks/update``: answers to questions the task asked."""

    method: Literal["tasks/update"] = "tasks/update"
    name_param = "taskId"


class CancelTask(Request[Fields, Literal["tasks/cancel"]]):
    """``tasks/cancel``: asks for the work to be stopped."""

    method: Literal["tasks/cancel"] = "tasks/cancel"
    name_param = "taskId"


def _get(task_id: str) -> AnyRequest:
    return GetTask(params={"taskId": task_id})


def _update(task_id: str, responses: Mapping[str, Any]) -> AnyRequest:
    return UpdateTask(params={"taskId": task_id, "inputResponses": dict(responses)})


def _cancel(task_id: str) -> AnyRequest:
    return CancelTask(params={"taskId": task_id})


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """How to ask about tasks in one era, as data."""

    extension: str
    """The server says under this name, in its capabilities' ``extensions``, that it has tasks."""
    created: str
    """The ``resultType`` of a call that became a task."""
    get: Callable[[str], AnyRequest]
    update: Callable[[str, Mapping[str, Any]], AnyRequest]
    cancel: Callable[[str], AnyRequest]
    read: Callable[[Mapping[str, Any]], Snapshot]
    """Raises ValueError for something that is not a task."""
    gone: int
    """The JSON-RPC code for a task that is not (or no longer) kept for us."""


ERAS: Mapping[str, Era] = {
    v2026_07_28.PROTOCOL_VERSION: Era(
        extension=v2026_07_28.EXTENSION_ID,
        created="task",
        get=_get,
        update=_update,
        cancel=_cancel,
        read=v2026_07_28.read_task,
        gone=INVALID_PARAMS,
    ),
}
"""By negotiated protocol version."""

__all__ = ["ERAS", "CallTool", "Era"]
