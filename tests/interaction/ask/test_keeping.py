"""What a person says of their runs, and what is told of them later. Source: ours."""

from __future__ import annotations

import pytest

from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import HEAVY, App

pytestmark = pytest.mark.anyio


async def test_a_run_has_a_title_and_a_pin_that_every_client_sees(app: App) -> None:
    run_id = (await app.call("ask", question="how many customers are there"))["run_id"]
    labelled = await app.call("label_run", run_id=run_id, title=" Head count ", pinned=True)
    assert (labelled["title"], labelled["pinned"]) == ("Head count", True)
    labelled = await app.call("label_run", run_id=run_id, stop_when_left=True)
    assert labelled["pinned"]
    (listed,) = (await app.call("list_runs"))["runs"]
    assert (listed["title"], listed["pinned"], listed["stop_when_left"]) == (
        "Head count",
        True,
        True,
    )
    labelled = await app.call("label_run", run_id=run_id, title="")
    assert "title" not in labelled or labelled["title"] is None
    with pytest.raises(ToolFailed, match="no such run"):
        await app.call("label_run", run_id="0" * 32, pinned=True)


async def test_the_history_of_a_run_has_what_it_said_and_what_happened_to_it(app: App) -> None:
    run_id = (await app.call("ask", question="how many customers are there"))["run_id"]
    told = await app.call("run_history", run_id=run_id)
    words = [step["words"] for step in told["steps"]]
    assert words[0].startswith("Asked")
    assert "Understanding the question" in words
    assert words[-1] == "Finished"
    assert told["earlier"] == 0
    assert {step["words"]: step["said"] for step in told["steps"]}["Understanding the question"]


async def test_what_is_pinned_is_kept_for_good_and_what_is_deleted_goes_with_its_result(
    app: App,
) -> None:
    question = "how many customers are there"
    pinned, deleted = [(await app.call("ask", question=question))["run_id"] for _ in range(2)]
    await app.call("label_run", run_id=pinned, pinned=True)
    record = await app.tasks.store.get(pinned)
    assert record is not None
    assert record.expires_at_ms is None
    assert (await app.call("delete_run", run_id=deleted))["run_id"] == deleted
    assert [run["run_id"] for run in (await app.call("list_runs"))["runs"]] == [pinned]
    with pytest.raises(ToolFailed, match="deleted"):
        await app.call("result_rows", run_id=deleted)
    with pytest.raises(ToolFailed, match="no such run"):
        await app.call("delete_run", run_id=deleted)
    gone = await app.tasks.store.get(deleted)
    assert gone is None or gone.ttl_ms is not None
    await app.call("label_run", run_id=pinned, pinned=False)
    record = await app.tasks.store.get(pinned)
    assert record is not None
    assert record.expires_at_ms is not None


async def test_what_still_runs_is_stopped_before_it_is_deleted(app: App) -> None:
    handle = await app.start("run_sql", sql=HEAVY)
    assert handle.id is not None
    with pytest.raises(ToolFailed, match="Stop it first"):
        await app.call("delete_run", run_id=handle.id)
    await handle.cancel()
    await app.call("delete_run", run_id=handle.id)


async def test_two_runs_of_a_question_are_compared(app: App) -> None:
    sql = "SELECT 'a' AS k, {n} AS n"
    runs = [(await app.call("run_sql", sql=sql.format(n=n)))["run_id"] for n in (1, 3)]
    found = await app.call("result_changes", run_id=runs[1], earlier_run_id=runs[0])
    assert (found["changed"], found["rows"][0]["differences"]) == (1, [None, "+2"])
    other = (await app.call("run_sql", sql="SELECT 1 AS other"))["run_id"]
    with pytest.raises(ToolFailed, match="cannot be compared"):
        await app.call("result_changes", run_id=other, earlier_run_id=runs[0])
