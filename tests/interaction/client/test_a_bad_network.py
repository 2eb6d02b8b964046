"""A server that is there, behind a network that is not always."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp_types import TextContent

from awhile.client import CancelOutcome, Handle, Ledger, State, connect, link
from awhile.errors import ProtocolFailed, Unreachable
from tests.interaction.client.doorway import Door, Doorway
from tests.interaction.client.running import wait_until

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]


async def until(handle: Handle, state: State) -> None:
    async for now in handle.watch():
        if now.state is state:
            return


@pytest.mark.parametrize("door", [Door.HANGING_UP, Door.AWAY, Door.MUTE, Door.CUTTING])
async def test_a_watch_goes_on_through_whatever_the_network_does(
    doorway: Doorway, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, door: Door
) -> None:
    """Ours: field cases C1, C3 and C4: a cut anywhere loses neither the work nor its result."""
    monkeypatch.setattr(link, "ANSWER_SECONDS", 0.3)
    with anyio.fail_after(30):
        async with connect(doorway.url, ledger=ledger) as server:
            handle = await server.start("count", {"steps": 20, "seconds": 0.1})
            await until(handle, State.WORKING)
            doorway.set(door)
            await until(handle, State.UNREACHABLE)
            doorway.set(Door.OPEN)
            await until(handle, State.WORKING)
            assert (await handle.result()).is_error is False


@pytest.mark.parametrize(
    ("door", "words"),
    [
        (Door.AWAY, "was not sent"),
        (Door.HANGING_UP, "may or may not"),
        (Door.MUTE, "may or may not"),
        (Door.CUTTING, "may or may not"),
    ],
)
async def test_a_stop_without_an_answer_says_whether_it_was_sent(
    doorway: Doorway,
    ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    door: Door,
    words: str,
) -> None:
    monkeypatch.setattr(link, "ANSWER_SECONDS", 0.3)
    async with connect(doorway.url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        doorway.set(door)
        with pytest.raises(Unreachable, match=words):
            await handle.cancel()
        doorway.set(Door.OPEN)
        assert await handle.cancel() is CancelOutcome.CANCELLED


async def test_one_lost_request_does_not_take_others_with_it(
    doorway: Doorway, url: str, ledger: Ledger, tmp_path: Path
) -> None:
    """The SDK's transport would end every request of the connection with the first lost one."""
    marker = tmp_path / "held"
    lost: list[Unreachable] = []
    async with connect(doorway.url, ledger=ledger) as server, anyio.create_task_group() as tasks:

        async def hold() -> None:
            try:
                await server.call("hold", {"marker": str(marker)})
            except Unreachable as why:
                lost.append(why)

        tasks.start_soon(hold)
        await wait_until(marker.exists)
        doorway.set(Door.HANGING_UP)
        with pytest.raises(Unreachable):
            await server.start("greet", {"name": "Ada"})
        doorway.set(Door.OPEN)
        result = await server.call("greet", {"name": "Ada"})
        assert isinstance(result.content[0], TextContent)
    assert len(lost) == 1


