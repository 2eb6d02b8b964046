"""fastmcp 4.1.4's client with fastmcp-tasks 4.1.4, on a server of ours.

It takes tasks of 2026-07-28: awaits them behind an ordinary call or holds a handle, answers their
questions, cancels them. It asks in the server's rhythm: it does not listen, does not list, cannot
come back by an id alone, and in the older era takes no tasks. Over HTTP it leaves out the
``Mcp-Name`` that the extension demands of a client, which a server has to see before it may answer.
"""

from __future__ import annotations

import sys

import pytest

from checks import clients

pytestmark = pytest.mark.peers

Json = clients.Json

QUESTION = "Which database: sales or stock?"


@pytest.fixture(scope="module", params=["stdio", "http"])
def seen(request: pytest.FixtureRequest, url: str) -> Json:
    """What it saw: as it is, and over HTTP with the header added."""
    if request.param == "stdio":
        command = [sys.executable, "-m", "tests.peers.work_server", "--stdio"]
        return clients.fastmcp(command, era="modern")
    return clients.fastmcp(url, era="modern", named=True)


def test_A19_fastmcp_gets_the_result_of_any_tool(seen: Json) -> None:
    """Ours: field case A19: a task-only tool, one that may be a task, one that never is."""
    assert seen["version"] == "2026-07-28"
    assert seen["strict"] == {"text": "done"}
    assert seen["long_job"] == {"text": "3 steps done"}
    assert seen["quick"] == {"text": "done"}


def test_B5_fastmcp_reads_progress_of_a_call_and_steps_of_a_task(seen: Json) -> None:
    """Ours: field case B5: notifications until the call has become a task, its message then."""
    assert seen["progress"][0] == [1.0, 3.0, "step 1/3"]
    *steps, last = seen["tasks"]["steps"]
    assert steps
    assert set(steps) <= {f"step {one}/4" for one in range(1, 5)}
    assert last == "Finished."
    assert seen["tasks"]["result"] == {"text": "4 steps done"}


def test_fastmcp_cancels(seen: Json) -> None:
    """Ours."""
    assert seen["tasks"]["cancelled"] == "cancelled"
    assert "was cancelled" in seen["tasks"]["cancelled_result"]["message"]


def test_A15_fastmcp_is_asked(seen: Json) -> None:
    """Ours: field case A15: behind an ordinary call, and of a task it holds."""
    assert seen["ask"] == {"text": "asked sales"}
    assert seen["tasks"]["parked"] == "input_required"
    assert seen["tasks"]["ask"] == {"text": "asked sales"}
    assert seen["asked"] == [QUESTION, QUESTION]


def test_fastmcp_reads_both_kinds_of_failure(seen: Json) -> None:
    """Ours: the words of the tool, and of the error."""
    assert "no such table: sales" in seen["says_no"]["message"]
    assert "the engine is down" in seen["breaks"]["message"]


def test_fastmcp_is_told_which_tool_is_no_task_and_when_its_time_is_over(seen: Json) -> None:
    """Ours."""
    assert "did not run as a task" in seen["tasks"]["quick"]["message"]
    assert seen["tasks"]["timed_out"]["error"] == "TimeoutError"


def test_fastmcp_over_http_is_told_which_header_it_leaves_out(url: str) -> None:
    """Ours: ext-tasks, Routing Headers, binds the client: "MUST set the Mcp-Name header"."""
    seen = clients.fastmcp(url, era="modern")
    assert seen["quick"] == {"text": "done"}
    for tool in ("strict", "long_job", "ask"):
        assert "Mcp-Name" in seen[tool]["message"]
        assert "taskId" in seen[tool]["message"]


def test_A19_fastmcp_of_the_older_era_gets_results_without_tasks(url: str) -> None:
    """Ours: field case A19: with progress and questions on the call's own stream; only a task-only
    tool is refused, and says what it needs."""
    seen = clients.fastmcp(url, era="legacy")
    assert seen["version"] == "2025-11-25"
    assert seen["long_job"] == {"text": "3 steps done"}
    assert seen["progress"] == [[float(one), 3.0, f"step {one}/3"] for one in range(1, 4)]
    assert seen["ask"] == {"text": "asked sales"}
    assert seen["asked"] == [QUESTION]
    assert "runs only as a task" in seen["strict"]["message"]
