"""Servers of 2025-11-25, where the caller asks for a task and fetches its result apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from awhile.client import CancelOutcome, Handle, Ledger, State, connect
from awhile.client.work import RESULT_ATTEMPTS
from awhile.errors import Expired, ProtocolFailed, TasksUnsupported, ToolFailed
from tests.interaction.client.legacy_peer import Json, LegacyPeer, legacy_task

pytestmark = pytest.mark.anyio

GONE = MCPError(code=-32602, message="Failed to retrieve task: Task not found")
RELATED = {"io.modelcontextprotocol/related-task": {"taskId": "old-1"}}


def said(text: str, *, is_error: bool = False) -> Json:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}


class Scripted(LegacyPeer):
    """Answers each ``tasks/get`` with the next state, and then with the last again."""

    def __init__(
        self,
        *states: Json | MCPError,
        result: Json | MCPError | None = None,
        cancelled: Json | MCPError | None = None,
        after_cancel: list[Json | MCPError] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.states = list(states)
        self.result = result or said("done")
        self.cancelled = cancelled or legacy_task("cancelled")
        self.after_cancel = after_cancel
        self.plain: Json | MCPError = said("called plainly")
        self.augmented: Json | MCPError = {"task": legacy_task("working")}
        self.on |= {
            "tools/call": self._call,
            "tasks/get": self._get,
            "tasks/result": self._result_of,
            "tasks/cancel": self._cancel,
        }

    async def _call(self, params: Json) -> Json:
        return self._say(self.augmented if "task" in params else self.plain)

    async def _get(self, _params: Json) -> Json:
        return self._say(self.states.pop(0) if len(self.states) > 1 else self.states[0])

    async def _result_of(self, _params: Json) -> Json:
        return self._say(self.result)

    async def _cancel(self, _params: Json) -> Json:
        if self.after_cancel is not None:
            self.states = self.after_cancel
        return self._say(self.cancelled)

    def _say(self, answer: Json | MCPError) -> Json:
        if isinstance(answer, MCPError):
            raise answer
        return answer


async def text_of(handle: Handle) -> str:
    block = (await handle.result(timeout_seconds=10)).content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_the_call_asks_for_a_task_and_the_result_is_fetched_apart(ledger: Ledger) -> None:
    """Spec: 2025-11-25 "Creating Tasks", "Retrieving Task Results"."""
    peer = Scripted(legacy_task("working", statusMessage="step 1"), legacy_task("completed"))
    async with connect(peer, ledger=ledger) as server:
        handle = await server.start("work", {"n": None})
        assert handle.id == "old-1"
        shown = [now async for now in handle.watch()]
        assert await text_of(handle) == "done"
    assert [now.words for now in shown] == ["Working", "step 1", "Finished"]
    assert [step.message for step in shown[-1].steps] == ["step 1"]
    [call] = [params for method, params in peer.requests if method == "tools/call"]
    assert call["task"]["ttl"] == 7 * 24 * 60 * 60 * 1000
    assert call["arguments"] == {"n": None}
    assert peer.count("tasks/result") == 1


async def test_a_message_left_from_before_the_end_is_not_shown() -> None:
    """A9: TypeScript SDK 1.30.0 keeps "step 4/5" on a completed task."""
    stale = legacy_task("completed", statusMessage="step 4/5")
    peer = Scripted(legacy_task("working", statusMessage="step 4/5"), stale)
    async with connect(peer, ledger=None) as server:
        shown = [now async for now in (await server.start("work")).watch()]
    assert shown[-1].state is State.FINISHED
    assert (shown[-1].words, shown[-1].message, shown[-1].detail) == ("Finished", None, None)


async def test_a_tool_that_says_no_is_failed_there_and_a_tool_failure_here() -> None:
    peer = Scripted(legacy_task("failed"), result=said("the disk is full", is_error=True))
    async with connect(peer, ledger=None) as server:
        with pytest.raises(ToolFailed, match="disk is full"):
            await (await server.start("work")).result()


async def test_a_call_that_broke_gives_its_own_error() -> None:
    broke = MCPError(code=-32055, message="the gauge broke", data={"gauge": 7})
    peer = Scripted(legacy_task("failed"), result=broke)
    async with connect(peer, ledger=None) as server:
        with pytest.raises(ProtocolFailed, match="gauge broke") as caught:
            await (await server.start("work")).result()
    assert (caught.value.code, caught.value.data) == (-32055, {"gauge": 7})


async def test_an_unknown_id_is_expired() -> None:
    async with connect(Scripted(GONE), ledger=None) as server:
        handle = await server.resume("nothing")
        with pytest.raises(Expired):
            await handle.result()


@pytest.mark.parametrize(
    ("after", "outcome", "words"),
    [
        (
            legacy_task("cancelled"),
            CancelOutcome.CANCELLED_UNPROVEN,
            "Cancelled, but the server may still be working",
        ),
        (legacy_task("completed"), CancelOutcome.FINISHED_ANYWAY, "Finished before it could be"),
        (GONE, CancelOutcome.CANCELLED_UNPROVEN, "Cancelled, but the server may still be working"),
    ],
)
async def test_a_reply_that_says_cancelled_is_not_taken_for_more(
    after: Json | MCPError, outcome: CancelOutcome, words: str
) -> None:
    """That era's reply has to say so at once; some servers then finish all the same."""
    peer = Scripted(legacy_task("working"), after_cancel=[after])
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        assert await handle.cancel(give_up_seconds=5) is outcome
        assert handle.now.words.startswith(words)
    assert peer.count("tasks/cancel") == 1


