"""A server that is killed and started again on the same port, while somebody watches."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from mcp_types import TextContent

from awhile.client import Ledger, Now, State, connect
from awhile.errors import Unreachable, WorkerLost
from tests.interaction.client.running import RunningServer, wait_until

pytestmark = pytest.mark.anyio


async def test_a_watch_outlives_the_server_and_sees_the_work_go_on(
    own_server: RunningServer, ledger: Ledger
) -> None:
    shown: list[Now] = []
    async with connect(own_server.url, ledger=ledger) as server:
        handle = await server.start("count_again", {"steps": 10, "seconds": 0.2})
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                async for now in handle.watch():
                    shown.append(now)
                    if now.percent and not any(one.state is State.UNREACHABLE for one in shown):
                        own_server.kill()
                    if now.state is State.UNREACHABLE and shown[-2].state is not State.UNREACHABLE:
                        tasks.start_soon(own_server.start_again)
        result = await handle.result()
    states = [now.state for now in shown]
    assert State.UNREACHABLE in states
    assert states[-1] is State.FINISHED
    block = result.content[0]
    assert isinstance(block, TextContent)
    assert block.text == "counted to 10"
    away = next(now for now in shown if now.state is State.UNREACHABLE)
    assert away.words.startswith("No answer from the server for ")
    assert "may be running on" in (away.detail or "")


async def test_work_that_may_not_run_twice_ends_as_lost_with_its_server(
    own_server: RunningServer, ledger: Ledger
) -> None:
    async with connect(own_server.url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        async for now in handle.watch():
            if now.steps:
                break
        own_server.kill()
        await own_server.start_again()
        with anyio.fail_after(30), pytest.raises(WorkerLost, match="server stopped while"):
            await handle.result()


async def test_a_server_that_is_not_there_yet_is_waited_for(
    own_server: RunningServer, ledger: Ledger
) -> None:
    async with connect(own_server.url, ledger=ledger) as server:
        handle = await server.start("count_again", {"steps": 1, "seconds": 0.05})
    own_server.kill()
    assert handle.id
    async with connect(own_server.url, ledger=ledger) as server:
        again = await server.resume(handle.id)
        with pytest.raises(Unreachable, match="Resume it later by its id"):
            await again.result(timeout_seconds=0.5)
        assert again.now.state is State.UNREACHABLE
        await own_server.start_again()
        with anyio.fail_after(30):
            await again.result()


async def test_a_call_to_a_server_that_is_down_says_it_was_not_sent(
    own_server: RunningServer, ledger: Ledger
) -> None:
    async with connect(own_server.url, ledger=ledger) as server:
        await server.call("greet", {"name": "Ada"})
        own_server.kill()
        with pytest.raises(Unreachable, match="the request was not sent"):
            await server.start("greet", {"name": "Ada"})
        await own_server.start_again()
        await server.call("greet", {"name": "Ada"})


async def test_a_call_cut_off_by_a_kill_does_not_claim_that_nothing_happened(
    own_server: RunningServer, ledger: Ledger, tmp_path: Path
) -> None:
    marker = tmp_path / "held"

    async def kill_once_held() -> None:
        await wait_until(marker.exists)
        own_server.kill()

    async with connect(own_server.url, ledger=ledger) as server, anyio.create_task_group() as tasks:
        tasks.start_soon(kill_once_held)
        with pytest.raises(Unreachable, match="may or may not have reached it"):
            await server.start("hold", {"marker": str(marker)})
