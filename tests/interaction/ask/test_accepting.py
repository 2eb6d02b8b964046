"""An answer that a person accepted is given again for the same words, and says so."""

from __future__ import annotations

import pytest

from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import App

pytestmark = pytest.mark.anyio


async def test_what_was_accepted_answers_the_same_words_the_next_time(quick: App) -> None:
    """Ours: SQL that a person wrote for a question nobody understood answers it from then on."""
    written = await quick.call("run_sql", sql="SELECT 42 AS how_many_moons")
    kept = await quick.call("accept_answer", run_id=written["run_id"], question="How many moons?")
    assert kept == {
        "run_id": written["run_id"],
        "question": "How many moons?",
        "accepted": True,
    }
    again = await quick.call("ask", question="how many moons")
    assert again["rows"] == [["42"]]
    told = await quick.call("explain_run", run_id=again["run_id"])
    assert (told["confidence"], told["sql"]) == ("accepted", "SELECT 42 AS how_many_moons")
    assert "As in the example 'How many moons?'" in told["reading"]
    await quick.call("accept_answer", run_id=again["run_id"], accept=False)
    refused = await quick.call("ask", question="how many moons")
    assert refused["refusal"] is not None


async def test_what_answers_no_question_alone_is_not_accepted(quick: App) -> None:
    first = await quick.call("ask", question="how many customers are there")
    second = await quick.call("ask", question="and by country?", follows=first["run_id"])
    with pytest.raises(ToolFailed, match="goes on from another one"):
        await quick.server.call("accept_answer", {"run_id": second["run_id"]})
    written = await quick.call("run_sql", sql="SELECT 1 AS one")
    with pytest.raises(ToolFailed, match="Say which question it answers"):
        await quick.server.call("accept_answer", {"run_id": written["run_id"]})
    with pytest.raises(ToolFailed):
        await quick.server.call("accept_answer", {"run_id": "0" * 32})
