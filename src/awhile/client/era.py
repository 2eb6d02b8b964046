"""What each protocol era calls the requests about a task. A missing era has no tasks.

Sources: ext-tasks ``specification/draft/tasks.md`` for 2026-07-28; ``basic/utilities/tasks`` for
2025-11-25. An era that lacks something has None there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from mcp_types import INVALID_PARAMS, Request, ServerCapabilities

from awhile.wire import v2025_11_25, v2026_07_28

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from awhile.wire.snapshot import Snapshot

AnyRequest = Request[Any, Any]
Fields = dict[str, Any]

KEEP_MS = 7 * 24 * 60 * 60 * 1000
"""How long a 2025-11-25 server is asked to keep a task: 7 days from its creation (source: ours).

Without it, servers take their own default: 60 s in the TypeScript SDK's example, which the work
itself may outlive. Well below 2**31 ms, beyond which a JavaScript timer fires at once.
"""


class CallTool(Request[Fields, Literal["tools/call"]]):
    """``tools/call``; its parameters stay plain, so null arguments reach the server as null."""

    method: Literal["tools/call"] = "tools/call"


class Listen(Request[Fields, Literal["subscriptions/listen"]]):
    """``subscriptions/listen``, for tasks."""

    method: Literal["subscriptions/listen"] = "subscriptions/listen"


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


class TaskResult(Request[Fields, Literal["tasks/result"]]):
    """``tasks/result``: waits for the end; meanwhile the server asks on its response stream."""

    method: Literal["tasks/result"] = "tasks/result"


class ListTasks(Request[Fields, Literal["tasks/list"]]):
    """``tasks/list``: one page of the caller's tasks."""

    method: Literal["tasks/list"] = "tasks/list"


def _get(task_id: str) -> AnyRequest:
    return GetTask(params={"taskId": task_id})


def _update(task_id: str, responses: Mapping[str, Any]) -> AnyRequest:
    return UpdateTask(params={"taskId": task_id, "inputResponses": dict(responses)})


def _cancel(task_id: str) -> AnyRequest:
    return CancelTask(params={"taskId": task_id})


def _listen(task_ids: Sequence[str]) -> AnyRequest:
    return Listen(params={"notifications": {"taskIds": list(task_ids)}})


def _result(task_id: str) -> AnyRequest:
    return TaskResult(params={"taskId": task_id})


def _list(cursor: str | None) -> AnyRequest:
    return ListTasks(params={} if cursor is None else {"cursor": cursor})


def _has_extension(capabilities: ServerCapabilities) -> bool:
    return v2026_07_28.EXTENSION_ID in (capabilities.extensions or {})


def _has_task_calls(capabilities: ServerCapabilities) -> bool:
    tasks = capabilities.tasks
    requests = tasks.requests if tasks else None
    return requests is not None and requests.tools is not None and requests.tools.call is not None


def _created_flat(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return result if result.get("resultType") == "task" else None


def _created_nested(result: Mapping[str, Any]) -> Mapping[str, Any] | None:
    task = result.get("task")
    return cast("Mapping[str, Any]", task) if isinstance(task, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Era:
    """How to speak of tasks in one era, as data."""

    version: str
    served: Callable[[ServerCapabilities], bool]
    """Whether a server's capabilities say that calls can become tasks."""
    augment: Mapping[str, Any] | None
    """What a call carries in order to become a task; None where the server decides by itself."""
    created: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
    """The task in the result of a call; None if that is the call's own result."""
    get: Callable[[str], AnyRequest]
    cancel: Callable[[str], AnyRequest]
    update: Callable[[str, Mapping[str, Any]], AnyRequest] | None
    """Answers questions; None where they are asked and answered on the stream of `result`."""
    result: Callable[[str], AnyRequest] | None
    """Waits for the result; None where a task carries its own."""
    list: Callable[[str | None], AnyRequest] | None
    """A page of the caller's tasks."""
    listen: Callable[[Sequence[str]], AnyRequest] | None
    """Asks for pushes."""
    read: Callable[[Mapping[str, Any]], Snapshot]
    """Raises ValueError for something that is not a task."""
    gone: int
    """The JSON-RPC code for a task that is not (or no longer) kept for us."""
    cancel_proves_nothing: bool
    """Whether a cancel has to be answered "cancelled" at once, whatever the work is doing."""


_V2026_07_28 = Era(
    version=v2026_07_28.PROTOCOL_VERSION,
    served=_has_extension,
    augment=None,
    created=_created_flat,
    get=_get,
    cancel=_cancel,
    update=_update,
    result=None,
    list=None,
    listen=_listen,
    read=v2026_07_28.read_task,
    gone=INVALID_PARAMS,
    cancel_proves_nothing=False,
)

_V2025_11_25 = Era(
    version=v2025_11_25.PROTOCOL_VERSION,
    served=_has_task_calls,
    augment={"task": {"ttl": KEEP_MS}},
    created=_created_nested,
    get=_get,
    cancel=_cancel,
    update=None,
    result=_result,
    list=_list,
    listen=None,
    read=v2025_11_25.read_task,
    gone=INVALID_PARAMS,
    cancel_proves_nothing=True,
)

ERAS: Mapping[str, Era] = {era.version: era for era in (_V2026_07_28, _V2025_11_25)}
"""By negotiated protocol version."""

__all__ = ["ERAS", "AnyRequest", "CallTool", "Era"]
