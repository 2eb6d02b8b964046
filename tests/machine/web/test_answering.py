"""Questions of the work, from the server to the page's card and back. Source: ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.errors import RemoteError
from tests.machine.web.backend import followed, served, until

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.sqlite3'}"


def asks(run: dict[str, Any]) -> bool:
    return run["status"] == "input_required" and bool(run["inputs"])


async def test_a_question_is_shown_to_every_backend_and_its_answer_kept_as_given(
    store: str,
) -> None:
    go = anyio.Event()
    go.set()
    async with served(store, go) as url, followed(url) as (board, follower):
        run_id = await follower.start("ask", {"question": "Choice", "request_key": "k"})
        (asked,) = (await until(board, asks))["inputs"]
        assert asked["message"] == "Choice?"
        assert "do" in asked["schema"]["properties"]
        async with followed(url) as (other, second):  # another backend, or this one restarted
            (again,) = (await until(other, asks))["inputs"]
            assert again == asked
            with pytest.raises(RemoteError, match="do"):  # it fits no field; the card stays
                await second.answer(run_id, asked["key"], {"action": "accept", "content": {}})
            given = {"action": "accept", "content": {"do": "narrow"}}
            await second.answer(run_id, asked["key"], given)
            ended = await until(board, lambda run: run["status"] == "completed")
            assert not ended["inputs"]
            (answer,) = ended["answers"]
            assert (answer["action"], answer["content"]) == ("accept", {"do": "narrow"})


async def test_declining_goes_on_and_stops_nothing(store: str) -> None:
    go = anyio.Event()
    go.set()
    async with served(store, go) as url, followed(url) as (board, follower):
        run_id = await follower.start("ask", {"question": "Form", "request_key": "k"})
        (asked,) = (await until(board, asks))["inputs"]
        await follower.answer(run_id, asked["key"], {"action": "decline"})
        ended = await until(board, lambda run: run["status"] == "completed")
        assert ended["answers"][0]["action"] == "decline"
        assert ended["cancel_asked_at"] is None
