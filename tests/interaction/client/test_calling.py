"""Calling a tool: an answer at once, or a handle to come back with."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from mcp_types import TextContent

from awhile import errors
from awhile.client import Handle, Ledger, Now, State, connect
from awhile.errors import Expired, ProtocolFailed, SettingsError, ToolFailed

pytestmark = pytest.mark.anyio


def text(result: object) -> str:
    """The first text of a tool's result."""
    block = getattr(result, "content")[0]  # noqa: B009 - any result-like value
    assert isinstance(block, TextContent)
    return block.text


async def seen(handle: Handle) -> list[Now]:
    """Everything a watch shows, up to the end."""
    return [now async for now in handle.watch()]


async def test_a_quick_tool_answers_without_a_handle(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("greet", {"name": "Ada"})
        assert handle.id is None
        assert [now.state for now in await seen(handle)] == [State.FINISHED]
        assert text(await handle.result()) == "Hello, Ada!"
    assert ledger.entries() == []


async def test_call_waits_to_the_end_of_long_work(url: str, ledger: Ledger) -> None:
    """Ours: field case A19, 2026-07-28: a task, and nobody has to know."""
    async with connect(url, ledger=ledger) as server:
        assert text(await server.call("count", {"steps": 2, "seconds": 0.05})) == "counted to 2"


async def test_a_watch_shows_honest_progress_and_ends_with_the_end(
    url: str, ledger: Ledger
) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 4, "seconds": 0.3})
        shown = await seen(handle)
    percents = [now.percent for now in shown if now.percent is not None]
    assert percents == sorted(percents)
    assert {now.percent for now in shown} & {25.0, 50.0, 75.0}
    assert shown[-1].state is State.FINISHED
    assert [now.ended for now in shown] == [False] * (len(shown) - 1) + [True]
    assert [step.message for step in shown[-1].steps][-1] == "all steps done"
    assert shown[-1].words == "Finished"
    assert shown[-1].message is None


async def test_two_watches_of_one_handle_share_its_polling(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 3, "seconds": 0.2})
        ends: list[State] = []

        async def watch() -> None:
            ends.append((await seen(handle))[-1].state)

        async with anyio.create_task_group() as both:
            both.start_soon(watch)
            both.start_soon(watch)
    assert ends == [State.FINISHED, State.FINISHED]


async def test_the_handle_is_on_the_disk_before_start_returns(url: str, ledger: Ledger) -> None:
    """A20: the client that crashes next finds its work again."""
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 1, "seconds": 0.05})
        [entry] = Ledger(ledger.path).entries()
        assert entry.task_id == handle.id
        assert (entry.server, entry.tool, entry.arguments) == (
            url,
            "count",
            {"steps": 1, "seconds": 0.05},
        )
        assert not entry.ended


async def test_another_connection_resumes_by_id_alone(
    url: str, ledger: Ledger, tmp_path: Path
) -> None:
    """A20: in a new process, with a ledger that never heard of it."""
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 3, "seconds": 0.2})
    assert handle.id
    async with connect(url, ledger=Ledger(tmp_path / "other.sqlite3")) as server:
        again = await server.resume(handle.id)
        assert text(await again.result()) == "counted to 3"


async def test_a_resumed_handle_knows_its_tool_and_last_message(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 50, "seconds": 0.2})
        async for now in handle.watch():
            if now.message == "step 3 of 50":
                break
    async with connect(url, ledger=ledger) as server:
        assert handle.id
        again = await server.resume(handle.id)
        assert again.tool == "count"
        assert again.now.state is State.WORKING
        assert await again.cancel() == "cancelled"


async def test_an_ending_once_seen_outlives_the_server(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 1, "seconds": 0.05})
        await handle.result()
    assert handle.id
    entry = ledger.find(url, handle.id)
    assert entry
    assert entry.status == "completed"
    # The same server under its name, but nobody is there to ask.
    async with connect(url, ledger=ledger, headers={"Host": "nowhere"}) as server:
        again = await server.resume(handle.id)
        assert again.now.ended
        assert text(await again.result()) == "counted to 1"


async def test_an_unknown_id_is_expired_not_a_crash(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.resume("0" * 32)
        assert [now.state for now in await seen(handle)][-1] is State.EXPIRED
        with pytest.raises(Expired, match="No longer kept"):
            await handle.result()


@pytest.mark.parametrize(("tool", "words"), [("refuse", "not today"), ("fail", "the disk is full")])
async def test_a_tool_that_says_no_is_failed_with_its_own_text(
    url: str, ledger: Ledger, tool: str, words: str
) -> None:
    """A8: inline, and as a task whose status is `completed`."""
    async with connect(url, ledger=ledger) as server:
        handle = await server.start(tool)
        last = (await seen(handle))[-1]
        assert last.state is State.FAILED
        assert words in (last.detail or "")
        with pytest.raises(ToolFailed, match=words) as failed:
            await handle.result()
    assert failed.value.result["isError"] is True


async def test_a_protocol_error_keeps_its_code_and_data(url: str, ledger: Ledger) -> None:
    """A8: a JSON-RPC error is not a tool that said no."""
    async with connect(url, ledger=ledger) as server:
        with pytest.raises(ProtocolFailed, match="the gauge broke") as failed:
            await server.call("break_down")
    assert (failed.value.code, failed.value.data) == (-32055, {"gauge": 7})


async def test_a_result_that_takes_too_long_leaves_the_task_alone(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        handle = await server.start("count", {"steps": 3, "seconds": 0.2})
        with pytest.raises(TimeoutError, match="the work goes on"):
            await handle.result(timeout_seconds=0.05)
        assert text(await handle.result()) == "counted to 3"


async def test_null_arguments_reach_the_server_as_null(url: str, ledger: Ledger) -> None:
    async with connect(url, ledger=ledger) as server:
        with pytest.raises(ToolFailed, match="input_value=None"):
            await server.call("greet", {"name": None})


async def test_the_servers_tools_are_listed(url: str) -> None:
    async with connect(url, ledger=None) as server:
        assert {"greet", "count"} <= {tool.name for tool in await server.list_tools()}


async def test_an_address_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(SettingsError, match="not an address"):
        async with connect("localhost:8000/mcp", ledger=None):
            pass


async def test_an_error_inside_the_connection_comes_out_as_it_was(url: str) -> None:
    """Not wrapped in a group: callers catch our errors by name."""
    with pytest.raises(errors.ToolFailed):
        async with connect(url, ledger=None) as server:
            await server.call("refuse")


async def test_the_default_ledger_is_in_the_users_data_folder(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    async with connect(url) as server:
        assert server.ledger
        assert tmp_path in server.ledger.path.parents
        assert server.ledger.path.stat().st_mode & 0o777 == 0o600
