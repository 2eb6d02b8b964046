"""How work ends: with its own words, told in the same write as its status."""

from __future__ import annotations

import asyncio
import sys

import anyio
import anyio.lowlevel
import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from awhile import Run
from awhile.tasks import Status
from awhile.tasks.events import CancelAsked
from tests.interaction.server import children
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import ENDED, INTERNAL_ERROR, Json

pytestmark = pytest.mark.anyio


async def test_a8_a_tool_that_raises_completes_with_the_real_text(app: App) -> None:
    """Spec: ext-tasks: a tool's own error is a completed task. Ours: field case A8."""

    @app.tool(task_support="required")
    async def work() -> str:
        raise LookupError("there is no table named 'custmers'")

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["status"] == "completed"
    assert task["result"]["isError"] is True
    text = task["result"]["content"][0]["text"]
    assert "LookupError: there is no table named 'custmers'" in text
    assert "there is no table named 'custmers'" in task["statusMessage"]


async def test_a8_a_json_rpc_error_fails_with_its_code_and_data(app: App) -> None:
    """Spec: ext-tasks: `failed` is for JSON-RPC errors and carries them. Ours: field case A8."""

    @app.tool(task_support="required")
    async def work() -> str:
        raise MCPError(code=-32050, message="The warehouse is closed.", data={"opens": "8:00"})

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["status"] == "failed"
    assert task["error"] == {
        "code": -32050,
        "message": "The warehouse is closed.",
        "data": {"opens": "8:00"},
    }
    assert task["statusMessage"] == "The warehouse is closed."
    assert "result" not in task


async def test_a8_bad_arguments_are_told_as_such(app: App) -> None:
    """Ours: field case A8. The body never starts, so it is answered at once where it can be."""
    started: list[int] = []

    @app.tool()
    async def work(number: int) -> str:
        started.append(number)
        return "done"

    async with app.serving() as peer:
        reply = await peer.call("work", number="many")
        assert reply.result["isError"] is True
        assert "number" in reply.text
        assert "int" in reply.text
    assert started == []


async def test_a8_a_child_process_that_dies_is_told_as_such(app: App) -> None:
    """Ours: field case A8: the signal, and what it printed last."""
    app.tool(run_in="process", task_support="required")(children.dies)
    async with app.serving() as peer:
        task = await peer.ended(await peer.start("dies"))
    text = task["result"]["content"][0]["text"]
    assert task["status"] == "completed"
    assert task["result"]["isError"] is True
    assert "the child process ended by signal 9; its last words: 'about to die'" in text


async def test_a_child_process_reports_returns_and_raises(app: App) -> None:
    """Ours: like a body in this process."""
    app.tool(run_in="process", inline_seconds=30)(children.counted)
    app.tool(run_in="process", inline_seconds=30)(children.divide)
    async with app.serving() as peer:
        reply = await peer.call("counted", to=3, meta={"progressToken": "p"})
        assert reply.text == "counted to 3"
        assert reply.progress[-1].items() >= {"progress": 3, "total": 3, "message": "row 3"}.items()
        failed = await peer.call("divide", left=1, right=0)
        assert failed.result["isError"] is True
        assert "ZeroDivisionError: division by zero" in failed.text


async def test_a_kept_call_that_is_waited_for_ends_as_its_task_does(app: App) -> None:
    """Ours: with its error, or saying that it was stopped."""

    @app.tool(kept="always", inline_seconds=30)
    async def work(ending: str) -> str:
        if ending == "error":
            raise MCPError(code=-32050, message="The warehouse is closed.", data={"opens": "8:00"})
        await anyio.sleep_forever()
        raise AssertionError

    async def stop_it() -> None:
        store = app.tasks.store
        async with store.watch() as watch:
            while not (live := await store.find(owner="anonymous", statuses=[Status.WORKING])):
                await watch.wait(10)
        await store.append(live[0].task_id, CancelAsked(), live[0].created_at_ms)

    async with app.serving() as peer:
        error = (await peer.call("work", ending="error")).error
        assert error == {
            "code": -32050,
            "message": "The warehouse is closed.",
            "data": {"opens": "8:00"},
        }
        async with anyio.create_task_group() as group:
            group.start_soon(stop_it)
            error = (await peer.call("work", ending="cancelled")).error
        assert error["data"] == {"reason": "cancelled"}
        assert error["message"].startswith("Cancelled: the work ended ")


