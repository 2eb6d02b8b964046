"""One call in a child process: results and errors come back, a cancel really stops it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from awhile.processes import ChildEnded, ChildRaised, ProcessError, call_in_child, target_of
from tests.machine.processes import bodies
from tests.machine.processes.waiting import wait_until

pytestmark = pytest.mark.anyio

BODIES = "tests.machine.processes.bodies"


def unheard(done: float, total: float | None, message: str | None) -> None:
    pass


async def call(name: str, **arguments: object) -> object:
    return await call_in_child(f"{BODIES}:{name}", arguments, report=unheard, grace_seconds=1)


async def test_the_result_comes_back_from_plain_and_async_functions() -> None:
    assert await call("add", left=1, right=2) == 3
    assert await call("add_slowly", left=1, right=2) == 3


async def test_reports_arrive_in_order_before_the_result() -> None:
    heard: list[tuple[float, float | None, str | None]] = []
    result = await call_in_child(
        target_of(bodies.count),
        {"to": 3},
        report=lambda done, total, message: heard.append((done, total, message)),
        grace_seconds=1,
    )
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
    assert result == "counted"


async def test_an_exception_comes_back_with_its_name_message_and_traceback() -> None:
    with pytest.raises(ChildRaised) as raised:
        await call("refuse")
    assert raised.value.type_name == f"{BODIES}.TooBig"
    assert raised.value.message == "12 is too big"
    assert "in refuse" in raised.value.traceback


async def test_a_result_that_cannot_travel_is_an_error_that_says_so() -> None:
    with pytest.raises(ChildRaised, match="pickle"):
        await call("unpicklable")


async def test_a_crash_is_an_ended_child_with_its_signal() -> None:
    with pytest.raises(ChildEnded) as ended:
        await call("die")
    assert ended.value.signal == 11


class Cancelled:
    """Runs a ticking function in a child and cancels it once the ticks are seen."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stopped: list[tuple[str, float]] = []
        self.late: list[object] = []

    async def run(self, name: str, grace_seconds: float = 1) -> None:
        self.path.touch()
        async with anyio.create_task_group() as group:
            group.start_soon(self._call, name, grace_seconds)
            await wait_until(lambda: self.path.stat().st_size > 3 or name == "hooked", 10)
            group.cancel_scope.cancel()
        # Nothing may be written any more: the effect, not the word for it, has to have stopped.
        size = self.path.stat().st_size
        await anyio.sleep(0.1)
        assert self.path.stat().st_size == size

    async def _call(self, name: str, grace_seconds: float) -> None:
        await call_in_child(
            f"{BODIES}:{name}",
            {"path": str(self.path)},
            report=unheard,
            grace_seconds=grace_seconds,
            on_stopped=lambda how, seconds: self.stopped.append((how, seconds)),
            on_late_result=self.late.append,
        )


async def test_a1_a_function_that_asks_nobody_is_terminated_at_once(tmp_path: Path) -> None:
    cancelled = Cancelled(tmp_path / "ticks")
    await cancelled.run("tick", grace_seconds=30)
    [(how, seconds)] = cancelled.stopped
    assert how == "the process was ended by SIGTERM"
    assert seconds < 1


async def test_a1_a_function_that_looks_at_its_run_ends_by_itself(tmp_path: Path) -> None:
    cancelled = Cancelled(tmp_path / "ticks")
    await cancelled.run("tick_until_told", grace_seconds=30)
    [(how, seconds)] = cancelled.stopped
    assert how == "the function returned after being told to stop"
    assert seconds < 1
    assert cancelled.late == ["stopped when told"]


async def test_a1_a_function_that_shrugs_is_killed_after_the_grace(tmp_path: Path) -> None:
    cancelled = Cancelled(tmp_path / "ticks")
    await cancelled.run("deaf", grace_seconds=0.2)
    [(how, seconds)] = cancelled.stopped
    assert how == "the process was ended by SIGKILL"
    assert 0.4 <= seconds < 2


