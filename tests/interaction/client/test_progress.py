"""Progress as a client meets it: odd, late, foreign. Field cases B2, B3 and B4, for both eras."""

from __future__ import annotations

import math
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context, MCPServer

from awhile.client import Handle, Now, State, connect
from tests.interaction.client.legacy_peer import Json, LegacyPeer, legacy_task
from tests.interaction.client.scripted_server import Script, result, scripted, task

pytestmark = pytest.mark.anyio

ODD = [(math.nan, 4.0), (math.inf, math.inf), (-1.0, 4.0), (5.0, 4.0), (1.0, math.nan)]
"""NaN, infinity, less than nothing, more than all."""


def honest(shown: list[Now]) -> None:
    """Nothing shown is no number, and nothing is a percentage that cannot be one."""
    for now in shown:
        assert all(one is None or math.isfinite(one) for one in (now.done, now.total)), now
        assert now.percent is None or 0 <= now.percent <= 100, now


async def shown_of(handle: Handle) -> list[Now]:
    with anyio.fail_after(20):
        return [now async for now in handle.watch()]


async def test_B4_odd_numbers_of_a_plain_call_are_shown_as_no_percentage() -> None:
    """Ours: field case B4, 2026-07-28; the messages are shown all the same."""
    mcp: MCPServer[Any] = MCPServer("odd")

    @mcp.tool()
    async def measure(ctx: Context[Any, Any]) -> str:
        for number, (done, total) in enumerate(ODD):
            await ctx.report_progress(done, total, f"odd {number}")
        return "done"

    async with connect(mcp, ledger=None) as server:
        shown = await shown_of(await server.start("measure"))
    honest(shown)
    assert [step.message for step in shown[-1].steps] == [f"odd {one}" for one in range(len(ODD))]


@pytest.mark.parametrize(("done", "total"), ODD)
async def test_B4_odd_numbers_of_a_task_are_shown_as_no_percentage(
    done: float, total: float
) -> None:
    """Ours: field case B4, 2026-07-28."""
    at = {"done": done, "total": total, "message": "odd", "at": "2026-11-01T10:00:01Z"}
    odd = task("working", _meta={"awhile/run": {"progress": at}})
    async with connect(
        scripted(Script([odd, task("completed", result=result("done"))])), ledger=None
    ) as server:
        shown = await shown_of(await server.start("work"))
    honest(shown)
    assert "odd" in [now.message for now in shown]


class Reporting(LegacyPeer):
    """Becomes a task that ends when the test says so, and tells of its progress meanwhile."""

    def __init__(self) -> None:
        super().__init__(
            tools__call=self._created, tasks__get=self._task, tasks__result=self._collected
        )
        self.token: Any = None
        self.status = "working"

    async def _created(self, params: Json) -> Json:
        self.token = params["_meta"]["progressToken"]
        return {"task": legacy_task("working")}

    async def _task(self, _params: Json) -> Json:
        return legacy_task(self.status)

    async def _collected(self, _params: Json) -> Json:
        return {"content": [{"type": "text", "text": "done"}]}

    async def report(self, done: float, message: str, *, token: Any = None, **more: Any) -> None:
        """One notification, under the call's own token unless another is given."""
        given = self.token if token is None else token
        params = {"progressToken": given, "progress": done, "message": message, **more}
        await self.notify("notifications/progress", params)


async def test_B4_odd_numbers_of_an_older_task_are_shown_as_no_percentage() -> None:
    """Ours: field case B4, 2025-11-25."""
    peer, shown = Reporting(), list[Now]()
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(20):
            async for now in handle.watch():
                shown.append(now)
                if now.message == "last":
                    peer.status = "completed"
                elif len(shown) == 1:
                    for done, total in ODD:
                        await peer.report(done, "odd", total=total)
                    await peer.report(2, "last", total=4)
    honest(shown)
    assert 50.0 in [now.percent for now in shown]
    assert shown[-1].state is State.FINISHED


async def test_B3_progress_after_the_end_changes_nothing() -> None:
    """Ours: field case B3, 2025-11-25, where its token might live on."""
    peer = Reporting()
    peer.status = "completed"
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        ended = (await shown_of(handle))[-1]
        await peer.report(9, "still here?")
        await server.list_tools()  # was sent after it
        assert not handle.now.differs(ended)
    assert (ended.state, ended.message) == (State.FINISHED, None)


async def test_B2_progress_under_a_token_that_was_never_given_is_nobodys() -> None:
    """Ours: field case B2: some servers make one up; strict clients then drop the connection."""
    peer = Reporting()
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        for token in ("made up", 0, 1, ""):
            await peer.report(1, "foreign", token=token)
        await server.list_tools()
        assert handle.now.message is None
        peer.status = "completed"
        assert (await shown_of(handle))[-1].state is State.FINISHED
        assert handle.now.steps == ()
