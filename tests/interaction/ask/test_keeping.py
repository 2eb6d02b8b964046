"""What a person says of their runs, and what is told of them later. Source: ours."""

from __future__ import annotations

import pytest

from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import App

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
