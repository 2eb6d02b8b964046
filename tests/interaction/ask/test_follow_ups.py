"""A question that goes on from the run before it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from awhile.errors import ToolFailed

if TYPE_CHECKING:
    from tests.interaction.ask.conftest import App

pytestmark = pytest.mark.anyio


async def test_a_question_says_only_what_changes(app: App) -> None:
    first = await app.call("ask", question="how many orders in 2025")
    second = await app.call("ask", question="and by country?", follows=first["run_id"])
    third = await app.call("ask", question="only Germany", follows=second["run_id"])
    assert len(second["columns"]) == 2, second
    assert "2025" in second["reading"]
    assert (len(third["rows"]), "Germany" in third["reading"]) == (1, True), third
    kept = await app.call("explain_run", run_id=third["run_id"])
    assert (kept["question"], kept["follows"]) == ("only Germany", second["run_id"])


async def test_without_a_run_to_follow_it_is_refused_as_it_stands(app: App) -> None:
    answer = await app.call("ask", question="and by country?")
    assert "refusal" in answer, answer


async def test_a_run_that_is_not_there_cannot_be_followed(app: App) -> None:
    with pytest.raises(ToolFailed, match="no answered run of yours that this could follow"):
        await app.server.call("ask", {"question": "and by country?", "follows": "0" * 32})