async def test_a_stop_that_comes_too_late_is_told_from_a_task_that_is_gone() -> None:
    """-32602 answers both."""
    late = MCPError(code=-32602, message="Cannot cancel task: already in terminal status")
    peer = Scripted(legacy_task("working"), cancelled=late, after_cancel=[legacy_task("completed")])
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        assert await handle.cancel() is CancelOutcome.FINISHED_ANYWAY
    gone = Scripted(legacy_task("working"), cancelled=GONE, after_cancel=[GONE])
    async with connect(gone, ledger=None) as server:
        assert await (await server.start("work")).cancel() is CancelOutcome.NO_LONGER_KNOWN


async def test_proof_that_comes_after_the_reply_is_waited_for() -> None:
    asked = {"cancelAskedAt": "2026-11-01T10:00:01Z"}
    proof = {"stoppedAt": "2026-11-01T10:00:02Z", "stoppedHow": "process_ended"}
    unproven = legacy_task("cancelled", _meta={"awhile/run": asked})
    proven = legacy_task("cancelled", _meta={"awhile/run": asked | proof})
    peer = Scripted(legacy_task("working"), cancelled=unproven, after_cancel=[unproven, proven])
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        assert await handle.cancel() is CancelOutcome.CANCELLED
        assert (handle.now.words, handle.now.detail) == ("Cancelled", "Its process has ended.")


@pytest.mark.parametrize(
    "refusal",
    [
        MCPError(code=-32601, message="Tool work does not support task augmentation"),
        MCPError(code=-32603, message="Server does not support task creation"),
    ],
)
async def test_A19_a_server_that_refuses_tasks_gets_a_plain_call_with_progress(
    refusal: MCPError,
) -> None:
    """Ours: field case A19: with the progress of that call."""
    seen = anyio.Event()

    class Refusing(Scripted):
        async def _call(self, params: Json) -> Json:
            if "task" not in params:
                token = params["_meta"]["progressToken"]
                half = {"progressToken": token, "progress": 1, "total": 2, "message": "half"}
                await self.notify("notifications/progress", half)
                await seen.wait()
            return await super()._call(params)

    peer = Refusing(legacy_task("working"))
    peer.augmented = refusal
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        assert handle.id is None
        with anyio.fail_after(10):
            async for now in handle.watch():
                if now.percent == 50:
                    seen.set()
        assert await text_of(handle) == "called plainly"
        assert [step.message for step in handle.now.steps] == ["half"]
    assert peer.count("tools/call") == 2


