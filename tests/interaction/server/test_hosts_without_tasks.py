"""Hosts that take no tasks and wait a minute at most: an honest answer, and the result later."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from awhile import Run, Tasks
from awhile.errors import SettingsError
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import Json, Peer, accepted, until

pytestmark = pytest.mark.anyio

LIMIT_SECONDS = 0.3


@pytest.fixture
def app(tmp_path: Path) -> App:
    """A server whose callers without tasks are answered after a third of a second."""
    return App(tmp_path / "tasks.db", inline_limit_seconds=LIMIT_SECONDS)


def query(app: App, **options: Any) -> anyio.Event:
    """A query that runs until it is let go."""
    go = anyio.Event()

    @app.tool(**options)
    async def query(run: Run) -> str:
        run.report(1, 3, "reading")
        await go.wait()
        return "42 rows"

    return go


def said(result: Json) -> str:
    """The text of a result."""
    return result["content"][0]["text"]


def id_in(result: Json) -> str:
    """The task id in the words of an answer, as a model reads it."""
    [task_id] = set(re.findall(r"\b[0-9a-f]{32}\b", said(result)))
    return task_id


async def modern(peer: Peer, tool: str, **arguments: Any) -> Json:
    """A call of a 2026-07-28 client that declares no tasks and sends no progress token."""
    return (await peer.undeclared().call(tool, **arguments)).result


@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
async def test_A17_a_host_that_waits_a_minute_gets_the_result_of_a_longer_query(
    app: App, era: str
) -> None:
    """Ours: field case A17, with the minute scaled down: no token, no task, a cap on the wait."""
    go = query(app)
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10 * LIMIT_SECONDS) as http:
        old = await Legacy(peer.url, http).opened()
        new = Peer(peer.url, http, declares=False)

        async def call(tool: str, **arguments: Any) -> Json:
            host = old if era == "2025-11-25" else new
            return (await host.call(tool, **arguments)).result

        first = await call("query")
        task_id = id_in(first)
        still = await call("task_result", id=task_id)
        assert said(still).startswith("NOT FINISHED")
        go.set()
        result = await call("task_result", id=task_id)
        assert said(result) == "42 rows"
        assert result["structuredContent"] == {"result": "42 rows"}
        assert said(await call("task_result", id=task_id)) == "42 rows"


async def test_the_early_answer_cannot_be_taken_for_the_result(app: App) -> None:
    """Ours: it says what it is, what not to do, and what to do; and no schema is broken."""
    go = query(app)
    async with app.serving() as peer:
        early = await modern(peer, "query")
        assert said(early).startswith("NOT FINISHED: this is not the result of query.")
        assert "Do not call query again" in said(early)
        assert f'call the tool task_result with id "{id_in(early)}"' in said(early)
        assert "reading" in said(early)
        assert early["_meta"]["awhile/stillRunning"] == {"taskId": id_in(early)}
        assert "structuredContent" not in early
        # `query` promises {"result": str}; clients refuse a result without, unless it is an error.
        assert early["isError"] is True
        go.set()
        await peer.ended(id_in(early))


async def test_a_tool_that_promises_no_structure_is_not_said_to_have_failed(app: App) -> None:
    """Ours: only where a schema would be broken is the early answer marked as an error."""
    go = anyio.Event()

    @app.tool()
    async def query() -> CallToolResult:
        await go.wait()
        return CallToolResult(content=[TextContent(type="text", text="42 rows")])

    async with app.serving() as peer:
        early = await modern(peer, "query")
        assert early.get("isError", False) is False
        go.set()
        assert said(await modern(peer, "task_result", id=id_in(early))) == "42 rows"


async def test_it_is_the_same_run(app: App) -> None:
    """Ours: the body is handed over, not started again."""
    starts: list[int] = []
    go = anyio.Event()

    @app.tool()
    async def query() -> str:
        starts.append(1)
        await go.wait()
        return "done"

    async with app.serving() as peer:
        task_id = id_in(await modern(peer, "query"))
        go.set()
        assert said(await modern(peer, "task_result", id=task_id)) == "done"
    assert starts == [1]


async def test_a_call_that_ends_in_time_is_simply_answered(app: App) -> None:
    """Ours: and keeps no task."""

    @app.tool()
    async def query() -> str:
        return "42 rows"

    async with app.serving() as peer:
        assert said(await modern(peer, "query")) == "42 rows"
        assert await app.tasks.store.find(owner="anonymous") == []


async def test_task_result_answers_as_soon_as_there_is_something_to_say(app: App) -> None:
    """Ours: it does not sit out its time."""
    patient = App(app.store, inline_limit_seconds=30)
    go = query(patient, inline_seconds=0)
    async with patient.serving() as peer:
        task_id = await peer.start("query")
        results: list[Json] = []

        async def wait() -> None:
            results.append(await modern(peer, "task_result", id=task_id, wait_seconds=600))

        with anyio.fail_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await peer.until(task_id, lambda task: task["status"] == "working")
                go.set()
    assert said(results[0]) == "42 rows"


async def test_a_wait_of_nothing_says_how_it_stands(app: App) -> None:
    """Ours: `wait_seconds` of zero or less is a look."""
    go = query(app, inline_seconds=0)
    async with app.serving() as peer:
        task_id = await peer.start("query")
        await peer.until(task_id, lambda task: task["statusMessage"] == "reading")
        for seconds in (0, -5):
            look = await modern(peer, "task_result", id=task_id, wait_seconds=seconds)
            assert "its latest word: reading" in said(look)
        go.set()
        await peer.ended(task_id)


class Database(BaseModel):
    """Which of two."""

    database: str = Field(json_schema_extra={"enum": ["sales", "archive"]})
    confirmed: bool


async def test_a_question_is_shown_with_its_choices(app: App) -> None:
    """Ours: a model can tell its user what is waited for."""

    @app.tool(task_support="required")
    async def query(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Which database?", Database)
        return answer.data.database if answer.action == "accept" else "none"

    async with app.serving() as peer:
        task_id = await peer.start("query")
        shown = said(await modern(peer, "task_result", id=task_id))
        assert shown.startswith("NOT FINISHED")
        assert "Which database?" in shown
        assert "sales | archive" in shown
        assert "true (yes) | false (no)" in shown
        [key] = (await peer.get(task_id))["inputRequests"]
        await peer.update(task_id, {key: accepted(database="sales", confirmed=True)})
        assert said(await modern(peer, "task_result", id=task_id)) == "sales"


async def test_task_cancel_stops_the_work(app: App) -> None:
    """Ours: and says whether it has stopped."""
    query(app)
    async with app.serving() as peer:
        task_id = id_in(await modern(peer, "query"))
        assert task_id in said(await modern(peer, "task_cancel", id=task_id))
        assert (await peer.ended(task_id))["status"] == "cancelled"
        ended = await modern(peer, "task_result", id=task_id)
        assert ended["isError"] is True
        assert "cancelled" in said(ended)
        assert "is stopped" in said(await modern(peer, "task_cancel", id=task_id))


async def test_task_list_finds_work_again(app: App) -> None:
    """Ours: a model that lost the id, or a new conversation."""
    go = query(app)
    async with app.serving() as peer:
        assert said(await modern(peer, "task_list")) == "There are no tasks of yours."
        task_id = id_in(await modern(peer, "query"))
        assert re.search(rf"{task_id}  query  working", said(await modern(peer, "task_list")))
        go.set()
        await peer.ended(task_id)
        assert re.search(rf"{task_id}  query  completed", said(await modern(peer, "task_list")))


async def test_a_failure_is_shown_with_its_reason(app: App) -> None:
    """Ours: field case A8: the tool's own words reach this host too."""
    go = anyio.Event()

    @app.tool()
    async def query() -> str:
        await go.wait()
        raise ValueError("no table named 'salse'")

    async with app.serving() as peer:
        task_id = id_in(await modern(peer, "query"))
        go.set()
        result = await modern(peer, "task_result", id=task_id)
    assert result["isError"] is True
    assert "no table named 'salse'" in said(result)


