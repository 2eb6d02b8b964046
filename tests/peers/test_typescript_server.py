"""Our client at a 2025-11-25 server on the official TypeScript SDK 1.30.0, with its findings."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import anyio
import pytest
from mcp_types import TextContent

from awhile.client import CancelOutcome, Handle, Ledger, State, connect, connect_sync
from awhile.errors import Expired
from tests.interaction.client.running import wait_until
from tests.serving import Served, serving

pytestmark = [pytest.mark.anyio, pytest.mark.peers]

STEP_MS = 300


@pytest.fixture(scope="module")
def peer() -> Iterator[Served]:
    with serving("checks.legacy_server", STEP_MS=str(STEP_MS)) as server:
        yield server


@pytest.fixture
def ledger(tmp_path: Path) -> Generator[Ledger]:
    kept = Ledger(tmp_path / "handles.sqlite3")
    yield kept
    kept.close()


async def text_of(handle: Handle) -> str:
    block = (await handle.result(timeout_seconds=20)).content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_a_required_tool_becomes_a_task_and_is_watched_to_its_end(
    peer: Served, ledger: Ledger
) -> None:
    async with connect(peer.url, ledger=ledger) as server:
        handle = await server.start("long_job", {"steps": 5})
        assert handle.id
        shown = [now async for now in handle.watch()]
        assert await text_of(handle) == "finished 5 steps"
    [entry] = ledger.entries()
    assert (entry.task_id, entry.tool, entry.era) == (handle.id, "long_job", "2025-11-25")
    # It leaves "step 4/5" on the completed task, and whoever polls slowly misses steps.
    assert (shown[-1].state, shown[-1].words) == (State.FINISHED, "Finished")
    assert (shown[-1].message, shown[-1].detail) == (None, None)
    seen = [step.message for step in shown[-1].steps]
    assert seen
    assert set(seen) <= {"step 1/5", "step 2/5", "step 3/5", "step 4/5"}


async def test_a_tool_without_tasks_is_called_plainly(peer: Served) -> None:
    """With ``params.task`` it would answer -32602, after having run."""
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("quick", {"text": "hello"})
        assert handle.id is None
        assert await text_of(handle) == "quick: hello"


async def test_a_required_tool_called_plainly_is_recognised_and_made_a_task(
    peer: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It refuses with a result: ``isError``, and -32601 in its text."""
    async with connect(peer.url, ledger=None) as server:

        async def unlisted(_tool: str) -> str:
            return "forbidden"

        monkeypatch.setattr(server._link, "task_support", unlisted)  # pyright: ignore[reportPrivateUsage]
        handle = await server.start("long_job", {"steps": 1})
        assert handle.id is None
        assert await text_of(handle) == "finished 1 steps"
        assert handle.id


async def test_a_cancel_claims_no_more_than_that_server_can_show(peer: Served) -> None:
    """Its work runs on after the cancel, until it finds that it cannot report any more."""
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("long_job", {"steps": 4})
        assert handle.id
        step = f"of {handle.id}"
        await wait_until(lambda: f"step 1 {step}" in peer.lines)
        assert await handle.cancel() is CancelOutcome.CANCELLED_UNPROVEN
        assert handle.now.state is State.CANCELLED
        assert handle.now.words == "Cancelled, but the server may still be working"
        await wait_until(lambda: f"step 2 {step}" in peer.lines)
        again = await server.resume(handle.id)
        assert await again.cancel() is CancelOutcome.CANCELLED_UNPROVEN


async def test_a_stop_after_the_end_changes_nothing(peer: Served) -> None:
    """Field case A4; that server answers such a cancel with -32602, as for an unknown task."""
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("long_job", {"steps": 1})
        await handle.result()
        other = await server.resume(handle.id or "")
        assert await other.cancel() is CancelOutcome.FINISHED_ANYWAY
        assert await text_of(other) == "finished 1 steps"


async def test_an_unknown_id_is_expired(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        with pytest.raises(Expired):
            await (await server.resume("nothing-like-it")).result()
        assert await (await server.resume("nothing")).cancel() is CancelOutcome.NO_LONGER_KNOWN


async def test_its_tasks_are_listed(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        handle = await server.start("long_job", {"steps": 1})
        listed = {one.id: one for one in await server.list_tasks()}
        assert handle.id in listed
        assert await text_of(listed[handle.id]) == "finished 1 steps"


async def test_a_task_is_resumed_by_another_program(peer: Served, ledger: Ledger) -> None:
    async with connect(peer.url, ledger=ledger) as server:
        await server.start("long_job", {"steps": 3})
    other = Ledger(ledger.path)
    [entry] = other.entries()
    async with connect(peer.url, ledger=other) as server:
        handle = await server.resume(entry.task_id)
        assert (handle.tool, handle.now.state) == ("long_job", State.WORKING)
        assert await text_of(handle) == "finished 3 steps"
    other.close()


async def test_A23_three_are_watched_at_once(peer: Served) -> None:
    async with connect(peer.url, ledger=None) as server:
        handles = [await server.start("long_job", {"steps": 3}) for _ in range(3)]
        began = anyio.current_time()
        async with anyio.create_task_group() as watches:
            for handle in handles:
                watches.start_soon(handle.result)
        assert anyio.current_time() - began < 2 * 3 * STEP_MS / 1000 + 1


def test_a_script_gets_its_result_too(peer: Served) -> None:
    with connect_sync(peer.url, ledger=None) as server:
        assert server.call("long_job", {"steps": 1}, timeout_seconds=20).is_error is not True
