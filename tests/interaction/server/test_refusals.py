"""What cannot be kept, or cannot be kept right now, is said to whoever asked for it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from awhile.runtime.ending import StopAsked
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INTERNAL_ERROR, INVALID_PARAMS

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("value", [math.nan, math.inf, "half a character: \ud800"])
async def test_arguments_that_are_no_json_are_refused_as_such(app: App, value: Any) -> None:
    """Ours: a lenient parser lets them through, and no store could give them back."""

    @app.tool(kept="always")
    async def work(value: Any) -> str:
        return "done"

    async with app.serving() as peer:
        refused = await peer.call("work", value=value)
        assert refused.error["code"] == INVALID_PARAMS
        assert "no JSON" in refused.error["message"]


async def test_a_store_that_is_gone_is_told_with_what_to_do(app: App) -> None:
    """Ours."""

    @app.tool(kept="always")
    async def work() -> str:
        return "done"

    async with app.serving() as peer:
        away = app.store.rename(app.store.with_suffix(".away"))
        refused = await peer.call("work")
        away.rename(app.store)
        assert refused.error["code"] == INTERNAL_ERROR
        assert refused.error["data"] == {"reason": "store"}
        assert str(app.store) in refused.error["message"]


async def test_a_tool_that_stops_by_itself_is_not_called_stopped(app: App) -> None:
    """Ours: nobody asked, so it is an error of the tool."""

    @app.tool(task_support="required")
    async def work() -> str:
        raise StopAsked("enough")

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["status"] == "completed"
    assert task["result"]["isError"] is True
    assert "enough" in task["statusMessage"]