async def test_A19_an_error_that_the_tool_may_have_caused_is_not_called_again() -> None:
    peer = Scripted(legacy_task("working"))
    peer.augmented = MCPError(code=-32602, message="Invalid task creation result")
    async with connect(peer, ledger=None) as server:
        with pytest.raises(ProtocolFailed, match="Invalid task creation"):
            await server.call("work")
    assert peer.count("tools/call") == 1


@pytest.mark.parametrize(
    "refusal",
    [
        said("MCP error -32601: Tool work requires task augmentation", is_error=True),
        MCPError(code=-32601, message="Tool work requires task augmentation"),
        MCPError(code=-32600, message="Task augmentation required for tools/call requests"),
    ],
)
async def test_A19_a_tool_that_is_refused_without_a_task_gets_one(
    refusal: Json | MCPError, ledger: Ledger
) -> None:
    peer = Scripted(legacy_task("completed"), support=None)
    peer.plain = refusal
    async with connect(peer, ledger=ledger) as server:
        handle = await server.start("work")
        assert await text_of(handle) == "done"
        assert handle.id == "old-1"
    assert ledger.entries()[0].era == "2025-11-25"


@pytest.mark.parametrize("options", [{"support": "forbidden"}, {"support": None}, {"tasks": {}}])
async def test_A19_nothing_becomes_a_task_that_was_not_offered_as_one(options: Any) -> None:
    """Spec: 2025-11-25 "Tool-Level Negotiation" (MUST NOT)."""
    peer = Scripted(legacy_task("working"), **options)
    async with connect(peer, ledger=None) as server:
        assert await text_of(await server.start("work")) == "called plainly"
    assert "task" not in next(params for method, params in peer.requests if method == "tools/call")


async def test_A14_seconds_sent_as_milliseconds_make_no_busy_loop() -> None:
    hasty = {"pollInterval": 2}
    states = [legacy_task("working", **hasty), legacy_task("completed")]
    peer = Scripted(*states)
    peer.augmented = {"task": legacy_task("working", **hasty)}
    async with connect(peer, ledger=None) as server:
        with anyio.fail_after(10):
            began = anyio.current_time()
            await (await server.start("work")).result()
    assert anyio.current_time() - began > 1.5


async def test_progress_under_the_calls_token_goes_on_for_the_tasks_life() -> None:
    """Spec: 2025-11-25 "Task Progress and Notifications"."""
    peer = Scripted(legacy_task("working", pollInterval=60_000))
    peer.augmented = {"task": legacy_task("working", pollInterval=60_000)}
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        [call] = [params for method, params in peer.requests if method == "tools/call"]
        token = call["_meta"]["progressToken"]
        with anyio.fail_after(5):
            async for now in handle.watch():
                if now.percent == 50:
                    break
                progress = {"progressToken": token, "progress": 2, "total": 4, "message": "half"}
                await peer.notify("notifications/progress", progress)
        now = handle.now
    assert (now.words, now.done, now.total) == ("half", 2, 4)


async def test_A23_a_status_notice_wakes_whoever_waits() -> None:
    slow = legacy_task("working", pollInterval=60_000)
    peer = Scripted(legacy_task("completed"))
    peer.augmented = {"task": slow}
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(5):
            async for now in handle.watch():
                if now.state is State.WORKING:
                    await peer.notify("notifications/tasks/status", legacy_task("completed"))
        assert await text_of(handle) == "done"


@pytest.mark.parametrize("stopped", [False, True])
async def test_A23_nobody_asks_after_the_end(stopped: bool) -> None:
    """Ours: field case A23, 2025-11-25: whether it came by itself or by a cancel."""
    end = legacy_task("cancelled" if stopped else "completed")
    peer = Scripted(legacy_task("working"), end, after_cancel=[end])
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        async with anyio.create_task_group() as watches:
            for _ in range(3):
                watches.start_soon(_watched, handle)
            if stopped:
                await handle.cancel()
        asked = peer.count("tasks/get")
        for _ in range(3):
            await _watched(handle)
            await server.list_tools()
        with anyio.move_on_after(0.3):  # six times its rhythm
            await anyio.sleep_forever()
        assert peer.count("tasks/get") == asked


