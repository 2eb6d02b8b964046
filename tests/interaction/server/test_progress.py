"""Progress: on the stream of a call that waits, and in the task of one that does not."""

from __future__ import annotations

import threading
import time
from itertools import pairwise
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import httpx2
import pytest
from mcp.server.mcpserver import Context

from awhile import Run
from awhile.runtime.progress import INTERVAL_SECONDS
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import Json, run_facts

pytestmark = pytest.mark.anyio


def values(progress: list[Json]) -> list[float]:
    return [one["progress"] for one in progress]


@pytest.mark.parametrize("token", [0, "", 7, "abc"])
async def test_B2_the_callers_own_token_is_echoed(app: App, token: int | str) -> None:
    """Spec: MCP, progress: any string or integer, 0 and "" included."""

    @app.tool(inline_seconds=10)
    async def work(run: Run) -> str:
        run.report(1, 2, "half")
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": token})
    [echoed] = [one["progressToken"] for one in reply.progress]
    assert echoed == token
    assert type(echoed) is type(token)


async def test_B2_without_a_token_nothing_is_told(app: App) -> None:
    """Spec: MCP, progress. Ours: field case B2: a token is never made up."""

    @app.tool(inline_seconds=10)
    async def work(run: Run) -> str:
        run.report(1, 2, "half")
        return "done"

    async with app.serving() as peer:
        assert (await peer.call("work")).notifications == []


async def test_B3_what_is_told_rises_strictly_and_ends_before_the_answer(app: App) -> None:
    """Spec: MCP, progress: "MUST increase". Ours: field case B3.

    `Peer.ask` fails if anything follows the answer.
    """

    @app.tool(run_in="thread", inline_seconds=10)
    def work(run: Run) -> str:
        for done in (1, 1, 0.5, 2, 1.5, 1e12, 3, 1e12, 5):
            run.report(done, None, f"at {done}")
            run.wait(0.11)  # longer than the interval in which reports are joined
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
    told = values(reply.progress)
    assert len(told) == 8  # the second 1 says nothing new
    assert all(before < after for before, after in pairwise(told))


async def test_B4_the_last_report_is_told_before_the_answer(app: App) -> None:
    """Ours: reports are joined to about ten a second, and the last one is never lost (B4)."""

    @app.tool(inline_seconds=10)
    async def work(run: Run) -> str:
        for done in range(1, 10_001):
            run.report(done, 10_000, f"row {done}")
            if done % 1000 == 0:
                await anyio.lowlevel.checkpoint()
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
    assert len(reply.progress) <= 20
    assert reply.progress[-1].items() >= {"progress": 10_000, "message": "row 10000"}.items()


async def test_B4_odd_numbers_are_told_as_what_they_honestly_are(app: App) -> None:
    """Ours: field case B4: NaN, infinity, a total that was passed."""

    @app.tool(inline_seconds=10)
    async def work(run: Run) -> str:
        run.report(float("nan"), float("inf"), "no number")
        await anyio.sleep(0.15)
        run.report(float("nan"), 4, "no number of four")
        await anyio.sleep(0.15)
        run.report(5, 3, "more than there was")
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
    assert [(one["progress"], one.get("total"), one["message"]) for one in reply.progress] == [
        (0, None, "no number"),
        (1, None, "no number of four"),  # a quarter would be made up
        (5, None, "more than there was"),
    ]


async def test_a_tools_own_context_reports_into_its_task(app: App) -> None:
    """Ours: an unmodified tool's `ctx.report_progress` becomes the status message, token or not."""
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(3, 4, "three of four")
        await go.wait()
        return "done"

    async with app.serving() as peer:
        ids: list[str] = []
        metas: list[Json] = [{}, {"progressToken": "p"}]
        for meta in metas:
            reply = await peer.call("work", meta=meta)
            task_id = reply.result["taskId"]
            task = await peer.until(task_id, lambda t: t["statusMessage"] == "three of four")
            assert run_facts(task)["progress"]["total"] == 4
            ids.append(task_id)
        go.set()
        for task_id in ids:
            await peer.ended(task_id)


async def test_a_thread_reports_by_its_context_too(app: App) -> None:
    """Ours: the SDK's way for sync tools, `anyio.from_thread.run`, keeps working."""

    @app.tool(run_in="thread", inline_seconds=10)
    def work(ctx: Context[Any, Any]) -> str:
        anyio.from_thread.run(ctx.report_progress, 1, 2, "from a thread")
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
    assert reply.text == "done"
    assert [one["message"] for one in reply.progress] == ["from a thread"]


