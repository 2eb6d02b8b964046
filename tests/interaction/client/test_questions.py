"""Questions the work asks: before it becomes a task, and while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp_types import TextContent

from awhile.client import Ledger, State, connect
from awhile.errors import LocalError, ToolFailed

pytestmark = pytest.mark.anyio

YES = {"action": "accept", "content": {"confirm": True}}


class Person:
    """Answers yes, and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        self.asked.append(request["params"]["message"])
        return YES


def text(result: object) -> str:
    block = getattr(result, "content")[0]  # noqa: B009 - any result-like value
    assert isinstance(block, TextContent)
    return block.text


async def test_a_question_in_a_task_is_handed_over_once_and_answered(
    url: str, ledger: Ledger
) -> None:
    person = Person()
    async with connect(url, ledger=ledger, on_input=person) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        states = [now.state async for now in handle.watch()]
        assert text(await handle.result()) == "Deleted a.txt."
    assert State.NEEDS_INPUT in states
    assert person.asked == ["Delete a.txt?"]


async def test_a_slow_answer_is_not_asked_for_again_by_later_polls(
    url: str, ledger: Ledger
) -> None:
    person, polls = Person(), 0
    enough = anyio.Event()

    async def slow(request: Mapping[str, Any]) -> Mapping[str, Any]:
        await enough.wait()
        return await person(request)

    async with connect(url, ledger=ledger) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        other = await server.resume(handle.id or "")
        async with anyio.create_task_group() as tasks:

            async def count_polls() -> None:
                nonlocal polls
                while polls < 3:
                    with anyio.move_on_after(0.6):
                        await other.result()
                    polls += 1
                enough.set()

            tasks.start_soon(count_polls)
            async for _ in handle.watch(on_input=slow):
                pass
        assert text(await handle.result()) == "Deleted a.txt."
    assert person.asked == ["Delete a.txt?"]


async def test_without_anybody_to_ask_the_watch_shows_the_question(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        async for now in handle.watch():
            if now.state is State.NEEDS_INPUT:
                assert now.words == "Needs your answer"
                assert now.detail == "Delete a.txt?"
                [key] = now.inputs
                await handle.answer({key: {"action": "decline"}})
        assert text(await handle.result()) == "Kept a.txt (decline)."


async def test_a_question_before_the_task_is_answered_too(url: str, ledger: Ledger) -> None:
    person = Person()
    async with connect(url, ledger=ledger, on_input=person) as server:
        handle = await server.start("sure")
        assert handle.id
        assert text(await handle.result()) == "sure: True"
    assert person.asked == ["Are you sure?"]


async def test_a_question_before_the_task_with_nobody_to_ask_says_what_to_do(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        with pytest.raises(LocalError, match="Pass on_input"):
            await server.start("sure")


async def test_an_error_of_the_one_who_answers_reaches_the_one_who_watches(
    url: str, ledger: Ledger
) -> None:
    async def broken(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError("no terminal")

    async with connect(url, ledger=ledger, on_input=broken) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        with pytest.raises(RuntimeError, match="no terminal"):
            await handle.result()
        await handle.cancel()


@pytest.mark.parametrize("tool", ["delete", "sure"])
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_A15_that_somebody_declines_or_turns_away_is_told_as_it_is(
    url: str, tool: str, action: str
) -> None:
    """Ours: field case A15: in a task, and before it; a body can tell one from the other."""

    async def person(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"action": action}

    async with connect(url, ledger=None, on_input=person) as server:
        if tool == "delete":
            kept = await server.call("delete", {"file": "a.txt"}, timeout_seconds=20)
            assert text(kept) == f"Kept a.txt ({action})."
        else:
            with pytest.raises(ToolFailed, match=action):
                await server.call("sure", timeout_seconds=20)


async def test_A15_an_error_of_the_one_who_answers_leaves_the_question_open(url: str) -> None:
    """Ours: field case A15: and it can still be answered."""

    async def broken(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        raise RuntimeError("no terminal")

    async with connect(url, ledger=None, on_input=broken) as server:
        with pytest.raises(RuntimeError, match="no terminal"):
            await server.start("sure")
        handle = await server.start("delete", {"file": "a.txt"})
        with pytest.raises(RuntimeError, match="no terminal"):
            await handle.result(timeout_seconds=10)
        [key] = handle.now.inputs
        await handle.answer({key: YES})
        assert text(await handle.result(timeout_seconds=10)) == "Deleted a.txt."


async def test_a_question_is_dropped_when_the_work_ends_meanwhile(url: str, ledger: Ledger) -> None:
    dropped = anyio.Event()

    async def never(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            await anyio.sleep_forever()
        finally:
            dropped.set()
        return YES

    async with connect(url, ledger=ledger, on_input=never) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        async for now in handle.watch():
            if now.state is State.NEEDS_INPUT:
                break
        assert await handle.cancel() == "cancelled"
        with anyio.fail_after(5):
            await dropped.wait()
