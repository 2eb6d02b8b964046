"""A child process can be talked to, ends with its parent, and is known to be gone."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import anyio
import psutil
import pytest

from awhile.processes import Child, ChildEnded
from tests.machine.processes.waiting import gone, wait_until

pytestmark = pytest.mark.anyio

BODIES = "tests.machine.processes.bodies"
ROOT = Path(__file__).parents[3]


async def test_messages_of_any_size_go_both_ways() -> None:
    async with await Child.start(f"{BODIES}:echo", "hello") as child:
        assert await child.receive() == "hello"
        for message in (None, {"a": [1, 2.5]}, b"x" * 5_000_000):
            await child.send(message)
            assert await child.receive() == message


async def test_a_cancelled_receive_loses_nothing() -> None:
    async with await Child.start(f"{BODIES}:echo", "hello") as child:
        assert await child.receive() == "hello"
        big = b"y" * 20_000_000
        got: list[object] = []
        async with anyio.create_task_group() as group:
            group.start_soon(child.send, big)
            while not got:
                with anyio.move_on_after(0.001):
                    got.append(await child.receive())
        assert got == [big]


async def test_a_child_that_exits_is_reported_with_its_last_words() -> None:
    child = await Child.start(f"{BODIES}:say_and_fail")
    with pytest.raises(ChildEnded, match="about to give up") as ended:
        await child.receive()
    assert (ended.value.exit_code, ended.value.signal) == (3, None)
    assert not child.running


async def test_a_function_that_does_not_exist_is_named_in_the_last_words() -> None:
    child = await Child.start(f"{BODIES}:no_such_function")
    with pytest.raises(ChildEnded, match="no_such_function"):
        await child.receive()


async def test_a_killed_child_has_been_reaped_when_kill_returns() -> None:
    child = await Child.start(f"{BODIES}:spin_holding_the_interpreter")
    await child.receive()
    await child.kill()
    assert not psutil.pid_exists(child.pid)
    with pytest.raises(ChildEnded) as ended:
        await child.receive()
    assert ended.value.signal == signal.SIGKILL
    with pytest.raises(ChildEnded):
        await child.send("hello?")


async def test_terminating_is_enough_for_a_child_that_lets_it() -> None:
    child = await Child.start(f"{BODIES}:echo", "hello")
    await child.receive()
    assert await child.terminate(5) == "ended by SIGTERM"
    assert await child.terminate(5) == "already ended"


async def test_a_child_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    child = await Child.start(f"{BODIES}:ignore_sigterm")
    await child.receive()
    began = time.monotonic()
    assert await child.terminate(0.2) == "ended by SIGKILL"
    assert 0.2 <= time.monotonic() - began < 2
    assert not psutil.pid_exists(child.pid)


async def test_a_kill_reaches_what_the_child_has_started() -> None:
    child = await Child.start(f"{BODIES}:with_a_grandchild")
    grandchild = await child.receive()
    assert isinstance(grandchild, int)
    await child.kill()
    await wait_until(lambda: gone(grandchild), 1)


@pytest.mark.parametrize("body", ["spin_holding_the_interpreter", "with_a_grandchild"])
async def test_a_child_ends_within_a_second_of_its_parents_kill_9(body: str) -> None:
    """Even one in C code that lets no other thread run (Linux: the kernel's death signal)."""
    parent = subprocess.Popen(  # noqa: ASYNC220 - a parent that is not one of ours
        [sys.executable, "-m", "tests.machine.processes.parent", f"{BODIES}:{body}"],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        pid = int(parent.stdout.readline())
        children = psutil.Process(parent.pid).children()
        parent.kill()
        for child in children:
            await wait_until(lambda child=child: gone(child.pid), 1)
    if body == "with_a_grandchild" and not gone(pid):
        psutil.Process(pid).kill()  # a grandchild is not covered by a kill -9 of our parent


async def test_a_child_outlives_the_thread_that_started_it() -> None:
    """The kernel's death signal follows the forking thread, so one lasting thread forks."""
    started: list[Child] = []

    async def start() -> None:
        started.append(await Child.start(f"{BODIES}:echo", "hello"))

    thread = threading.Thread(target=anyio.run, args=(start,))
    thread.start()
    thread.join()
    assert started[0].running
    await started[0].kill()
