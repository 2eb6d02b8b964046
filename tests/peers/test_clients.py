"""Clients that this project did not write, on a server of ours, in the eras they speak."""

from __future__ import annotations

import pytest

from checks import clients

pytestmark = pytest.mark.peers

Json = clients.Json

ERAS = pytest.mark.parametrize("era", ["legacy", "modern"])
RELATED = "io.modelcontextprotocol/related-task"


# --- the Python SDK 1.30.0 ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(url: str) -> Json:
    """What the experimental client of `mcp` 1.30.0 saw."""
    return clients.mcp_1_30(url)


def test_mcp_1_30_reads_what_is_declared(seen: Json) -> None:
    """Spec: 2025-11-25, capabilities and `execution`."""
    assert seen["initialized"]["capabilities"]["tasks"] == {
        "list": {},
        "cancel": {},
        "requests": {"tools": {"call": {}}},
    }
    assert seen["support"].items() >= {("long_job", "optional"), ("strict", "required")}


def test_mcp_1_30_polls_a_task_to_its_result(seen: Json) -> None:
    """Spec: 2025-11-25, the basic life of a task, asked for in the interval we give."""
    assert seen["created"]["task"]["status"] == "working"
    assert seen["created"]["task"]["ttl"] == 90_000
    words = list(dict.fromkeys(one["statusMessage"] for one in seen["polled"]))
    steps = [one for one in words if one.startswith("step")]
    assert steps  # a machine under load may miss one, and shows none out of turn
    assert steps == [one for one in ("step 1/3", "step 2/3", "step 3/3") if one in steps]
    assert seen["polled"][-1]["status"] == "completed"
    assert seen["result"]["content"][0]["text"] == "3 steps done"
    task_id = seen["created"]["task"]["taskId"]
    assert seen["result"]["_meta"][RELATED] == {"taskId": task_id}


def test_A15_mcp_1_30_is_asked_by_tasks_result(seen: Json) -> None:
    """Ours: field case A15."""
    assert seen["asked_result"]["content"][0]["text"] == "asked sales"
    assert seen["asked"][0]["message"] == "Which database: sales or stock?"
    assert RELATED in seen["asked"][0]["_meta"]


def test_mcp_1_30_cancels_and_is_told_what_cannot_be(seen: Json) -> None:
    """Spec: 2025-11-25, Task Cancellation and Protocol Errors."""
    assert seen["cancelled"]["status"] == "cancelled"
    assert seen["cancelled_again"]["code"] == -32602
    assert seen["unknown"]["code"] == -32602
    assert seen["not_as_task"]["code"] == -32601


def test_mcp_1_30_reads_both_kinds_of_failure(seen: Json) -> None:
    """Spec: 2025-11-25, Task Execution Errors."""
    assert seen["says_no_task"]["status"] == "failed"
    assert seen["says_no"]["isError"] is True
    assert "no such table: sales" in seen["says_no"]["content"][0]["text"]
    assert seen["breaks"] == {"code": -32050, "message": "the engine is down"}


def test_mcp_1_30_lists_its_tasks_and_hears_news_of_them(seen: Json) -> None:
    """Spec: 2025-11-25, Task Listing and Task Status Notification."""
    assert seen["listed"] == seen["made"]
    statuses = {
        (one["params"]["taskId"], one["params"]["status"])
        for one in seen["news"]
        if one["method"] == "notifications/tasks/status"
    }
    assert (seen["created"]["task"]["taskId"], "completed") in statuses


def test_mcp_1_30_sees_the_progress_of_a_plain_call(seen: Json) -> None:
    """Spec: progress."""
    assert seen["plain"]["content"][0]["text"] == "2 steps done"
    assert seen["progress"] == [[1.0, 2.0, "step 1/2"], [2.0, 2.0, "step 2/2"]]


# --- the TypeScript Tasks client ----------------------------------------------------------------


@ERAS
def test_the_typescript_client_follows_a_task_to_its_result(url: str, era: str) -> None:
    """Spec: both eras, the basic life of a task."""
    saw = clients.ext_tasks(url, "long_job", {"steps": 3}, era=era)
    assert saw["era"] == era
    assert saw["kind"] == "task"
    assert saw["outcome"] == "completed"
    assert saw["result"]["content"][0]["text"] == "3 steps done"
    assert saw["lastStatus"] == "completed"


@ERAS
def test_A15_the_typescript_client_is_asked(url: str, era: str) -> None:
    """Ours: field case A15."""
    saw = clients.ext_tasks(url, "ask", {}, era=era)
    assert [one["message"] for one in saw["asked"]] == ["Which database: sales or stock?"]
    assert saw["result"]["content"][0]["text"] == "asked sales"


@ERAS
def test_the_typescript_client_cancels(url: str, era: str) -> None:
    """Spec: both eras, cancelling."""
    saw = clients.ext_tasks(url, "long_job", {"steps": 1000}, era=era, cancel_after_ms=700)
    assert saw["outcome"] == "cancelled"


@ERAS
def test_the_typescript_client_reads_both_kinds_of_failure(url: str, era: str) -> None:
    """Spec: a tool that says no is `completed` in 2026 and `failed` in 2025, where this client
    reads no further than the status message; its words arrive either way."""
    said_no = clients.ext_tasks(url, "says_no", {}, era=era)
    assert said_no["outcome"] == ("failed" if era == "legacy" else "completed")
    assert "no such table: sales" in str(said_no)
    broke = clients.ext_tasks(url, "breaks", {}, era=era)
    assert broke["outcome"] == "failed"
    assert "the engine is down" in broke["error"]["message"]


@ERAS
@pytest.mark.parametrize("tool", ["strict", "quick"])
def test_A19_the_typescript_client_gets_the_result_of_any_tool(
    url: str, era: str, tool: str
) -> None:
    """Ours: field case A19: the task-only tool and the one that is never a task."""
    saw = clients.ext_tasks(url, tool, {}, era=era)
    assert saw["result"]["content"][0]["text"] == "done"
    assert saw["kind"] == ("task" if tool == "strict" else "immediate")


def test_the_typescript_client_lists_tasks_in_the_era_that_has_it(url: str) -> None:
    """Spec: 2025-11-25 alone."""
    assert "completed" in clients.ext_tasks(url, "strict", {}, era="legacy")["listed"]
    assert "notListed" in clients.ext_tasks(url, "strict", {}, era="modern")


# --- the Inspector ------------------------------------------------------------------------------


@ERAS
def test_the_inspector_gets_the_result_of_a_long_call(url: str, era: str) -> None:
    """Ours."""
    code, printed = clients.inspector(url, "long_job", "steps=3", era=era)
    assert code == 0
    assert printed[0]["result"]["content"][0]["text"] == "3 steps done"


@ERAS
def test_A19_the_inspector_drives_a_task_only_tool(url: str, era: str) -> None:
    """Ours: field case A19."""
    code, printed = clients.inspector(url, "strict", era=era)
    assert code == 0
    assert printed[0]["result"]["content"][0]["text"] == "done"


@ERAS
def test_the_inspector_shows_what_went_wrong(url: str, era: str) -> None:
    """Ours: the words of the tool, and of the error."""
    code, printed = clients.inspector(url, "says_no", era=era)
    assert code != 0
    assert "no such table: sales" in str(printed)
    code, printed = clients.inspector(url, "breaks", era=era)
    assert code != 0
    assert "the engine is down" in str(printed)
