"""The client for scripts and notebooks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal
from mcp_types import TextContent

from awhile.client import CancelOutcome, Ledger, State, connect_sync
from awhile.errors import ToolFailed

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
YES = {"action": "accept", "content": {"confirm": True}}


def test_a_script_starts_watches_and_collects(url: str, ledger: Ledger) -> None:
    with connect_sync(url, ledger=ledger) as server:
        handle = server.start("count", {"steps": 5, "seconds": 0.1})
        assert (handle.id is not None, handle.tool) == (True, "count")
        states = [now.state for now in handle.watch()]
        block = handle.result().content[0]
        assert handle.now.ended
    assert isinstance(block, TextContent)
    assert block.text == "counted to 5"
    assert (states[0], states[-1]) == (State.WORKING, State.FINISHED)


async def test_a_notebook_whose_loop_is_running_uses_it_too(url: str, ledger: Ledger) -> None:
    """Ours: Jupyter runs each cell inside of its event loop."""
    with connect_sync(url, ledger=ledger, on_input=lambda _: YES) as server:
        handle = server.start("count", {"steps": 3, "seconds": 0.1})
        assert [now.state for now in handle.watch()][-1] is State.FINISHED
        assert server.call("delete", {"file": "a.txt"}, timeout_seconds=20).is_error is False
        assert handle.cancel() is CancelOutcome.FINISHED_ANYWAY
    # And cells may open one without leaving it, one beside the other.
    first, second = connect_sync(url, ledger=ledger), connect_sync(url, ledger=None)
    with first as one, second as other:
        assert other.resume(handle.id or "").result(timeout_seconds=20).is_error is False
        assert {tool.name for tool in one.list_tools()} == {
            tool.name for tool in other.list_tools()
        }


def test_leaving_the_loop_leaves_the_work_alone(url: str, ledger: Ledger) -> None:
    with connect_sync(url, ledger=ledger) as server:
        handle = server.start("count", {"steps": 5, "seconds": 0.1})
        for now in handle.watch():
            if now.steps:
                break
        assert handle.id
        again = server.resume(handle.id)
        assert again.result(timeout_seconds=20).is_error is False


def test_errors_come_out_as_they_are(url: str) -> None:
    with connect_sync(url, ledger=None) as server:
        with pytest.raises(ToolFailed, match="not today"):
            server.call("refuse")
        with pytest.raises(TimeoutError):
            server.call("count", {"steps": 50, "seconds": 0.1}, timeout_seconds=0.2)
    with pytest.raises(ToolFailed), connect_sync(url, ledger=None) as server:
        server.call("refuse")


def test_work_is_stopped(url: str) -> None:
    with connect_sync(url, ledger=None) as server:
        handle = server.start("count", {"steps": 600, "seconds": 0.1})
        assert handle.cancel() is CancelOutcome.CANCELLED


def test_a_question_is_asked_in_the_thread_that_waits(url: str) -> None:
    here, asked = threading.get_ident(), list[int]()

    def person(request: Mapping[str, Any]) -> Mapping[str, Any]:
        assert request["params"]["message"]
        asked.append(threading.get_ident())
        return {"action": "accept", "content": {"confirm": True}}

    with connect_sync(url, ledger=None, on_input=person) as server:
        server.call("delete", {"file": "a.txt"})
        server.call("sure")
        for _ in server.start("delete", {"file": "b.txt"}).watch():
            pass
    assert asked == [here] * 3


def test_an_error_of_the_one_who_answers_comes_out(url: str) -> None:
    def nobody(_request: Mapping[str, Any]) -> Mapping[str, Any]:
        raise LookupError("nobody knows")

    with (
        connect_sync(url, ledger=None, on_input=nobody) as server,
        pytest.raises(LookupError, match="nobody knows"),
    ):
        server.call("delete", {"file": "a.txt"})


@pytest.mark.parametrize("wait", ["handle.result()", "list(handle.watch())"])
def test_ctrl_c_ends_the_wait_and_leaves_the_task(url: str, ledger: Ledger, wait: str) -> None:
    script = f"""
import signal
from awhile import Ledger, connect_sync
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
with connect_sync({url!r}, ledger=Ledger({str(ledger.path)!r})) as server:
    handle = server.start("count", {{"steps": 15, "seconds": 0.1}})
    try:
        print("started", flush=True)
        {wait}
    except KeyboardInterrupt:
        print("left", handle.now.state.value, flush=True)
    raise KeyboardInterrupt
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "started\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out == "left working\n", err
    assert "Group" not in err
    assert err.rstrip().endswith("KeyboardInterrupt")
    [entry] = ledger.entries()
    with connect_sync(url, ledger=ledger) as server:
        assert server.resume(entry.task_id).result(timeout_seconds=20).is_error is False


@pytest.mark.parametrize("handed_over", [True, False])
def test_ctrl_c_while_a_wait_is_being_begun_leaves_nothing_behind(
    url: str, monkeypatch: pytest.MonkeyPatch, handed_over: bool
) -> None:
    """Ours: the interrupt may come before the thread has been given the wait's future."""
    begin, begun = BlockingPortal.start_task_soon, list[object]()

    def interrupt(portal: BlockingPortal, *args: Any, **options: Any) -> Any:
        begun.append(args)
        if len(begun) != 2:  # the first has news at once; the second waits for more
            return begin(portal, *args, **options)
        if handed_over:
            begin(portal, *args, **options)
        raise KeyboardInterrupt

    with connect_sync(url, ledger=None) as server:
        handle = server.start("delete", {"file": "a.txt"})
        for now in handle.watch():
            if now.state is State.NEEDS_INPUT:
                break
        monkeypatch.setattr(BlockingPortal, "start_task_soon", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(handle.watch())
        assert handle.cancel() is CancelOutcome.CANCELLED
