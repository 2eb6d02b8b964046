"""What servers in the field do, and what a person is shown then."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import TextContent

from awhile.client import CancelOutcome, Ledger, Now, State, connect, link
from awhile.errors import Expired, ProtocolFailed, TasksUnsupported, ToolFailed, Unreachable
from tests.interaction.client.scripted_server import (
    GONE,
    TASK_ID,
    TROUBLE,
    Answer,
    Script,
    TaskParams,
    add_tool,
    result,
    scripted,
    task,
)

pytestmark = pytest.mark.anyio

FINISHED = task("completed", result=result("done"))


async def watched(script: Script, ledger: Ledger | None = None) -> list[Now]:
    """Everything a watch of the scripted task shows."""
    with anyio.fail_after(20):
        async with connect(scripted(script), ledger=ledger) as server:
            handle = await server.start("work")
            return [now async for now in handle.watch()]


async def test_a_working_message_left_on_a_finished_task_is_not_shown() -> None:
    """A9: TypeScript SDK 1.30 keeps "step 4/5" after the end."""
    stale = "step 4/5"
    shown = await watched(
        Script([task("working", statusMessage=stale), {**FINISHED, "statusMessage": stale}])
    )
    assert [(now.state, now.words) for now in shown] == [
        (State.WORKING, "Working"),
        (State.WORKING, "step 4/5"),
        (State.FINISHED, "Finished"),
    ]
    assert shown[-1].message is None
    assert shown[-1].detail is None


async def test_a_task_seeded_as_ended_is_asked_for_its_result() -> None:
    script = Script([FINISHED], created=task("completed"))
    async with connect(scripted(script), ledger=None) as server:
        handle = await server.start("work")
        assert not handle.now.ended
        block = (await handle.result()).content[0]
    assert isinstance(block, TextContent)
    assert block.text == "done"


async def test_a_server_that_suggests_no_rhythm_is_asked_every_second() -> None:
    working = {**task("working")}
    del working["pollIntervalMs"]
    script = Script([working, working, FINISHED], created=working)
    await watched(script)
    gaps = [b - a for a, b in zip(script.gets, script.gets[1:], strict=False)]
    assert all(0.9 < gap < 2 for gap in gaps), gaps


async def test_A14_seconds_sent_as_milliseconds_make_no_busy_loop() -> None:
    """Ours: field case A14, 2026-07-28: "5" is no rhythm, and nor is a lifetime of 7 ms."""
    hasty = {"pollIntervalMs": 5, "ttlMs": 7}
    script = Script([task("working", **hasty)] * 2 + [FINISHED], created=task("working", **hasty))
    assert (await watched(script))[-1].state is State.FINISHED
    gaps = [b - a for a, b in zip(script.gets, script.gets[1:], strict=False)]
    assert all(gap > 0.9 for gap in gaps), gaps


async def test_a_server_in_trouble_is_asked_again_until_it_answers() -> None:
    shown = await watched(Script([TROUBLE, TROUBLE, FINISHED]))
    assert State.UNREACHABLE in [now.state for now in shown]
    assert shown[-1].state is State.FINISHED
    assert any("database is restarting" in (now.detail or "") for now in shown)


async def test_a_server_in_trouble_is_said_to_have_answered() -> None:
    """Ours: what is shown is true: an error is an answer, though none about the task."""
    async with connect(scripted(Script([TROUBLE])), ledger=None) as server:
        handle = await server.start("work")
        with pytest.raises(Unreachable) as late:
            await handle.result(timeout_seconds=1)
        assert handle.now.words.startswith("The server has answered with an error for")
    assert "answered with nothing but an error" in str(late.value)
    assert "database is restarting" in str(late.value)
    assert TASK_ID in str(late.value)


async def test_what_is_wrong_with_a_result_is_told_in_one_line() -> None:
    """Ours: no lines for programmers of pydantic, and no links to them."""
    broken = task("completed", result={"content": [{"type": "text"}, {"type": "text"}]})
    async with connect(scripted(Script([broken])), ledger=None) as server:
        with pytest.raises(ProtocolFailed) as failed:
            await (await server.start("work")).result(timeout_seconds=10)
    words = str(failed.value)
    assert "The result of 'work' cannot be read" in words
    assert "content.0.TextContent.text: Field required" in words
    assert "more)" in words
    assert "\n" not in words
    assert "pydantic" not in words


async def test_a_task_that_is_suddenly_gone_is_expired(ledger: Ledger) -> None:
    async with connect(scripted(Script([task("working"), GONE])), ledger=ledger) as server:
        handle = await server.start("work")
        with pytest.raises(Expired):
            await handle.result()
    entry = ledger.entries()[0]
    assert entry.gone
    assert entry.ended
    async with connect(scripted(Script([GONE])), ledger=ledger) as server:
        again = await server.resume(TASK_ID)
        assert again.now.state is State.EXPIRED


async def test_an_answer_that_is_no_task_is_a_protocol_failure() -> None:
    odd: Answer = {"taskId": TASK_ID, "status": "paused"}
    with pytest.raises(ProtocolFailed, match="cannot be read"):
        await watched(Script([odd]))


@pytest.mark.parametrize(
    ("ending", "outcome", "state"),
    [
        (task("cancelled"), CancelOutcome.CANCELLED, State.CANCELLED),
        (FINISHED, CancelOutcome.FINISHED_ANYWAY, State.FINISHED_ANYWAY),
        (
            task("completed", result=result("no", is_error=True)),
            CancelOutcome.FAILED,
            State.FAILED_AFTER_CANCEL,
        ),
        (
            task("failed", error={"code": -1, "message": "broke"}),
            CancelOutcome.FAILED,
            State.FAILED_AFTER_CANCEL,
        ),
        (task("working"), CancelOutcome.NOT_STOPPED_YET, State.CANCEL_REQUESTED),
        (GONE, CancelOutcome.NO_LONGER_KNOWN, State.EXPIRED),
    ],
)
async def test_what_came_of_a_stop_is_told_as_it_is(
    ending: Answer, outcome: CancelOutcome, state: State
) -> None:
    """An acknowledged cancel is a promise of nothing (ext-tasks, "Task Cancellation")."""
    script = Script([task("working")], after_cancel=[task("working"), ending])
    async with connect(scripted(script), ledger=None) as server:
        handle = await server.start("work")
        assert await handle.cancel(give_up_seconds=1) is outcome
        assert handle.now.state is state
        assert outcome.words
    assert script.cancels == 1


async def test_a_refused_stop_is_raised_and_nothing_is_claimed() -> None:
    refusal = Script([task("working")], cancel_error=TROUBLE)
    async with connect(scripted(refusal), ledger=None) as server:
        handle = await server.start("work")
        with pytest.raises(ProtocolFailed, match="restarting"):
            await handle.cancel()
        assert handle.now.state is State.WORKING


def without_tasks() -> MCPServer[Any]:
    """A plain server of the SDK."""
    server: MCPServer[Any] = MCPServer("plain")

    @server.tool()
    async def measure(ctx: Context[Any, Any]) -> str:
        for done in range(4):
            await ctx.report_progress(done, 4, f"part {done}")
            await anyio.sleep(0.05)
        return "measured"

    @server.tool()
    async def hang(ctx: Context[Any, Any]) -> str:
        await ctx.report_progress(1, 4, "hanging")
        await anyio.sleep_forever()
        raise AssertionError

    @server.tool()
    async def refuse() -> str:
        raise ToolError("no")

    return server


async def test_a_server_without_tasks_is_watched_through_its_progress() -> None:
    """Ours: field cases A19 and B1: a host-side client without any task to hold."""
    async with connect(without_tasks(), ledger=None) as server:
        handle = await server.start("measure")
        assert handle.id is None
        shown = [now async for now in handle.watch()]
        block = (await handle.result()).content[0]
    assert isinstance(block, TextContent)
    assert block.text == "measured"
    assert {25.0, 50.0, 75.0} <= {now.percent for now in shown}
    assert shown[-1].state is State.FINISHED
    assert [step.message for step in shown[-1].steps] == ["part 0", "part 1", "part 2", "part 3"]


async def test_stopping_a_plain_call_closes_it_and_claims_no_more() -> None:
    async with connect(without_tasks(), ledger=None) as server:
        handle = await server.start("hang")
        async for now in handle.watch():
            if now.percent:
                break
        assert await handle.cancel() is CancelOutcome.NO_LONGER_KNOWN
        last = [now async for now in handle.watch()][-1]
    assert last.state is State.NOT_STOPPED_YET
    assert last.ended
    assert "The call was closed" in (last.detail or "")


async def test_a_tool_that_says_no_at_a_server_without_tasks() -> None:
    async with connect(without_tasks(), ledger=None) as server:
        with pytest.raises(ToolFailed):
            await server.call("refuse")
        with pytest.raises(ToolFailed, match="Unknown tool"):
            await server.call("nothing_like_it")


async def test_an_id_means_nothing_to_a_server_without_tasks() -> None:
    async with connect(without_tasks(), ledger=None) as server:
        handle = await server.resume("anything")
        with pytest.raises(TasksUnsupported, match="keeps no tasks"):
            await handle.result()


async def test_another_tasks_state_is_not_taken_for_this_ones() -> None:
    """Ours: a mixed-up answer would be shown as this work's result."""
    with pytest.raises(ProtocolFailed, match="another task, 'task-2'"):
        await watched(Script([{**FINISHED, "taskId": "task-2"}]))


async def test_an_answer_of_an_unknown_type_is_no_result() -> None:
    """Spec: 2026-07-28, basic: "A `resultType` of any value unrecognized by the client MUST be
    considered invalid"."""

    async def answer(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call":
            return {"resultType": "deferred", **result("not yet")}
        return await call_next(ctx)

    async with connect(add_tool(MCPServer("odd", middleware=[answer])), ledger=None) as server:
        with pytest.raises(ProtocolFailed, match="'deferred'"):
            await server.call("work")


async def test_a_stop_that_nobody_takes_is_given_up_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ours: each request of it would otherwise have its own time."""
    monkeypatch.setattr(link, "ANSWER_SECONDS", 0.3)

    class Deaf(Script):
        async def _cancel(self, _ctx: ServerRequestContext[Any, Any], _params: TaskParams) -> Any:
            await anyio.sleep_forever()

    async with connect(scripted(Deaf([task("working")])), ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(10), pytest.raises(Unreachable, match="got no answer"):
            await handle.cancel(give_up_seconds=0)