class StopMeets:
    """A journal that is stopped while it notes one thing."""

    def __init__(self, moment: str, stop: Callable[[], None]) -> None:
        self.moment, self.stop = moment, stop

    async def begin(self, key: str) -> tuple[str, bool, object]:
        await self._meets("begin")
        return key, False, None

    async def finish(self, key: str, outcome: object) -> None:
        await self._meets("finish")

    async def _meets(self, moment: str) -> None:
        if moment == self.moment:
            self.stop()
            await checkpoint()


@pytest.mark.parametrize(
    ("moment", "came_to"),
    [("begin", "once('job') was not begun: a stop was asked"), ("finish", "started")],
)
async def test_a1_a_stop_while_something_is_noted_leaves_the_function_to_end_by_itself(
    moment: str, came_to: str
) -> None:
    """Ours: it was never answered, or the stop became an error and the child was only killed."""
    stopped: list[str] = []
    late: list[object] = []
    with anyio.CancelScope() as scope:
        await call_in_child(
            target_of(bodies.once_then_wait),
            {},
            report=unheard,
            grace_seconds=30,
            on_stopped=lambda how, seconds: stopped.append(how),
            on_late_result=late.append,
            journal=StopMeets(moment, scope.cancel),
        )
    assert stopped == ["the function returned after being told to stop"]
    assert late == [came_to]


async def test_a1_the_cancel_hook_runs_in_the_child(tmp_path: Path) -> None:
    path = tmp_path / "note"
    stopped: list[tuple[str, float]] = []
    started = anyio.Event()

    async def work() -> None:
        await call_in_child(
            f"{BODIES}:hooked",
            {"path": str(path)},
            report=lambda done, total, message: started.set(),
            grace_seconds=30,
            on_stopped=lambda how, seconds: stopped.append((how, seconds)),
        )

    async with anyio.create_task_group() as group:
        group.start_soon(work)
        await started.wait()
        group.cancel_scope.cancel()
    assert path.read_text() == "interrupted"
    assert stopped[0][0] == "the function raised after being told to stop"


def test_a_function_of_the_running_script_can_be_called_in_a_child(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "import anyio\n"
        "from awhile.processes import call_in_child, target_of\n"
        "def double(number):\n"
        "    return number * 2\n"
        "async def main():\n"
        "    print(await call_in_child(target_of(double), {'number': 21},\n"
        "        report=lambda *_: None, grace_seconds=1))\n"
        "if __name__ == '__main__':\n"
        "    anyio.run(main)\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (ended.stdout, ended.returncode) == ("42\n", 0), ended.stderr


def test_a_lambda_is_refused_with_the_way_out() -> None:
    with pytest.raises(ProcessError, match="top level of a module"):
        target_of(lambda: None)


def test_values_of_the_running_scripts_own_classes_travel_both_ways(tmp_path: Path) -> None:
    """Ours: the commonest server is one script, with its models in it. The call never ended."""
    script = tmp_path / "job.py"
    script.write_text(
        "import anyio\n"
        "from dataclasses import dataclass\n"
        "from awhile.processes import call_in_child, target_of\n"
        "import beside\n"
        "@dataclass\n"
        "class Order:\n"
        "    number: int\n"
        "def next_one(order: Order, thing: beside.Thing) -> Order:\n"
        "    return Order(order.number + 1)\n"
        "async def main():\n"
        "    given = {'order': Order(1), 'thing': beside.Thing()}\n"
        "    with anyio.fail_after(20):\n"
        "        print(await call_in_child(target_of(next_one), given,\n"
        "              report=print, grace_seconds=1) == Order(2))\n"
        "if __name__ == '__main__':\n"
        "    anyio.run(main)\n"
    )
    (tmp_path / "beside.py").write_text("class Thing:\n    pass\n")
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


async def test_an_argument_that_cannot_be_read_in_the_child_ends_the_call() -> None:
    """Ours: it was never read, and the call never ended."""
    with anyio.fail_after(20), pytest.raises(ChildEnded, match="unreadable on purpose"):
        await call("add", left=bodies.Unreadable(), right=2)