async def test_a_long_error_is_shortened_in_the_message_and_whole_in_the_result(app: App) -> None:
    """Ours."""

    @app.tool(task_support="required")
    async def work() -> str:
        raise ValueError("x" * 5000)

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert "x" * 5000 in task["result"]["content"][0]["text"]
    assert len(task["statusMessage"]) < 600
    assert task["statusMessage"].endswith("…")


async def test_an_inline_answer_and_a_tasks_result_are_the_same(app: App) -> None:
    """Spec: ext-tasks: the result is what the underlying request would have returned."""

    @app.tool(inline_seconds=30)
    async def work() -> dict[str, list[int]]:
        return {"rows": [1, 2, 3]}

    @app.tool(name="kept", task_support="required")
    async def kept() -> dict[str, list[int]]:
        return {"rows": [1, 2, 3]}

    async with app.serving() as peer:
        inline = (await peer.call("work")).result
        task = await peer.ended(await peer.start("kept"))
    for name in ("content", "structuredContent", "isError"):
        assert task["result"][name] == inline[name]


async def test_a9_no_old_message_stands_beside_a_new_status(app: App) -> None:
    """Ours: field case A9: polled every few milliseconds to each ending."""
    steps = 12

    @app.tool(task_support="required")
    async def work(ending: str, run: Run) -> str:
        for number in range(steps):
            run.report(number, steps, f"step {number}")
            await anyio.sleep(0.01)
        match ending:
            case "raised":
                raise ValueError("no such luck")
            case "error":
                raise MCPError(code=INTERNAL_ERROR, message="The wire broke.")
            case "cancelled":
                await anyio.sleep_forever()
            case _:
                return "done"
        raise AssertionError

    endings = {
        "returned": ("completed", "Finished."),
        "raised": ("completed", "The tool reported an error: "),
        "error": ("failed", "The wire broke."),
        "cancelled": ("cancelled", "Cancelled: the work ended "),
    }
    async with app.serving() as peer:
        for ending, (status, words) in endings.items():
            task_id = await peer.start("work", ending=ending)
            seen: list[Json] = []

            def happened(task: Json, seen: list[Json] = seen) -> bool:
                seen.append(task)
                return task["status"] in ENDED

            if ending == "cancelled":
                await peer.until(task_id, lambda t: t["statusMessage"] == f"step {steps - 1}")
                await peer.cancel(task_id)
            await peer.until(task_id, happened)
            last = seen.pop()
            assert last["status"] == status
            assert last["statusMessage"].startswith(words)
            for task in seen:
                assert task["status"] == "working"
                assert not task["statusMessage"].startswith(words)
            assert await peer.get(task_id) == last


async def test_what_a_body_awaits_may_be_cancelled_by_others(app: App) -> None:
    """Ours: a driver's own cancellation is an error of the work, not a stop nobody asked for."""

    @app.tool(inline_seconds=30)
    async def work() -> str:
        pending = asyncio.get_running_loop().create_future()
        pending.cancel()
        return await pending

    async with app.serving() as peer:
        reply = await peer.call("work")
        assert reply.error["code"] == INTERNAL_ERROR
        assert "was cancelled, although nobody asked" in reply.error["message"]


@pytest.mark.parametrize("run_in", ["async", "thread"])
async def test_a_body_that_calls_exit_ends_its_task_and_not_the_server(
    app: App, run_in: str
) -> None:
    """Ours."""
    body = leaves_at_once if run_in == "async" else leaves_its_thread
    app.tool(name="work", task_support="required")(body)

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
        assert task["result"]["isError"] is True
        assert "SystemExit: enough" in task["result"]["content"][0]["text"]


