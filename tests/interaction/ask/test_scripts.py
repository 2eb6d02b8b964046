"""Several statements, each a run of its own, one after the other."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from awhile import CancelOutcome
from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import HEAVY, PATIENCE_SECONDS, App

pytestmark = pytest.mark.anyio


async def ended(app: App, script: dict[str, Any]) -> list[dict[str, Any]]:
    """The runs of a script as they are listed, in its order, once all have ended."""
    with anyio.fail_after(PATIENCE_SECONDS):
        for run in script["runs"]:
            handle = await app.server.resume(run["run_id"])
            async for now in handle.watch():
                if now.ended:
                    break
    listed = {run["run_id"]: run for run in (await app.call("list_runs"))["runs"]}
    return [listed[run["run_id"]] for run in script["runs"]]


async def answer_of(app: App, run_id: str) -> dict[str, Any]:
    """What one of its runs came to."""
    return (await (await app.server.resume(run_id)).result()).structured_content or {}


async def test_each_statement_is_a_run_with_an_id_a_result_and_an_ending_of_its_own(
    quick: App,
) -> None:
    """Ours: the ids are known at once, and each statement gets the values it names."""
    script = await quick.call(
        "run_script",
        sql="SELECT ';' AS a; -- one; two\nSELECT count(*) FROM orders WHERE order_id > :from;",
        parameters={"from": 0},
    )
    assert [run["number"] for run in script["runs"]] == [1, 2]
    runs = await ended(quick, script)
    assert [run["outcome"] for run in runs] == ["table", "table"]
    first, second = [await answer_of(quick, run["run_id"]) for run in runs]
    assert first["rows"] == [[";"]]
    assert second["parameters"] == {"from": 0}
    assert runs[0]["ended_at"] <= runs[1]["ended_at"]


async def test_the_first_that_fails_is_the_end_and_the_others_say_so(quick: App) -> None:
    """Ours."""
    sql = "SELECT 1; SELECT CAST('x' AS INTEGER); SELECT 2; SELECT 3"
    runs = await ended(quick, await quick.call("run_script", sql=sql))
    assert [run["outcome"] for run in runs] == ["table", "error", "not_run", "not_run"]
    why = {(await answer_of(quick, run["run_id"]))["not_run"] for run in runs[2:]}
    assert why == {"the statement before it failed"}


async def test_a_stop_ends_the_statement_under_way_and_the_rest(app: App) -> None:
    """Ours."""
    script = await app.call("run_script", sql=f"{HEAVY}; SELECT 1")
    handle = await app.server.resume(script["runs"][0]["run_id"])
    with anyio.fail_after(PATIENCE_SECONDS):
        async for now in handle.watch():
            if now.message == "Running the query":
                break
        assert await handle.cancel() is CancelOutcome.CANCELLED
    runs = await ended(app, script)
    assert [run["status"] for run in runs] == ["cancelled", "completed"]
    answer = await answer_of(app, runs[1]["run_id"])
    assert answer["not_run"] == "the statement before it was stopped"


async def test_nothing_of_a_script_runs_if_one_of_its_statements_may_not(quick: App) -> None:
    """Ours: what can be told before is told before; field case D13."""
    for sql, why in (
        ("SELECT 1; DROP TABLE orders", "statement 2 of 2: refused because of 'DROP'"),
        ("SELECT 1; SELECT 'x", "does not end"),
        (" -- nothing\n", "no statement"),
        ("SELECT 1;" * 21, "21 statements"),
    ):
        with pytest.raises(ToolFailed, match=why):
            await quick.call("run_script", sql=sql)
    with pytest.raises(ToolFailed, match="a value is given for :since"):
        await quick.call("run_script", sql="SELECT 1; SELECT 2", parameters={"since": 1})
    assert (await quick.call("list_runs"))["runs"] == []


async def test_a_script_sent_again_with_its_key_is_the_same_script(quick: App) -> None:
    """Ours: a reply may be lost on the way."""
    sql = "SELECT 1; SELECT 2"
    first = await quick.call("run_script", sql=sql, request_key="k")
    again = await quick.call("run_script", sql=sql, request_key="k")
    assert again == first
    await ended(quick, first)


async def test_a_run_follows_none_that_is_somebody_elses_or_gone(quick: App) -> None:
    """Ours."""
    answer = await quick.call("run_sql", sql="SELECT 1", after="0" * 32)
    assert answer["not_run"].startswith("there is no run")
