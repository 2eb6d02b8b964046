"""How long things live and may take: results, work, and questions that wait for a person."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from awhile import Run
from awhile.errors import SettingsError
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INTERNAL_ERROR, QUESTION, Json, accepted, run_facts, until

pytestmark = pytest.mark.anyio

HOUR_MS = 60 * 60 * 1000


class Name(BaseModel):
    """What is asked."""

    name: str


def asking(app: App, **options: Any) -> None:
    """A tool that asks for a name, and says it."""

    @app.tool(task_support="required", **options)
    async def work(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Your name?", Name)
        await anyio.sleep(0.01)
        return answer.data.name if answer.action == "accept" else answer.action


def is_asked(task: Json) -> bool:
    return task["status"] == "input_required"


async def test_A16_waiting_for_a_person_takes_nothing_of_the_works_time(app: App) -> None:
    """Ours: field case A16: work may take 0.3 s; the answer comes after twice that."""
    asking(app, work_seconds=0.3)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        task = await peer.until(task_id, is_asked)
        with anyio.move_on_after(0.6):
            later = await peer.until(task_id, lambda one: not is_asked(one))
            raise AssertionError(f"the question was closed, though nobody answered: {later}")
        [key] = task["inputRequests"]
        await peer.update(task_id, {key: accepted(name="Ada")})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "Ada"


async def test_A16_work_that_takes_longer_than_it_may_is_stopped_and_says_so(app: App) -> None:
    """Ours: field case A16: `failed`, -32603, with a reason for programs."""
    stopped = anyio.Event()

    @app.tool(task_support="required", work_seconds=0.1)
    async def work() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        raise AssertionError

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert stopped.is_set()
    assert task["status"] == "failed"
    assert task["error"]["code"] == INTERNAL_ERROR
    assert task["error"]["data"] == {"reason": "work_deadline"}
    assert "0.1 s" in task["statusMessage"]


async def test_an_inline_call_has_the_same_time(app: App) -> None:
    """Ours: without a task, the error is the call's."""

    @app.tool(inline_seconds=60, work_seconds=0.1)
    async def work() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async with app.serving() as peer:
        reply = await peer.call("work")
    assert reply.error["code"] == INTERNAL_ERROR
    assert reply.error["data"] == {"reason": "work_deadline"}


async def test_work_that_cannot_be_stopped_in_time_is_said_to_go_on(app: App) -> None:
    """Ours: what is shown is true: the task has ended, its thread has not."""
    go = threading.Event()

    @app.tool(task_support="required", run_in="thread", work_seconds=0.1, give_up_seconds=0.2)
    def work() -> str:
        go.wait(10)
        return "too late"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        task = await peer.ended(task_id)
        assert task["error"]["data"] == {"reason": "work_deadline"}
        assert "could not be stopped" in task["statusMessage"]
        assert "stoppedAt" not in run_facts(task)
        assert run_facts(task)["stoppedHow"] == "not_stopped"
        go.set()
        later = await peer.until(task_id, lambda one: "stoppedAt" in run_facts(one))
        assert later["status"] == "failed"
        assert later["lastUpdatedAt"] == task["lastUpdatedAt"]


async def test_a_result_that_comes_in_spite_of_the_deadline_stands(app: App) -> None:
    """Ours: nothing is lost: the body was told to stop, and had its result already."""

    @app.tool(task_support="required", run_in="thread", work_seconds=0.1)
    def work(run: Run) -> str:
        run.wait(10)
        return "all 42 rows"

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["result"]["content"][0]["text"] == "all 42 rows"


async def test_A16_a_question_has_a_deadline_of_its_own_that_is_shown(app: App) -> None:
    """Ours: field case A16: it is told when it is asked, and the task says why it failed."""
    asking(app, answer_seconds=0.4, work_seconds=60)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        task = await peer.until(task_id, is_asked)
        assert run_facts(task)["answerBy"] > task["lastUpdatedAt"]
        task = await peer.ended(task_id)
    assert task["status"] == "failed"
    assert task["error"]["code"] == INTERNAL_ERROR
    assert task["error"]["data"] == {"reason": "answer_deadline"}
    assert "Nobody answered within 0.4 s" in task["statusMessage"]
    assert "answerBy" not in run_facts(task)


async def test_a_body_may_go_on_without_the_answer(app: App) -> None:
    """Ours: the deadline is the tool's, what comes of it is the body's."""

    @app.tool(task_support="required", answer_seconds=0.1)
    async def work(ctx: Context[Any, Any]) -> str:
        try:
            await ctx.elicit("Your name?", Name)
        except Exception as late:  # noqa: BLE001 - whatever an author catches
            return f"went on: {late}"
        raise AssertionError

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["status"] == "completed"
    assert "Nobody answered" in task["result"]["content"][0]["text"]