@pytest.mark.parametrize("tool", ["task_result", "task_answer", "task_cancel"])
async def test_an_unknown_id_says_so_without_repeating_it(app: App, tool: str) -> None:
    """Ours: the same words as for a task of somebody else."""
    async with app.serving() as peer:
        result = await modern(peer, tool, id="0" * 32)
    assert result["isError"] is True
    assert said(result).startswith("No such task.")
    assert "000" not in said(result)


async def test_without_a_free_place_the_call_is_queued_and_says_so(app: App) -> None:
    """Ours: nobody's minute is lost to somebody else's query."""
    crowded = App(app.store, inline_limit_seconds=LIMIT_SECONDS, slots=1)
    go = query(crowded)
    async with crowded.serving() as peer:
        first = id_in(await modern(peer, "query"))
        second = await modern(peer, "query")
        assert "Waiting to start." in said(second)
        go.set()
        await peer.ended(first)
        assert said(await modern(peer, "task_result", id=id_in(second))) == "42 rows"


async def test_a_task_only_tool_stays_strict(app: App) -> None:
    """Ours: refused before its body starts, companions or not."""
    query(app, task_support="required")
    async with app.serving() as peer:
        reply = await peer.undeclared().call("query")
    assert reply.error["code"] == -32021


async def test_a_client_that_takes_tasks_is_never_answered_so(app: App) -> None:
    """Ours: it gets a handle, or waits for as long as its tool says."""
    go = query(app, inline_seconds=3 * LIMIT_SECONDS)
    async with app.serving() as peer:
        task_id = await peer.start("query")
        go.set()
        await peer.ended(task_id)


@pytest.mark.parametrize("options", [{"task_support": "forbidden"}, {}])
async def test_without_companions_a_host_waits_for_as_long_as_it_takes(
    app: App, options: Json
) -> None:
    """Ours: the switch is off, or the tool forbids tasks: there is nothing to come back with."""
    plain = App(
        app.store, inline_limit_seconds=LIMIT_SECONDS, companion_tools="task_support" in options
    )
    started = anyio.Event()
    go = anyio.Event()

    @plain.tool(**options)
    async def query() -> str:
        started.set()
        await go.wait()
        return "42 rows"

    async with plain.serving() as peer:
        listed = {one["name"] for one in (await peer.ask("tools/list", {})).result["tools"]}
        assert ("task_result" in listed) is ("task_support" in options)
        replies: list[Json] = []

        async def call() -> None:
            replies.append(await modern(peer, "query"))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            await started.wait()
            with anyio.move_on_after(2 * LIMIT_SECONDS):
                await until(lambda: bool(replies), "an early answer")
            assert replies == []
            go.set()
        assert said(replies[0]) == "42 rows"


@pytest.mark.parametrize(
    "wrong",
    [
        {"inline_limit_seconds": 0},
        {"inline_limit_seconds": float("nan")},
        {"abandoned_seconds": -1},
        {"abandoned_seconds": float("inf")},
    ],
)
def test_limits_that_cannot_work_are_refused(tmp_path: Path, wrong: Json) -> None:
    """Ours: at construction, with the value and the bounds."""
    [name] = wrong
    with pytest.raises(SettingsError, match=name):
        Tasks(f"sqlite:///{tmp_path}/tasks.db", **wrong)