async def _watched(handle: Handle) -> None:
    async for _ in handle.watch():
        pass


class Asking(Scripted):
    """Asks once ``tasks/result`` is open, and goes on with the answer."""

    def __init__(self, *, meta: Json) -> None:
        super().__init__(legacy_task("input_required"))
        self.meta = meta
        self.answers: list[Json] = []

    async def _result_of(self, _params: Json) -> Json:
        if not self.answers:
            form = {"type": "object", "properties": {"sure": {"type": "boolean"}}}
            question = {"message": "Sure?", "requestedSchema": form, "_meta": self.meta}
            self.answers.append(await self.ask("elicitation/create", question))
            self.states = [legacy_task("completed")]
        return said("done")


@pytest.mark.parametrize("meta", [RELATED, {}])
async def test_a_question_on_the_results_stream_reaches_whoever_answers(meta: Json) -> None:
    """Spec: 2025-11-25 "Input Required Status"."""
    peer = Asking(meta=meta)

    async def agree(request: Mapping[str, Any]) -> Mapping[str, Any]:
        assert request["params"]["message"] == "Sure?"
        return {"action": "accept", "content": {"sure": True}}

    async with connect(peer, ledger=None) as server:
        assert await text_of(await server.start("work", on_input=agree)) == "done"
    assert peer.answers == [{"action": "accept", "content": {"sure": True}}]


