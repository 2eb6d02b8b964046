"""The 2025-11-25 shapes: what is written is read, and other servers are read leniently."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awhile.tasks import Status
from awhile.wire.snapshot import Snapshot
from awhile.wire.v2025_11_25 import (
    IMMEDIATE_RESPONSE,
    RELATED_TASK,
    capability,
    read_task,
    related,
    with_result,
    write_answer,
    write_created,
    write_result,
    write_task,
)
from tests.machine.wire.test_round_trip import (
    OBJECTS,
    VALUES,
    Json,
    over_the_wire,
    snapshots,
    unhurried,
)


def as_shown(task: Snapshot) -> Snapshot:
    """What of a task ``tasks/get`` shows in this era: its payloads travel by ``tasks/result``."""
    said_no = task.status is Status.COMPLETED and (task.result or {}).get("isError") is True
    return replace(
        task,
        status=Status.FAILED if said_no else task.status,
        result=None,
        error=None,
        input_requests={},
    )


@unhurried
@given(snapshots())
def test_a_task_read_is_the_task_that_was_written(task: Snapshot) -> None:
    """Ours: both directions share one shape."""
    assert read_task(over_the_wire(write_answer(task))) == as_shown(task)


@unhurried
@given(snapshots())
def test_a_listed_task_has_the_members_of_the_era_and_no_others(task: Snapshot) -> None:
    """Spec: 2025-11-25, Task; `ttl` is there also when it is null."""
    fields = write_task(task)
    required = {"taskId", "status", "createdAt", "lastUpdatedAt", "ttl"}
    assert required <= fields.keys() <= required | {"statusMessage", "pollInterval"}
    assert read_task(over_the_wire(fields)).task_id == task.task_id


def a_task(**more: object) -> Snapshot:
    """A task that is working."""
    fields: Json = {
        "task_id": "t",
        "status": Status.WORKING,
        "created_at_ms": 0,
        "last_updated_at_ms": 0,
        **more,
    }
    return Snapshot(**fields)


def test_what_nothing_is_known_of_has_no_meta() -> None:
    """Ours."""
    assert "_meta" not in write_answer(a_task())


def test_a_created_task_is_nested_and_may_bring_words_for_the_model() -> None:
    """Spec: 2025-11-25, Creating Tasks."""
    assert write_created(a_task()) == {"task": write_task(a_task())}
    created = write_created(a_task(), immediate_response="It is running.")
    assert created["_meta"] == {IMMEDIATE_RESPONSE: "It is running."}


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        ({"isError": True}, Status.FAILED),
        ({"isError": False}, Status.COMPLETED),
        ({}, Status.COMPLETED),
        (None, Status.COMPLETED),
    ],
)
def test_a_tool_that_says_no_makes_its_task_failed(result: Json | None, shown: Status) -> None:
    """Spec: 2025-11-25, Task Execution Errors."""
    task = a_task(status=Status.COMPLETED, result=result)
    assert write_task(task)["status"] == shown.value


def test_only_who_tells_callers_apart_declares_a_list() -> None:
    """Spec: 2025-11-25, Task Isolation and Access Control."""
    assert capability(lists=True) == {
        "list": {},
        "cancel": {},
        "requests": {"tools": {"call": {}}},
    }
    assert "list" not in capability(lists=False)


@unhurried
@given(OBJECTS, st.none() | OBJECTS)
def test_a_result_is_tied_to_its_task_and_read_without_the_tie(result: Json, meta: Json) -> None:
    """Spec: 2025-11-25, Related Task Metadata: a MUST for `tasks/result`."""
    result = {key: one for key, one in result.items() if key != "_meta"}
    if meta:
        meta.pop(RELATED_TASK, None)
    own: Json = {**result, "_meta": meta} if meta else result
    task = a_task(status=Status.COMPLETED, result=own)
    written = over_the_wire(write_result(task))
    assert written["_meta"].items() >= related("t").items()
    assert with_result(a_task(), written) == task


def test_a_task_without_a_result_yet_writes_an_empty_one() -> None:
    """Ours."""
    assert write_result(a_task()) == {"_meta": related("t")}


BARE: Json = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2025-11-25T10:30:00Z",
    "ttl": None,
}


def test_a_task_of_any_other_server_is_read_too() -> None:
    """Ours: early servers of this era send no `lastUpdatedAt`."""
    task = read_task(BARE)
    assert task.last_updated_at_ms == task.created_at_ms
    later = read_task({**BARE, "lastUpdatedAt": "2025-11-25T10:40:00Z"})
    assert later.last_updated_at_ms == task.created_at_ms + 600_000


@pytest.mark.parametrize("name", ["taskId", "status", "createdAt"])
@pytest.mark.parametrize("value", [None, "", 5, ["x"], {}])
def test_what_a_client_acts_on_has_to_be_right(name: str, value: object) -> None:
    """Ours: an id, a status or an instant that is none is an error, not a guess."""
    with pytest.raises(ValueError, match="not a task of 2025-11-25"):
        read_task({**BARE, name: value})
    with pytest.raises(ValueError, match=name):
        read_task({key: one for key, one in BARE.items() if key != name})


@unhurried
@given(st.sampled_from(["statusMessage", "ttl", "pollInterval", "_meta"]), VALUES)
def test_an_unreadable_optional_member_is_as_good_as_absent(name: str, value: object) -> None:
    """Ours: lenient on the rest."""
    read_task({**BARE, name: value})