async def test_nan_is_null_in_a_task_as_it_is_inline(app: App) -> None:
    """Ours: field case D11: JSON has no NaN; a number that cannot be kept costs that number."""
    app.tool(inline_seconds=30, name="inline")(mean)
    app.tool(task_support="required", name="kept")(mean)

    async with app.serving() as peer:
        inline = (await peer.call("inline")).result
        task = await peer.ended(await peer.start("kept"))
    assert inline["structuredContent"] == {"mean": None}
    assert task["status"] == "completed"
    assert task["result"]["structuredContent"] == {"mean": None}


async def mean() -> dict[str, float]:
    """The mean of nothing."""
    return {"mean": float("nan")}


async def leaves_at_once() -> str:
    """A script that became a tool."""
    sys.exit("enough")


def leaves_its_thread() -> str:
    """Another one."""
    sys.exit("enough")


class OutOfTheWay(BaseException):
    """What no ``except Exception`` stops."""


@pytest.mark.parametrize("error", [OutOfTheWay("mine"), SystemExit(3)])
@pytest.mark.parametrize("place", ["async", "thread"])
async def test_a_tool_that_raises_past_exception_ends_only_itself(
    app: App, error: BaseException, place: str
) -> None:
    """Ours: one such call stopped all tasks, and every later request was answered with 500."""

    @app.tool(task_support="required", name="work")
    async def in_the_loop() -> str:
        raise error

    @app.tool(task_support="required", name="threaded")
    def in_a_thread() -> str:
        raise error

    async with app.serving() as peer:
        tool = "work" if place == "async" else "threaded"
        task = await peer.ended(await peer.start(tool))
        assert task["result"]["isError"] is True
        assert type(error).__name__ in task["result"]["content"][0]["text"]
        again = await peer.ended(await peer.start(tool))
    assert again["status"] == "completed"


@pytest.mark.parametrize("swallows", [True, False])
async def test_a_body_that_cancels_itself_ends_only_itself(app: App, swallows: bool) -> None:
    """Ours: a library may cancel the task it runs in and never take that back."""

    @app.tool(task_support="required")
    async def work() -> str:
        current = asyncio.current_task()
        assert current is not None
        current.cancel()
        try:
            await anyio.lowlevel.checkpoint()
        except asyncio.CancelledError:
            if not swallows:
                raise
        return "done"

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
        again = await peer.ended(await peer.start("work"))
    assert task["status"] == again["status"] == ("completed" if swallows else "failed")


async def test_words_that_are_no_unicode_are_told_as_escapes(app: App) -> None:
    """Ours: a file name read from disk may be such; its task said `working` for ever."""

    @app.tool(task_support="required")
    async def work(run: Run) -> str:
        run.report(1, 2, "reading caf\udce9.csv")
        raise OSError("cannot read caf\udce9.csv")

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["status"] == "completed"
    assert task["statusMessage"].endswith("OSError: cannot read caf\\udce9.csv")


async def test_an_error_with_numbers_that_json_lacks_is_told_without_them(app: App) -> None:
    """Ours: NaN has no JSON form; its task said `working` for ever."""

    @app.tool(task_support="required")
    async def work() -> str:
        raise MCPError(code=-32050, message="no", data={"at": float("nan")})

    async with app.serving() as peer:
        task = await peer.ended(await peer.start("work"))
    assert task["error"] == {"code": -32050, "message": "no", "data": {"at": None}}


async def test_a_result_that_is_no_unicode_reaches_callers_of_both_eras(app: App) -> None:
    """Ours: the older era's callers got no answer at all, and the newer one's no strict JSON."""

    @app.tool(task_support="required")
    async def names() -> list[str]:
        return ["caf\udce9.csv", "ok"]

    async with app.serving() as peer, httpx2.AsyncClient(timeout=30) as http:
        task = await peer.ended(await peer.start("names"))
        old = await Legacy(peer.url, http).opened()
        collected = await old.result(await old.start("names"))
    assert task["result"]["structuredContent"] == {"result": ["caf\\udce9.csv", "ok"]}
    assert collected.result["structuredContent"] == {"result": ["caf\\udce9.csv", "ok"]}