async def test_a_question_waits_to_be_shown_and_answered_by_key() -> None:
    peer = Asking(meta=RELATED)
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(10):
            async for now in handle.watch():
                if now.inputs:
                    assert (now.state, now.detail) == (State.NEEDS_INPUT, "Sure?")
                    [key] = now.inputs
                    await handle.answer({key: {"action": "decline"}})
        assert handle.now.state is State.FINISHED
        with pytest.raises(Expired, match="asks nothing under 'other'"):
            await handle.answer({"other": {"action": "decline"}})
    assert peer.answers == [{"action": "decline"}]


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_A15_that_somebody_declines_or_turns_away_is_told_as_it_is(action: str) -> None:
    """Ours: field case A15: a body can tell a no from nobody having said anything."""
    peer = Asking(meta=RELATED)

    async def person(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": action}

    async with connect(peer, ledger=None, on_input=person) as server:
        assert await text_of(await server.start("work")) == "done"
    assert peer.answers == [{"action": action}]


async def test_A15_an_error_of_the_one_who_answers_leaves_the_question_open() -> None:
    """Ours: field case A15: it reaches whoever waits, and the handle can still answer."""
    peer = Asking(meta=RELATED)

    async def broken(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError("no terminal")

    async with connect(peer, ledger=None, on_input=broken) as server:
        handle = await server.start("work")
        with pytest.raises(RuntimeError, match="no terminal"):
            await handle.result(timeout_seconds=10)
        assert peer.answers == []
        [key] = handle.now.inputs
        await handle.answer({key: {"action": "accept", "content": {"sure": True}}})
        assert await text_of(handle) == "done"
    assert peer.answers == [{"action": "accept", "content": {"sure": True}}]


async def test_A16_a_wait_that_is_over_leaves_the_question_and_the_task_alone() -> None:
    peer = Asking(meta=RELATED)
    asked, go_on = anyio.Event(), anyio.Event()

    async def slow(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        asked.set()
        await go_on.wait()
        return {"action": "accept", "content": {"sure": True}}

    async with connect(peer, ledger=None) as server:
        handle = await server.start("work", on_input=slow)
        with pytest.raises(TimeoutError, match="waits for an answer"):
            await handle.result(timeout_seconds=1)
        assert asked.is_set()
        go_on.set()
        assert await text_of(handle) == "done"
    assert peer.count("tasks/cancel") == 0


async def test_the_callers_tasks_are_listed_page_by_page() -> None:
    peer = Scripted(legacy_task("completed"))

    async def pages(params: Json) -> Json:
        if "cursor" in params:
            return {"tasks": [legacy_task("completed")]}
        working = legacy_task("working", taskId="old-0", statusMessage="step 1")
        return {"tasks": [working], "nextCursor": "more"}

    peer.on["tasks/list"] = pages
    async with connect(peer, ledger=None) as server:
        first, second = await server.list_tasks()
        assert (first.id, first.now.words) == ("old-0", "step 1")
        assert await text_of(second) == "done"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ({"tasks": [], "nextCursor": "again"}, "round in circles"),
        ({"tasks": "none"}, "its 'tasks' are no list"),
        ({"tasks": ["none"]}, "no object but 'none'"),
        ({"tasks": [{"taskId": 1}]}, "cannot be read"),
        ({}, "cannot be read"),
    ],
)
async def test_a_list_that_is_none_is_a_protocol_failure(page: Json, words: str) -> None:
    """Ours: neither an error from the inside nor a listing without an end."""

    async def pages(_params: Json) -> Json:
        return page

    async with connect(Scripted(legacy_task("working"), tasks__list=pages), ledger=None) as server:
        with anyio.fail_after(10), pytest.raises(ProtocolFailed, match=words):
            await server.list_tasks()


async def test_tools_whose_pages_go_round_in_circles_are_a_protocol_failure() -> None:
    async def pages(_params: Json) -> Json:
        return {"tools": [], "nextCursor": "again"}

    async with connect(LegacyPeer(tools__list=pages), ledger=None) as server:
        with anyio.fail_after(10), pytest.raises(ProtocolFailed, match="round in circles"):
            await server.list_tools()


async def test_a_newer_server_lists_no_tasks(url: str) -> None:
    async with connect(url, ledger=None) as server:
        with pytest.raises(TasksUnsupported, match="lists no tasks"):
            await server.list_tasks()


async def test_a_task_is_resumed_from_the_ledger(ledger: Ledger) -> None:
    async with connect(Scripted(legacy_task("working")), ledger=ledger) as server:
        await server.start("work")
    peer = Scripted(legacy_task("working"), legacy_task("completed"))
    async with connect(peer, ledger=ledger) as server:
        [entry] = ledger.entries()
        handle = await server.resume(entry.task_id)
        assert (handle.tool, entry.era) == ("work", "2025-11-25")
        assert await text_of(handle) == "done"
    assert peer.count("tools/call") == 0
    async with connect(Scripted(GONE), ledger=ledger) as server:
        assert await text_of(await server.resume(entry.task_id)) == "done"


async def test_that_a_cancel_was_not_proven_outlives_the_program(ledger: Ledger) -> None:
    async with connect(Scripted(legacy_task("cancelled")), ledger=ledger) as server:
        await (await server.start("work")).cancel()
    async with connect(Scripted(GONE), ledger=ledger) as server:
        handle = await server.resume("old-1")
        assert handle.now.words == "Cancelled, but the server may still be working"
        assert await handle.cancel() is CancelOutcome.CANCELLED_UNPROVEN


@pytest.mark.parametrize("refusals", [2, 1000])
async def test_a_result_that_is_refused_is_asked_for_again_and_then_said_to_be_refused(
    refusals: int,
) -> None:
    """Ours: a store may be away for a moment; one that has nothing stored never has."""
    peer = Scripted(legacy_task("completed"))
    asked = list[Json]()

    async def stored(params: Json) -> Json:
        asked.append(params)
        if len(asked) <= refusals:
            raise MCPError(code=-32603, message="no result stored")
        return {"content": [{"type": "text", "text": "done"}]}

    peer.on["tasks/result"] = stored
    async with connect(peer, ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(30):
            if refusals == 2:
                assert await text_of(handle) == "done"
                return
            with pytest.raises(ProtocolFailed) as refused:
                await handle.result()
    assert len(asked) == RESULT_ATTEMPTS
    assert "has finished, but its server refused 5 times" in str(refused.value)
    assert "no result stored" in str(refused.value)
    assert refused.value.code == -32603