async def test_a_slow_poller_loses_no_step(app: App) -> None:
    """Ours: decision 7: the history of messages is in every answer, numbered without gaps."""
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work(run: Run) -> str:
        for number in range(1, 31):
            run.report(number, 30, f"step {number}")
        await go.wait()
        for number in range(31, 41):  # while those before may still be on their way to the disk
            run.report(number, 40, f"step {number}")
            await anyio.lowlevel.checkpoint()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        go.set()
        task = await peer.ended(task_id)
    steps = run_facts(task)["steps"]
    assert [step["message"] for step in steps] == [f"step {number}" for number in range(1, 41)]
    assert [step["seq"] for step in steps] == list(range(1, 41))
    assert task["statusMessage"] == "Finished."


async def test_what_was_said_before_the_call_became_a_task_is_part_of_it(app: App) -> None:
    """Ours: the handle itself already has the latest message."""
    go = anyio.Event()

    @app.tool(inline_seconds=0.05)
    async def work(run: Run) -> str:
        run.report(1, 2, "first")
        run.report(1, 2, "second")
        await go.wait()
        return "done"

    async with app.serving() as peer:
        created = (await peer.call("work")).result
        assert created["statusMessage"] == "second"
        assert [one["message"] for one in run_facts(created)["steps"]] == ["first", "second"]
        go.set()
        await peer.ended(created["taskId"])


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_B1_every_update_arrives_with_and_without_sessions(
    app: App, era: str, stateless: bool
) -> None:
    """Ours: field case B1: progress is on the request's own stream. JSON responses, which have no
    stream for it, are refused when serving starts."""

    @app.tool(inline_seconds=10)
    async def work(run: Run) -> str:
        for number in range(1, 6):
            run.report(number, 5, f"step {number}")
            await anyio.sleep(1.5 * INTERVAL_SECONDS)
        return "done"

    async with app.serving(stateless_http=stateless) as peer, httpx2.AsyncClient() as http:
        if era == "2025-11-25":
            reply = await (await Legacy(peer.url, http).opened()).call("work", token=7)
        else:
            reply = await peer.undeclared().call("work", meta={"progressToken": 7})
    assert [(one["progressToken"], one["progress"], one["total"]) for one in reply.progress] == [
        (7, number, 5) for number in range(1, 6)
    ]


async def test_B3_four_threads_report_over_each_other_and_after_the_end(app: App) -> None:
    """Ours: field case B3: one writer; a report after the end is never sent.

    `Peer.ask` fails if anything follows the answer.
    """
    late: list[Run] = []

    @app.tool(run_in="thread", inline_seconds=10)
    def work(run: Run) -> str:
        def report() -> None:
            for done in (1, 1, 0.5, 2):
                run.report(done, 2, f"at {done}")
                run.wait(0.07)

        threads = [threading.Thread(target=report) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        late.append(run)
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", meta={"progressToken": "p"})
        late[0].report(3, 3, "after the end")
        assert (await peer.call("work")).text == "done"
    told = values(reply.progress)
    assert told
    assert all(before < after for before, after in pairwise(told))
    assert all(one.get("total", 2) >= one["progress"] for one in reply.progress)


async def test_B4_ten_thousand_reports_in_a_second_are_about_ten_notifications(app: App) -> None:
    """Ours: field case B4: joined, the first at once and the last always."""

    @app.tool(run_in="thread", inline_seconds=10)
    def work(run: Run) -> str:
        for number in range(1, 10_001):
            run.report(number, 10_000, None)
            if number % 100 == 0:
                run.wait(0.01)
        return "done"

    async with app.serving() as peer:
        request = peer.request("tools/call", {"name": "work"}, meta={"progressToken": "p"})
        began, first_at = time.monotonic(), 0.0
        told: list[float] = []
        async with peer.opened(request) as (_, messages):
            async for message in messages:
                if "method" in message:
                    first_at = first_at or time.monotonic() - began
                    told.append(message["params"]["progress"])
        took = time.monotonic() - began
    assert first_at < 0.5
    assert told[-1] == 10_000
    assert len(told) <= 10 * took + 3
