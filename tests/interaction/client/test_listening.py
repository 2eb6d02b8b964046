"""Changes that the server pushes, and what happens when it does not."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from awhile.client import Handle, Now, State, connect, wait
from tests.interaction.client.doorway import Door, Doorway
from tests.interaction.client.pushing_server import Pushes, Serve, Stream, pushing
from tests.interaction.client.scripted_server import TASK_ID, Script, result, task

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
SERVER = "tests.interaction.client.long_work_server"
RARELY = 60_000
WORKING = task("working", pollIntervalMs=RARELY)
FINISHED = task("completed", pollIntervalMs=RARELY, result=result("done"))


async def finish(stream: Stream) -> None:
    """Push the task as it is, and then its end."""
    await stream.acknowledge(stream.asked)
    await stream.push(WORKING)
    await stream.push(FINISHED)
    await anyio.sleep_forever()


async def text_of(handle: Handle) -> str:
    block = (await handle.result()).content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_an_ending_is_there_at_once_however_rarely_the_server_wants_to_be_asked() -> None:
    """Spec: ext-tasks, "Task Status Notifications"."""
    script, pushes = Script([WORKING], created=WORKING), Pushes(finish)
    async with connect(pushing(script, pushes), ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(5):
            assert await text_of(handle) == "done"
    assert pushes.asked == [[TASK_ID]]
    assert script.gets == []


async def test_what_is_pushed_late_is_not_news() -> None:
    older = task("working", pollIntervalMs=RARELY, lastUpdatedAt="2026-11-01T10:00:00.5Z")

    async def disorderly(stream: Stream) -> None:
        await stream.acknowledge(stream.asked)
        await stream.push({**WORKING, "statusMessage": "new"})
        await stream.push({**older, "statusMessage": "old"})
        await stream.push(FINISHED)
        await stream.push({**WORKING, "lastUpdatedAt": "2026-11-01T10:00:09Z"})
        await anyio.sleep_forever()

    script = Script([WORKING], created=WORKING)
    async with connect(pushing(script, Pushes(disorderly)), ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(5):
            shown = [now async for now in handle.watch()]
        assert "old" not in [now.words for now in shown]
        assert shown[-1].state is State.FINISHED
        assert handle.now.state is State.FINISHED


async def nothing(stream: Stream) -> None:
    """Agree to push nothing."""
    await stream.acknowledge([])
    await anyio.sleep_forever()


async def silence(stream: Stream) -> None:
    """Agree to push, and never do."""
    await stream.acknowledge(stream.asked)
    await anyio.sleep_forever()


async def no_word(_stream: Stream) -> None:
    """Never even agree."""
    await anyio.sleep_forever()


async def trouble(_stream: Stream) -> None:
    """Break every time."""
    raise MCPError(code=-32603, message="no streams today")


async def refusal(_stream: Stream) -> None:
    """Serve no such thing."""
    raise MCPError(code=-32601, message="Method not found")


@pytest.mark.parametrize("serve", [nothing, silence, no_word, trouble, refusal])
async def test_an_ending_is_never_missed_because_nothing_was_pushed(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wait, "SAFETY_POLL_SECONDS", 0.3)
    script = Script([task("working")] * 8 + [FINISHED])
    async with connect(pushing(script, Pushes(serve)), ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(20):
            assert await text_of(handle) == "done"


async def test_a_server_without_streams_is_asked_for_one_once() -> None:
    """Ours: field case C5: a server may have them switched off."""
    script, pushes = Script([task("working")] * 20 + [FINISHED]), Pushes(refusal)
    async with connect(pushing(script, pushes), ledger=None) as server:
        for _ in range(3):
            handle = await server.resume(TASK_ID)
            await handle.result()
    assert len(pushes.opened) == 1


async def test_while_it_listens_it_hardly_asks(doorway: Doorway) -> None:
    async with connect(doorway.url, ledger=None) as server:
        handle = await server.start("count", {"steps": 20, "seconds": 0.1})
        assert handle.id
        shown = [now async for now in handle.watch()]
    assert len({now.message for now in shown}) > 15
    assert doorway.count("subscriptions/listen") == 1
    assert doorway.count("tasks/get", handle.id) <= 1


async def test_A23_many_are_watched_at_once_on_one_stream_and_none_after_its_end(
    doorway: Doorway,
) -> None:
    endings: dict[str, State] = {}

    async def watch(handle: Handle) -> None:
        last: Now | None = None
        async for now in handle.watch():
            last = now
        assert last
        endings[handle.id or ""] = last.state

    async with connect(doorway.url, ledger=None) as server:
        short = await server.start("count", {"steps": 2, "seconds": 0.1})
        longer = await server.start("count", {"steps": 10, "seconds": 0.1})
        stopped = await server.start("count", {"steps": 600, "seconds": 0.1})
        handles = [short, longer, stopped]
        async with anyio.create_task_group() as watches:
            for handle in handles:
                watches.start_soon(watch, handle)
            await short.result()
            await stopped.cancel()
        ids = [handle.id or "" for handle in handles]
        asked = [doorway.count("tasks/get", one) for one in ids]
        # Whatever still asked would show while a fourth runs to its end.
        await (await server.start("count", {"steps": 5, "seconds": 0.1})).result()
        assert [doorway.count("tasks/get", one) for one in ids] == asked
    assert [endings[one] for one in ids] == [State.FINISHED, State.FINISHED, State.CANCELLED]
    assert sum(asked) <= 5, asked
    assert doorway.count("subscriptions/listen") <= 4


async def test_A23_a_notice_wakes_whoever_waits_between_two_looks() -> None:
    told = anyio.Event()

    async def later(stream: Stream) -> None:
        await stream.acknowledge(stream.asked)
        await stream.push(WORKING)
        await told.wait()
        await stream.push(FINISHED)
        await anyio.sleep_forever()

    script = Script([WORKING], created=WORKING)
    async with connect(pushing(script, Pushes(later)), ledger=None) as server:
        handle = await server.start("work")
        with anyio.fail_after(5):
            async for now in handle.watch():
                if now.state is State.WORKING:
                    told.set()
        assert handle.now.state is State.FINISHED


async def test_C6_a_server_that_accepts_and_closes_is_not_stormed() -> None:
    async def closing(stream: Stream) -> None:
        await stream.acknowledge(stream.asked)

    script, pushes = Script([WORKING], created=WORKING), Pushes(closing)
    async with connect(pushing(script, pushes), ledger=None) as server:
        handle = await server.start("work")
        with pytest.raises(TimeoutError):
            await handle.result(timeout_seconds=10)
    assert 3 <= len(pushes.opened) <= 10
    pauses = [b - a for a, b in zip(pushes.opened, pushes.opened[1:], strict=False)]
    assert pauses[-1] > 4 * pauses[0], pauses


async def test_C6_starts_in_quick_succession_share_streams() -> None:
    pushes = Pushes(silence)
    script = Script([WORKING], created=WORKING)
    async with (
        connect(pushing(script, pushes), ledger=None) as server,
        anyio.create_task_group() as tasks,
    ):
        with anyio.move_on_after(3):
            for number in range(60):
                handle = await server.resume(f"task-{number}")
                tasks.start_soon(handle.result)
                await anyio.sleep(0.03)
            await anyio.sleep_forever()
        tasks.cancel_scope.cancel()
    assert len(pushes.opened) <= 10
    assert len(pushes.asked[-1]) > 10


async def test_a_broken_stream_is_opened_again(doorway: Doorway) -> None:
    """Ours: field case C3: what was lost on it is told by the next."""
    with anyio.fail_after(20):
        async with connect(doorway.url, ledger=None) as server:
            handle = await server.start("count", {"steps": 30, "seconds": 0.1})
            async for now in handle.watch():
                if now.steps and doorway.count("subscriptions/listen"):
                    break
            doorway.set(Door.OPEN)  # breaks every connection there is
            await handle.result()
    assert doorway.count("subscriptions/listen") >= 2


async def test_over_stdio_changes_are_pushed_too(tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", SERVER, "--stdio", "--store", str(tmp_path / "tasks.db")],
        cwd=ROOT,
    )
    async with connect(command, ledger=None) as server:
        handle = await server.start("count", {"steps": 10, "seconds": 0.1})
        pushed = [handle.work.pace.pushed async for _ in handle.watch()]
    assert True in pushed
