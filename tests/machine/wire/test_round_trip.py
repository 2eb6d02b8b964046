"""The wire's two directions undo each other, and reading is strict only where it has to be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awhile.tasks import Input, Lease, Progress, Status, Step, StoppedHow, new_record
from awhile.wire.codec import maybe_instant, maybe_number, read_instant, write_instant
from awhile.wire.snapshot import Snapshot, snapshot_of
from awhile.wire.v2026_07_28 import read_task, write_created, write_detailed, write_task

Json = dict[str, Any]

unhurried = settings(deadline=None)
"""How long one example takes on a busy machine says nothing."""

INSTANTS = st.integers(0, 253_402_300_799_999)  # to the end of the year 9999
NUMBERS = st.floats(0, 1e300) | st.integers(0, 2**63)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.text(max_size=8), VALUES, max_size=3)


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """Any task that a server may show."""
    status = draw(st.sampled_from(Status))
    return Snapshot(
        task_id=draw(st.text(min_size=1, max_size=40)),
        status=status,
        status_message=draw(st.none() | st.text(max_size=20)),
        created_at_ms=draw(INSTANTS),
        last_updated_at_ms=draw(INSTANTS),
        ttl_ms=draw(st.none() | st.integers(0, 2**53)),
        poll_interval_ms=draw(st.none() | st.integers(0, 2**53)),
        result=draw(OBJECTS) if status is Status.COMPLETED else None,
        error=draw(OBJECTS) if status is Status.FAILED else None,
        input_requests=draw(st.dictionaries(st.text(max_size=8), OBJECTS, max_size=3))
        if status is Status.INPUT_REQUIRED
        else {},
        progress=draw(st.none() | progresses()),
        steps=tuple(draw(st.lists(steps(), max_size=3))),
        cancel_asked_at_ms=draw(st.none() | INSTANTS),
        stopped_at_ms=draw(st.none() | INSTANTS),
        stopped_how=draw(st.none() | st.sampled_from(StoppedHow)),
        attempt=draw(st.none() | st.integers(0, 100)),
    )


def progresses() -> st.SearchStrategy[Progress]:
    return st.builds(
        Progress,
        at_ms=INSTANTS,
        done=st.none() | NUMBERS,
        total=st.none() | NUMBERS,
        message=st.none() | st.text(max_size=10),
    )


def steps() -> st.SearchStrategy[Step]:
    return st.builds(Step, seq=st.integers(1, 10**6), at_ms=INSTANTS, message=st.text(max_size=10))


def over_the_wire(fields: Json) -> Json:
    """The same fields as the other side parses them."""
    return json.loads(json.dumps(fields, allow_nan=False))


@unhurried
@given(snapshots())
def test_a_task_read_is_the_task_that_was_written(task: Snapshot) -> None:
    """Ours: both directions share one shape."""
    assert read_task(over_the_wire(write_task(task))) == task
    assert read_task(over_the_wire(write_detailed(task))) == task


@unhurried
@given(snapshots())
def test_a_created_task_never_carries_what_only_an_answer_may(task: Snapshot) -> None:
    """Spec: ext-tasks, Task Creation: flat, `resultType` "task"."""
    fields = write_created(task)
    assert fields["resultType"] == "task"
    assert fields.keys().isdisjoint({"result", "error", "inputRequests"})
    assert "ttlMs" in fields
    read = read_task(over_the_wire(fields))
    bare: Json = {"result": None, "error": None, "input_requests": {}}
    if task.status is Status.COMPLETED:
        bare["result"] = {}
    elif task.status is Status.FAILED:
        bare["error"] = {}
    assert read == replace(task, **bare)


@unhurried
@given(snapshots())
def test_only_the_payload_of_its_status_is_written(task: Snapshot) -> None:
    """Spec: ext-tasks, Task Status: result, error and inputRequests each have one status."""
    payloads = {
        Status.COMPLETED: {"result"},
        Status.FAILED: {"error"},
        Status.INPUT_REQUIRED: {"inputRequests"},
    }
    written = write_task(task).keys() & {"result", "error", "inputRequests"}
    assert written == payloads.get(task.status, set())
    assert write_task(task)["resultType"] == "complete"


BARE: Json = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2026-11-29T12:00:00Z",
    "lastUpdatedAt": "2026-11-29T13:00:00+01:00",
    "ttlMs": None,
}


def test_a_task_of_any_other_server_is_read_too() -> None:
    """Spec: ext-tasks: the required members are enough."""
    task = read_task(BARE)
    assert task.created_at_ms == task.last_updated_at_ms == 1_795_953_600_000
    assert task == Snapshot(
        task_id="t",
        status=Status.WORKING,
        created_at_ms=task.created_at_ms,
        last_updated_at_ms=task.last_updated_at_ms,
    )


@pytest.mark.parametrize("name", ["taskId", "status", "createdAt", "lastUpdatedAt"])
@pytest.mark.parametrize("value", [None, "", 5, ["x"], {}, "no such word"])
def test_what_a_client_acts_on_has_to_be_right(name: str, value: object) -> None:
    """Ours: an id, a status or an instant that is none is an error, not a guess."""
    if name == "taskId" and value == "no such word":
        return
    with pytest.raises(ValueError, match=r"not a task of the 'io.modelcontextprotocol/tasks'"):
        read_task({**BARE, name: value})


@pytest.mark.parametrize("name", ["taskId", "status", "createdAt", "lastUpdatedAt"])
def test_what_a_client_acts_on_has_to_be_there(name: str) -> None:
    """Ours."""
    with pytest.raises(ValueError, match=name):
        read_task({key: value for key, value in BARE.items() if key != name})


OPTIONAL = ["statusMessage", "ttlMs", "pollIntervalMs", "result", "error", "inputRequests", "_meta"]
FACTS = ["progress", "steps", "cancelAskedAt", "stoppedAt", "stoppedHow", "attempt"]
AT = {"at": "2026-11-29T12:00:00Z"}


@unhurried
@given(st.sampled_from(OPTIONAL), st.sampled_from(Status), VALUES)
def test_an_unreadable_optional_member_is_as_good_as_absent(
    name: str, status: Status, value: object
) -> None:
    """Ours: lenient on the rest."""
    read_task({**BARE, "status": status.value, name: value})


@unhurried
@given(st.dictionaries(st.sampled_from(FACTS), VALUES))
def test_an_unreadable_fact_is_as_good_as_absent(facts: Json) -> None:
    """Ours."""
    read_task({**BARE, "_meta": {"awhile/run": facts}})


@unhurried
@given(
    st.dictionaries(st.sampled_from(["done", "total", "message", "at"]), VALUES),
    st.dictionaries(st.sampled_from(["seq", "at", "message"]), VALUES),
)
def test_an_unreadable_step_is_left_out(progress: Json, step: Json) -> None:
    """Ours."""
    whole = {**AT, "seq": 1, "message": "begun"}
    facts = {"progress": {**AT, **progress}, "steps": [step, whole, "no step"]}
    task = read_task({**BARE, "_meta": {"awhile/run": facts}})
    assert task.steps[-1] == Step(seq=1, at_ms=1_795_953_600_000, message="begun")


@pytest.mark.parametrize("how", ["proven by an oracle", ["process_ended"], 7, None])
def test_a_proof_of_stopping_that_is_not_known_is_none(how: object) -> None:
    """Ours: a newer server may know more ways."""
    assert read_task({**BARE, "_meta": {"awhile/run": {"stoppedHow": how}}}).stopped_how is None


@pytest.mark.parametrize(
    ("value", "read"), [(1500, 1500), (1500.9, 1500), (-1, None), (True, None), ("1500", None)]
)
def test_an_interval_is_whole_milliseconds_or_unknown(value: object, read: int | None) -> None:
    """Spec: ext-tasks: integer milliseconds; other servers send fractions."""
    assert read_task({**BARE, "pollIntervalMs": value}).poll_interval_ms == read


@unhurried
@given(INSTANTS)
def test_an_instant_survives_to_the_millisecond(at_ms: int) -> None:
    """Spec: ext-tasks: ISO 8601. Ours: always UTC, always three digits."""
    text = write_instant(at_ms)
    assert text.endswith("Z")
    assert len(text) == len("2026-11-29T12:00:00.000Z")
    assert read_instant(text) == at_ms


def test_an_instant_without_a_zone_is_taken_as_utc() -> None:
    """Ours: known of other servers."""
    assert read_instant("2026-11-29T12:00:00") == read_instant("2026-11-29T12:00:00Z")


@pytest.mark.parametrize("value", [None, 5, "yesterday", "", True, ["2026-11-29"]])
def test_what_is_no_instant_may_be_none(value: object) -> None:
    """Ours."""
    assert maybe_instant(value) is None


@pytest.mark.parametrize(
    "value",
    [None, True, "5", float("nan"), float("inf"), float("-inf"), pytest.param(10**400, id="huge")],
)
def test_what_is_no_finite_number_may_be_none(value: object) -> None:
    """Ours: a whole number beyond any float, too."""
    assert maybe_number(value) is None


def test_a_snapshot_shows_nothing_that_is_not_the_clients_business() -> None:
    """Ours: owner, arguments, lease, request key and past answers stay inside."""
    record = new_record(
        task_id="t",
        owner="the-owner",
        tool="the-tool",
        arguments={"secret": "the-argument"},
        at_ms=1000,
        request_key="the-key",
        context={"secret": "the-context"},
        lease=Lease(worker="the-worker", until_ms=2000),
    )
    record = replace(
        record,
        status=Status.INPUT_REQUIRED,
        inputs={
            "open": Input(request={"method": "x"}, asked_at_ms=1000),
            "past": Input(
                request={"method": "y"},
                asked_at_ms=1000,
                response="the-answer",
                closed_at_ms=1500,
            ),
        },
    )
    fields = write_task(snapshot_of(record, poll_interval_ms=250))
    text = json.dumps(fields)
    for inside in ("owner", "tool", "argument", "key", "context", "worker", "answer"):
        assert f"the-{inside}" not in text
    assert fields["inputRequests"] == {"open": {"method": "x"}}
    assert fields["pollIntervalMs"] == 250
    assert fields["ttlMs"] is None