async def test_a_question_asked_by_hand_has_the_same_deadline(app: App) -> None:
    """Ours: `Run.ask`, too."""

    @app.tool(task_support="required", answer_seconds=0.1)
    async def work(run: Run) -> str:
        await run.ask(QUESTION)
        raise AssertionError

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["error"]["data"] == {"reason": "answer_deadline"}


async def test_A3_a_live_task_never_expires(tmp_path: Path) -> None:
    """Ours: field case A3: `ttlMs` is open while the work lives, and its result has its whole life.

    The clock is moved by hand: the work takes three times as long as its result is kept.
    """
    now = [1_700_000_000_000]
    app = App(tmp_path / "tasks.db", now_ms=lambda: now[0], lease_seconds=86_400)
    go = anyio.Event()

    @app.tool(task_support="required", keep_seconds=2)
    async def work() -> str:
        await go.wait()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        for _ in range(3):
            now[0] += 2000
            assert (await peer.get(task_id))["ttlMs"] is None
            assert await _swept(app, now[0]) == []
        go.set()
        task = await peer.ended(task_id)
        assert task["ttlMs"] == 6000 + 2000
        now[0] += 1999
        assert await _swept(app, now[0]) == []
        assert (await peer.get(task_id))["result"] == task["result"]
        now[0] += 2
        assert await _swept(app, now[0]) == [task_id]
        gone = await peer.ask("tasks/get", {"taskId": task_id})
        assert gone.error["code"] == -32602


async def _swept(app: App, now_ms: int) -> list[str]:
    store: Any = app.tasks.store
    return list(await store.sweep(at_ms=now_ms))


@pytest.mark.parametrize(
    ("keep_seconds", "keep_ms"),
    [(2 * 3600, 2 * HOUR_MS), (30 * 86_400, 30 * 24 * HOUR_MS), (0.5, 500), (None, None)],
)
async def test_A14_lifetimes_are_milliseconds_on_the_wire(
    app: App, keep_seconds: float | None, keep_ms: int | None
) -> None:
    """Ours: field case A14: 30 days overflow nothing, and "for ever" is null."""

    @app.tool(task_support="required", keep_seconds=keep_seconds)
    async def work() -> str:
        return "done"

    async with app.serving() as peer:
        reply = (await peer.call("work")).result
        assert 100 <= reply["pollIntervalMs"] <= 10_000
        task = await peer.ended(reply["taskId"])
    if keep_ms is None:
        assert task["ttlMs"] is None
    else:
        assert keep_ms <= task["ttlMs"] < keep_ms + 10_000


@pytest.mark.parametrize("name", ["keep_seconds", "work_seconds", "answer_seconds"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e12])
def test_A14_lifetimes_that_cannot_be_meant_are_refused(app: App, name: str, value: float) -> None:
    """Ours: field case A14: at construction, with the value and the bounds."""
    with pytest.raises(SettingsError, match=name):
        app.tasks.tool(**{name: value})(_never)  # type: ignore[arg-type]


async def _never() -> str:
    raise AssertionError


async def test_polls_grow_with_the_work(tmp_path: Path) -> None:
    """Spec: ext-tasks: `pollIntervalMs`. Ours: a tenth of the task's age, within bounds."""
    now = [1_700_000_000_000]
    app = App(tmp_path / "tasks.db", now_ms=lambda: now[0], lease_seconds=86_400)
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work() -> str:
        await go.wait()
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        told: list[int] = []
        for _ in range(3):
            told.append((await peer.get(task_id))["pollIntervalMs"])
            now[0] += 20_000
        assert told == [250, 2000, 4000]
        go.set()
        await peer.ended(task_id)


async def test_a_deadline_leaves_nothing_running(app: App) -> None:
    """Ours: the place is free for the next one."""
    crowded = App(app.store, slots=1)
    ran: list[int] = []

    @crowded.tool(task_support="required", work_seconds=0.05)
    async def work() -> str:
        ran.append(1)
        await anyio.sleep_forever()
        raise AssertionError

    async with crowded.serving() as peer:
        ids = [await peer.start("work") for _ in range(3)]
        for one in ids:
            assert (await peer.ended(one))["error"]["data"] == {"reason": "work_deadline"}
        await until(lambda: len(ran) == 3, "each had its turn")
