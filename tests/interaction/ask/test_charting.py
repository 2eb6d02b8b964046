"""Charts, as any MCP host gets them. Source: ours."""

from __future__ import annotations

import pytest

from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import App

pytestmark = pytest.mark.anyio


async def test_a_question_about_time_is_drawn_as_a_line_and_told_in_words(app: App) -> None:
    run_id = (await app.call("ask", question="number of orders by month in 2025"))["run_id"]
    chart = await app.call("result_chart", run_id=run_id)
    assert chart["kind"] == "line"
    assert chart["points"][0][0] == "2025-01-01"
    assert chart["text"].startswith("Line: ")
    filters = [{"column": 0, "operator": ">=", "value": "2025-07-01"}]
    half = await app.call("result_chart", run_id=run_id, kind="bar", filters=filters)
    assert (half["kind"], half["points"][0][0]) == ("bar", "2025-07-01")


async def test_where_there_is_nothing_to_draw_that_is_the_answer(app: App) -> None:
    run_id = (await app.call("run_sql", sql="SELECT 'a' AS b"))["run_id"]
    assert "no column" in (await app.call("result_chart", run_id=run_id))["nothing"]
    with pytest.raises(ToolFailed, match="no such run"):
        await app.call("result_chart", run_id="0" * 32)