async def test_an_answer_given_while_the_server_is_away_is_delivered_later(
    doorway: Doorway, ledger: Ledger
) -> None:
    async def answer(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        doorway.set(Door.HANGING_UP)
        return {"action": "accept", "content": {"confirm": True}}

    with anyio.fail_after(30):
        async with connect(doorway.url, ledger=ledger, on_input=answer) as server:
            handle = await server.start("delete", {"file": "a.txt"})
            await until(handle, State.UNREACHABLE)
            doorway.set(Door.OPEN)
            result = await handle.result()
    assert isinstance(result.content[0], TextContent)
    assert result.content[0].text == "Deleted a.txt."


async def test_a_server_behind_a_gateway_that_is_away_is_unreachable(
    doorway: Doorway, ledger: Ledger
) -> None:
    doorway.set(Door.AWAY)
    async with connect(doorway.url, ledger=ledger) as server:
        with pytest.raises(Unreachable, match="HTTP 503") as away:
            await server.call("greet", {"name": "Ada"})
        assert repr(doorway.url) in str(away.value)
        doorway.set(Door.OPEN)
        await server.call("greet", {"name": "Ada"})


@pytest.mark.parametrize(
    ("door", "words"),
    [(Door.AWAY, "was not sent"), (Door.BROKEN_OFF, "may or may not have reached it")],
)
async def test_a_gateways_answer_is_no_more_than_it_says(
    doorway: Doorway, ledger: Ledger, door: Door, words: str
) -> None:
    """Ours: a 502 or 504 also comes when the server broke off: it may be working."""
    async with connect(doorway.url, ledger=ledger) as server:
        await server.call("greet", {"name": "Ada"})
        doorway.set(door)
        with pytest.raises(Unreachable, match=words):
            await server.call("greet", {"name": "Ada"})


async def test_a_caller_who_is_refused_is_told_so_and_does_not_ask_for_ever(
    doorway: Doorway, ledger: Ledger
) -> None:
    async with connect(doorway.url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 600, "seconds": 0.1})
        doorway.set(Door.REFUSING)
        with anyio.fail_after(10), pytest.raises(ProtocolFailed, match="HTTP 401"):
            await handle.result()
        doorway.set(Door.OPEN)
        await handle.cancel()
    doorway.set(Door.REFUSING)
    async with connect(doorway.url, ledger=ledger) as server:
        with pytest.raises(ProtocolFailed, match="Check the headers"):
            await server.list_tools()


@pytest.mark.parametrize(
    ("door", "status"), [(Door.ERRING, "HTTP 500"), (Door.A_WEB_PAGE, "HTTP 200")]
)
@pytest.mark.parametrize("connected", [True, False])
async def test_an_answer_that_is_no_message_says_where_it_came_from_and_what_to_do(
    doorway: Doorway, ledger: Ledger, door: Door, status: str, connected: bool
) -> None:
    async with connect(doorway.url, ledger=ledger) as server:
        if connected:
            await server.call("greet", {"name": "Ada"})
        doorway.set(door)
        with pytest.raises(ProtocolFailed, match=status) as failed:
            await server.call("greet", {"name": "Ada"})
        doorway.set(Door.OPEN)
        await server.call("greet", {"name": "Ada"})
    assert repr(doorway.url) in str(failed.value)
    assert "text/html" in str(failed.value)
    assert "Check that this is the address" in str(failed.value)


def over_stdio(store: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "tests.interaction.client.long_work_server", "--store", str(store), "--stdio"],
        cwd=str(ROOT),
    )


async def test_a_server_over_stdio_is_watched_stopped_and_resumed(
    tmp_path: Path, ledger: Ledger
) -> None:
    program = over_stdio(tmp_path / "tasks.db")
    async with connect(program, ledger=ledger) as server:
        done = await server.start("count", {"steps": 2, "seconds": 0.1})
        stopped = await server.start("count", {"steps": 600, "seconds": 0.1})
        assert await stopped.cancel() is CancelOutcome.CANCELLED
        await done.result()
    assert [entry.server for entry in ledger.entries()] == [server.name] * 2
    assert done.id
    async with connect(program, ledger=None) as server:
        assert (await (await server.resume(done.id)).result()).is_error is False


async def test_a_stdio_server_that_dies_is_started_again_when_needed(
    tmp_path: Path, ledger: Ledger
) -> None:
    async with connect(over_stdio(tmp_path / "tasks.db"), ledger=ledger) as server:
        await server.call("greet", {"name": "Ada"})
        with pytest.raises(Unreachable):
            await server.call("die")
        await server.call("greet", {"name": "Ada"})


async def test_a_command_that_is_not_there_is_unreachable(ledger: Ledger) -> None:
    async with connect(StdioServerParameters(command="no-such-program"), ledger=ledger) as server:
        with pytest.raises(Unreachable, match="no-such-program"):
            await server.call("greet")
