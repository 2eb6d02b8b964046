"""A wait that is over, and what becomes of the work then."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.client import Ledger, State, connect
from awhile.errors import Unreachable
from tests.interaction.client.doorway import Door, Doorway
from tests.interaction.client.legacy_peer import Json, LegacyPeer, legacy_task
from tests.interaction.client.running import wait_until

pytestmark = pytest.mark.anyio


async def test_A17_out_of_time_the_task_goes_on_and_is_collected_later(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        with pytest.raises(TimeoutError, match=r"within 1 s; the work goes on") as over:
            await server.call("count", {"steps": 5, "seconds": 0.5}, timeout_seconds=1)
        found = re.search(r"by its id, '(\w+)'", str(over.value))
        assert found
    async with connect(url, ledger=ledger) as server:
        handle = await server.resume(found[1])
        assert (await handle.result()).is_error is False
        assert handle.now.state is State.FINISHED


async def test_A17_a_deadline_bounds_every_request_inside_the_wait(
    doorway: Doorway, ledger: Ledger
) -> None:
    async with connect(doorway.url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 20, "seconds": 0.1})
        doorway.set(Door.MUTE)
        with anyio.fail_after(3), pytest.raises(TimeoutError):
            await handle.result(timeout_seconds=0.5)
        doorway.set(Door.OPEN)
        assert (await handle.result()).is_error is False


@pytest.mark.parametrize(
    "silent", ["initialize", "tools/list", "tools/call", "tasks/get", "tasks/result"]
)
async def test_A17_a_deadline_bounds_whatever_an_older_server_leaves_unanswered(
    silent: str,
) -> None:
    """Ours: field case A17, 2025-11-25; nothing is cancelled at the server by it."""

    async def hang(_params: Json) -> Json:
        await anyio.sleep_forever()
        raise AssertionError

    async def created(_params: Json) -> Json:
        return {"task": legacy_task("working")}

    async def ended(_params: Json) -> Json:
        return legacy_task("completed")

    peer = LegacyPeer(tools__call=created, tasks__get=ended)
    peer.on[silent] = hang
    async with connect(peer, ledger=None) as server:
        with anyio.fail_after(5), pytest.raises(TimeoutError):
            await server.call("work", timeout_seconds=0.5)
    assert peer.count("tasks/cancel") == 0


@pytest.mark.parametrize("door", [Door.MUTE, Door.HANGING_UP, Door.AWAY])
async def test_A17_a_deadline_bounds_a_call_to_a_server_that_is_not_there(
    doorway: Doorway, door: Door
) -> None:
    doorway.set(door)
    async with connect(doorway.url, ledger=None) as server:
        with anyio.fail_after(10), pytest.raises((TimeoutError, Unreachable)):
            await server.call("count", {"steps": 1, "seconds": 0.1}, timeout_seconds=1)


async def test_A16_a_wait_that_is_over_says_that_the_work_waits_for_an_answer(
    url: str, ledger: Ledger
) -> None:
    answered = anyio.Event()

    async def person(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        await answered.wait()
        return {"action": "accept", "content": {"confirm": True}}

    async with connect(url, ledger=ledger, on_input=person) as server:
        handle = await server.start("delete", {"file": "a.txt"})
        with pytest.raises(TimeoutError, match="waits for an answer"):
            await handle.result(timeout_seconds=0.5)
        answered.set()
        assert (await handle.result()).is_error is False


async def test_A18_a_plain_call_out_of_time_is_given_up_at_the_server_too(
    url: str, ledger: Ledger, tmp_path: Path
) -> None:
    marker = tmp_path / "held"
    async with connect(url, ledger=ledger) as server:
        with pytest.raises(TimeoutError, match="call was closed, which asks the server to stop"):
            await server.call("hold", {"marker": str(marker)}, timeout_seconds=1)
        await wait_until((tmp_path / "held.let-go").exists)


async def test_A18_a_plain_call_that_is_cancelled_here_is_given_up_at_the_server_too(
    url: str, ledger: Ledger, tmp_path: Path
) -> None:
    marker = tmp_path / "held"
    async with connect(url, ledger=ledger) as server:
        async with anyio.create_task_group() as calls:
            calls.start_soon(server.call, "hold", {"marker": str(marker)})
            await wait_until(marker.exists)
            calls.cancel_scope.cancel()
        await wait_until((tmp_path / "held.let-go").exists)


async def test_A18_an_older_server_is_told_which_call_was_given_up() -> None:
    async def hang(_params: Json) -> Json:
        await anyio.sleep_forever()
        raise AssertionError

    peer = LegacyPeer(support=None)
    peer.on["tools/call"] = hang
    async with connect(peer, ledger=None) as server:
        with pytest.raises(TimeoutError):
            await server.call("work", timeout_seconds=0.2)
        await wait_until(lambda: "notifications/cancelled" in [one for one, _ in peer.notified])
