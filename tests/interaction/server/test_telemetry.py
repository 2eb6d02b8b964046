"""What OpenTelemetry's own SDK collects of real runs, in one process and across two."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncGenerator, Generator, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.mcpserver import MCPServer
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from awhile import Run, Tasks
from awhile.stores.open import open_store
from awhile.telemetry.logs import TaskContext
from tests.interaction.server.peer import Json, Peer, serving, until

pytestmark = [pytest.mark.anyio, pytest.mark.xdist_group("telemetry")]

ROOT = Path(__file__).parents[3]
CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE_ID, CALLER_SPAN = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331
WAIT_SECONDS = 30

logger = logging.getLogger("tool")


class Collected:
    """What the SDK has collected since the test began. A process has one SDK, set up once."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        trace.set_tracer_provider(provider)
        metrics.set_meter_provider(MeterProvider([self.reader]))

    def spans(self, name: str) -> list[ReadableSpan]:
        """The ended spans of this name."""
        return [one for one in self.exporter.get_finished_spans() if one.name == name]

    def points(self, name: str) -> list[Any]:
        """The data points of this metric now."""
        data = self.reader.get_metrics_data()
        return [
            point
            for resource in (data.resource_metrics if data else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
            if metric.name == name
            for point in metric.data.data_points
        ]

    def value(self, name: str, **said: str) -> float:
        """The value (of a histogram: the count) of all points with these attributes."""
        wanted = {key.replace("__", "."): value for key, value in said.items()}
        return sum(
            point.count if hasattr(point, "count") else point.value
            for point in self.points(name)
            if wanted.items() <= dict(point.attributes).items()
        )


@pytest.fixture(scope="module")
def set_up() -> Generator[Collected]:
    one = Collected()
    yield one
    one.exporter.shutdown()  # the SDK stays, for there is no way back, but it keeps nothing


@pytest.fixture
def collected(set_up: Collected) -> Collected:
    set_up.exporter.clear()
    return set_up


class Module:
    """A server whose tools wait to be let go."""

    def __init__(self, store: str, **settings: Any) -> None:
        self.go = anyio.Event()
        self.tasks = Tasks(store, **settings)
        self.mcp: MCPServer[Any] = MCPServer("seen", log_level="WARNING", **self.tasks.install())
        mcp, tasks = self.mcp, self.tasks

        @mcp.tool()
        @tasks.tool(inline_seconds=30)
        async def quick() -> str:
            return "quick"

        @mcp.tool()
        @tasks.tool(inline_seconds=0.05, give_up_seconds=30)
        async def slow(run: Run) -> str:
            await self.go.wait()
            logger.warning("about to end")
            return "slow"


@pytest.fixture
async def module(tmp_path: Path) -> Module:
    return Module(f"sqlite:///{tmp_path / 'tasks.db'}")


@pytest.fixture
async def peer(module: Module, collected: Collected) -> AsyncGenerator[Peer]:
    async with serving(module.mcp) as served:
        yield served


def traced_as(span: ReadableSpan) -> int:
    """The trace a span belongs to."""
    context = span.get_span_context()
    assert context is not None
    return context.trace_id


def own_id(span: ReadableSpan) -> int:
    """The span's own id."""
    context = span.get_span_context()
    assert context is not None
    return context.span_id


def parents(spans: Sequence[ReadableSpan]) -> list[int | None]:
    """The ids of the spans' parents."""
    return [one.parent.span_id if one.parent else None for one in spans]


async def call(peer: Peer, name: str, *, traced: bool = True) -> Json:
    meta = {"traceparent": CALLER} if traced else {}
    return (await peer.ask("tools/call", {"name": name, "arguments": {}}, meta=meta)).result


async def patiently_ended(peer: Peer, task_id: str) -> Json:
    """The task once it has ended, at a worker that has still to start."""
    with anyio.fail_after(WAIT_SECONDS):
        while (task := await peer.get(task_id))["status"] == "working":  # noqa: ASYNC110
            await anyio.sleep(0.05)
    return task


async def test_a_call_answered_inline_is_one_run_within_the_callers_trace(
    peer: Peer, collected: Collected
) -> None:
    """Ours: no task, no store; the body's span is a child of the SDK's own."""
    await call(peer, "quick")
    [run] = collected.spans("execute_tool quick")
    [served] = collected.spans("tools/call quick")
    assert traced_as(run) == traced_as(served) == TRACE_ID
    assert parents([served, run]) == [CALLER_SPAN, own_id(served)]
    assert run.attributes is not None
    assert run.attributes["gen_ai.tool.name"] == "quick"
    assert "awhile.task.id" not in run.attributes
    assert collected.spans("submit quick") == []


async def test_a_run_that_became_a_task_says_which_and_is_counted(
    peer: Peer, module: Module, collected: Collected
) -> None:
    """Ours."""
    before = collected.value("awhile.task.ended", gen_ai__tool__name="slow")
    task = await call(peer, "slow")
    [submit] = collected.spans("submit slow")
    module.go.set()
    await peer.ended(task["taskId"])
    await until(lambda: collected.spans("execute_tool slow") != [], "the run's span has ended")
    [run] = collected.spans("execute_tool slow")
    assert traced_as(run) == traced_as(submit) == TRACE_ID
    assert run.attributes is not None
    assert run.attributes["awhile.task.id"] == task["taskId"]
    assert run.attributes["awhile.task.attempt"] == 1
    ended = collected.value(
        "awhile.task.ended", gen_ai__tool__name="slow", awhile__task__status="completed"
    )
    assert ended == before + 1
    assert collected.value("db.client.operation.duration", db__operation__name="append") > 0
    [point] = collected.points("awhile.worker.slots")
    assert point.value == 32


async def test_a_stop_is_a_span_from_the_asking_to_the_stopping(
    peer: Peer, collected: Collected
) -> None:
    """Ours; its length is the cancel latency that is also a metric."""
    latency = "awhile.cancel.latency"
    before = collected.value(latency, awhile__stopped__how="coroutine_ended")
    task = await call(peer, "slow")
    await peer.ask("tasks/cancel", {"taskId": task["taskId"]})
    ended = await peer.ended(task["taskId"])
    assert ended["status"] == "cancelled"
    [stop] = collected.spans("stop slow")
    assert traced_as(stop) == TRACE_ID
    assert stop.attributes is not None
    assert stop.attributes["awhile.stopped.how"] == "coroutine_ended"
    assert stop.start_time is not None
    assert stop.end_time is not None
    assert 0 <= stop.end_time - stop.start_time < WAIT_SECONDS * 1e9
    assert collected.value(latency, awhile__stopped__how="coroutine_ended") == before + 1


async def test_the_store_is_counted_only_while_somebody_collects(
    tmp_path: Path, collected: Collected
) -> None:
    """Ours: tasks by state and tool, and how old the queue is."""
    module = Module(f"sqlite:///{tmp_path / 'queue.db'}", slots=1)
    async with serving(module.mcp) as peer:
        await call(peer, "slow")
        await call(peer, "slow")

        def seen() -> bool:
            queued = {"gen_ai__tool__name": "slow", "awhile__task__state": "queued"}
            return collected.value("awhile.tasks", **queued) == 1

        await until(seen, "one task is counted as queued")
        working = {"gen_ai__tool__name": "slow", "awhile__task__state": "working"}
        assert collected.value("awhile.tasks", **working) == 1
        assert collected.points("awhile.queue.age")[0].value >= 0
        assert collected.value("awhile.worker.bodies") == 1
        module.go.set()


async def test_lines_of_a_body_bear_its_task(
    peer: Peer, module: Module, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: whoever writes them, also before the line's writer could know of a task."""
    caplog.handler.addFilter(TaskContext())
    task = await call(peer, "slow")
    module.go.set()
    await peer.ended(task["taskId"])
    [line] = [one for one in caplog.records if one.name == "tool"]
    assert vars(line)["task_id"] == task["taskId"]
    assert vars(line)["trace_id"] == f"{TRACE_ID:032x}"


WORKER = """
import sys
from opentelemetry import metrics, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from mcp.server.mcpserver import MCPServer
from awhile import Tasks

provider = TracerProvider()
out = open("spans.json", "w", buffering=1)
write = lambda span: span.to_json(indent=None) + "\\n"
provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=out, formatter=write)))
trace.set_tracer_provider(provider)
tasks = Tasks()
mcp = MCPServer("seen", log_level="WARNING", **tasks.install())

@mcp.tool()
@tasks.tool(inline_seconds=0.05)
async def slow() -> str:
    return "at the worker"
"""


async def test_the_trace_goes_on_in_the_worker_of_another_process(
    tmp_path: Path, collected: Collected
) -> None:
    """Ours: the replica keeps the caller's trace with the task, and the worker goes on with it."""
    store = f"sqlite:///{tmp_path / 'tasks.db'}"
    replica = Module(store, slots=0)
    (tmp_path / "elsewhere.py").write_text(WORKER)
    async with serving(replica.mcp) as peer:
        task = await call(peer, "slow")
        command = [sys.executable, "-m", "awhile.cli.main", "worker", "elsewhere:mcp"]
        worker = await anyio.open_process([*command, "--store", store], cwd=tmp_path)
        async with worker:
            try:
                assert worker.stdout is not None
                assert await worker.stdout.receive() == b"Working on the tasks of seen.\n"
                ended = await patiently_ended(peer, task["taskId"])
                assert ended["status"] == "completed"
            finally:
                worker.terminate()
    [served] = collected.spans("tools/call slow")
    lines = (tmp_path / "spans.json").read_text().splitlines()
    spans = {one["name"]: one for one in map(json.loads, lines)}
    for name in ("queued slow", "execute_tool slow"):
        assert int(spans[name]["context"]["trace_id"], 16) == TRACE_ID
        assert int(spans[name]["parent_id"], 16) == own_id(served)
        assert spans[name]["attributes"]["awhile.task.id"] == task["taskId"]


async def test_a_task_keeps_its_callers_trace_also_without_an_sdk(tmp_path: Path) -> None:
    """Ours: so that a worker that has one can go on with it. A call without one keeps none."""
    script = UNSEEING.format(store=tmp_path / "tasks.db", caller=CALLER)
    done = await anyio.run_process([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr.decode()
    async with open_store(f"sqlite:///{tmp_path / 'tasks.db'}") as store:
        [other, record] = await store.find(owner="anonymous")
    traced, untraced = record.context, other.context
    assert traced["trace"]["traceparent"] == CALLER
    assert "trace" not in untraced


UNSEEING = """
import anyio
from mcp.server.mcpserver import MCPServer
from awhile import Tasks
from tests.interaction.server.peer import serving

tasks = Tasks("sqlite:///{store}")
mcp = MCPServer("seen", log_level="WARNING", **tasks.install())

@mcp.tool()
@tasks.tool(kept="always", inline_seconds=5)
async def quick() -> str:
    return "quick"

async def main():
    async with serving(mcp) as peer:
        meta = dict(traceparent="{caller}")
        await peer.ask("tools/call", dict(name="quick", arguments=dict()), meta=meta)
        await peer.ask("tools/call", dict(name="quick", arguments=dict()))

anyio.run(main)
"""
