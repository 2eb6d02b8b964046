"""Tasks of the 2025-11-25 era, both directions.

Source: modelcontextprotocol/modelcontextprotocol, ``2025-11-25/basic/utilities/tasks``. Where this
era differs in meaning and not only in names: a tool that itself says no makes its task ``failed``,
and results travel by ``tasks/result`` alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from awhile.tasks import Status
from awhile.wire.members import Names, read_members, write_members
from awhile.wire.run import mapping, write_run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.wire.snapshot import Snapshot

PROTOCOL_VERSION = "2025-11-25"

_NAMES = Names(task=f"a task of {PROTOCOL_VERSION}", ttl="ttl", poll_interval="pollInterval")

RELATED_TASK = "io.modelcontextprotocol/related-task"
"""The ``_meta`` key that ties a message to its task."""

IMMEDIATE_RESPONSE = "io.modelcontextprotocol/model-immediate-response"
"""The ``_meta`` key of a text for hosts that hand control back to their model meanwhile."""


def capability(*, lists: bool) -> dict[str, Any]:
    """``capabilities.tasks``. ``lists``: whether the server can tell its callers apart, as one that
    lists tasks has to."""
    listing: dict[str, Any] = {"list": {}} if lists else {}
    return {**listing, "cancel": {}, "requests": {"tools": {"call": {}}}}


def write_created(task: Snapshot, *, immediate_response: str | None = None) -> dict[str, Any]:
    """``CreateTaskResult``: the task nested under ``task``."""
    fields: dict[str, Any] = {"task": write_task(task)}
    if immediate_response is not None:
        fields["_meta"] = {IMMEDIATE_RESPONSE: immediate_response}
    return fields


def write_task(task: Snapshot) -> dict[str, Any]:
    """``Task``, as ``tasks/list`` and the notification carry it."""
    return write_members(task, _NAMES, status=_status(task))


def write_answer(task: Snapshot) -> dict[str, Any]:
    """The result of ``tasks/get`` and ``tasks/cancel``: the task, and beside it what we know."""
    meta = write_run(task)
    return {**write_task(task), **({"_meta": meta} if meta else {})}


def write_result(task: Snapshot) -> dict[str, Any]:
    """A finished task's own result, tied to it, as ``tasks/result`` returns it."""
    result = dict(task.result or {})
    result["_meta"] = {**mapping(result.get("_meta")), **related(task.task_id)}
    return result


def related(task_id: str) -> dict[str, Any]:
    """The ``_meta`` that ties a message to a task."""
    return {RELATED_TASK: {"taskId": task_id}}


def read_task(fields: Mapping[str, Any]) -> Snapshot:
    """A task from ``tasks/get``, ``tasks/list``, ``tasks/cancel`` or the notification.

    Raises:
        ValueError: the id, the status or an instant is missing or not what the era says.
    """
    # Not every server says when a task last changed.
    return read_members({"lastUpdatedAt": fields.get("createdAt"), **fields}, _NAMES)


def with_result(task: Snapshot, result: Mapping[str, Any]) -> Snapshot:
    """The task together with what ``tasks/result`` returned.

    A result that says no came to its end all the same: over both eras such a task is `completed`
    with ``isError``, so that one rule shows it.
    """
    meta = {key: one for key, one in mapping(result.get("_meta")).items() if key != RELATED_TASK}
    own = {key: one for key, one in result.items() if key != "_meta"}
    return replace(task, status=Status.COMPLETED, result={**own, "_meta": meta} if meta else own)


def _status(task: Snapshot) -> Status:
    said_no = task.status is Status.COMPLETED and (task.result or {}).get("isError") is True
    return Status.FAILED if said_no else task.status
