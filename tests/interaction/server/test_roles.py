"""Replicas that run no work, and workers that do: one module, one store, two roles."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context, Elicit, MCPServer, RequestStateSecurity, Resolve
from pydantic import BaseModel

from awhile import Run, Tasks
from awhile.errors import SettingsError
from awhile.tasks import Status, TaskRecord
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import PATIENCE_SECONDS, Json, Peer, accepted, serving, until

pytestmark = pytest.mark.anyio

AnyContext = Context[Any, Any]


class Name(BaseModel):
    """What is asked."""

    name: str


def ask_for_a_name(_ctx: AnyContext) -> Elicit[Name]:
    """The question before the work."""
    return Elicit("What is your name?", Name)


class Module:
    """What a module holds: an MCPServer with tools. Each process builds its own."""

    def __init__(self, here: str, go: anyio.Event, began: list[str], **settings: Any) -> None:
        self.tasks = Tasks(keep_headers=["x-tenant"], **settings)

        @asynccontextmanager
        async def lifespan(_server: Any) -> AsyncGenerator[dict[str, str]]:
            yield {"where": here}

        keys = RequestStateSecurity(keys=[b"k" * 32])
        self.mcp: MCPServer[Any] = MCPServer(
            "roles",
            log_level="WARNING",
            request_state_security=keys,
            **self.tasks.install(lifespan=lifespan),
        )
        mcp, tasks = self.mcp, self.tasks

        @mcp.tool()
        @tasks.tool(inline_seconds=30)
        async def quick(ctx: AnyContext, run: Run) -> dict[str, str | None]:
            run.report(1, 2, "half")
            headers = ctx.headers or {}
            return {
                "where": ctx.request_context.lifespan_context["where"],
                "owner": run.owner,
                "tenant": headers.get("x-tenant"),
                "agent": headers.get("user-agent"),
            }

        @mcp.tool()
        @tasks.tool(inline_seconds=0.1)
        async def slow(number: int, run: Run) -> str:
            began.append(here)
            run.report(number, None, "waiting")
            await go.wait()
            return f"{number} at {here}"

        @mcp.tool()
        @tasks.tool(task_support="forbidden")
        async def never_a_task(run: Run) -> str:
            return f"{here}, {run.id}"

        @mcp.tool()
        async def no_task_tool(ctx: AnyContext) -> str:
            return str(ctx.request_context.lifespan_context["where"])

        @mcp.tool()
        @tasks.tool(inline_seconds=30)
        async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
            return f"Hello, {name.name}, from {here}!"

        @mcp.tool()
        @tasks.tool(inline_seconds=30)
        async def asks(ctx: AnyContext) -> str:
            return (await ctx.elicit("What is your name?", Name)).action


class Fleet:
    """Two replicas without work and one worker, in this event loop, on one store."""

    def __init__(self, folder: Path) -> None:
        self.go = anyio.Event()
        self.began: list[str] = []
        self.store = f"sqlite:///{folder / 'tasks.db'}"
        self.settings: dict[str, Any] = {}
        self.replica = self.module("one", slots=0)

    def module(self, here: str, **settings: Any) -> Module:
        """The module, deployed as an operator would."""
        module = Module(here, self.go, self.began, **self.settings)
        module.tasks.deploy(store=self.store, **settings)
        return module

    async def recorded(self, happened: Callable[[TaskRecord], bool]) -> TaskRecord:
        """The newest task, once it is so."""
        store = self.replica.tasks.store
        async with store.watch() as watch:
            while True:
                found = await store.find(owner="anonymous", limit=1)
                if found and happened(found[0]):
                    return found[0]
                assert await watch.wait(PATIENCE_SECONDS), f"still not so: {found}"

    @asynccontextmanager
    async def working(self) -> AsyncGenerator[Module]:
        """A worker: the module's lifespan, and no transport."""
        module = self.module("worker")
        lifespan = module.mcp.settings.lifespan
        assert lifespan is not None
        async with lifespan(module.mcp):
            yield module

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[tuple[Peer, Peer]]:
        """The two replicas."""
        one, two = self.replica, self.module("two", slots=0)
        async with serving(one.mcp) as first, serving(two.mcp) as second:
            yield first, second

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[tuple[Peer, Peer]]:
        """All three."""
        async with self.working(), self.serving() as peers:
            yield peers


@pytest.fixture
def fleet(tmp_path: Path) -> Fleet:
    return Fleet(tmp_path)


async def test_a_quick_call_at_a_replica_without_work_is_answered_inline(fleet: Fleet) -> None:
    """Ours: its body ran in the worker, and saw that process's lifespan, the caller's own
    principal, and of the headers the one that tasks keep."""
    async with fleet.running() as (one, _):
        request: Json = {"name": "quick", "arguments": {}}
        reply = await one.ask("tools/call", request, headers={"x-tenant": "acme"})
        assert reply.result["structuredContent"] == {
            "where": "worker",
            "owner": "anonymous",
            "tenant": "acme",
            "agent": None,
        }


async def test_progress_of_a_call_that_runs_elsewhere_comes_from_its_row(fleet: Fleet) -> None:
    """Ours: under the caller's token, before the answer."""
    async with fleet.running() as (one, _), anyio.create_task_group() as beside:

        async def let_go() -> None:
            await fleet.recorded(lambda record: record.progress is not None)
            fleet.go.set()

        beside.start_soon(let_go)
        reply = await one.undeclared().call("slow", number=7, meta={"progressToken": "t"})
        assert reply.text == "7 at worker"
        assert [(one["progress"], one["message"]) for one in reply.progress] == [(7, "waiting")]


async def test_a_slow_call_becomes_a_task_that_every_replica_answers_for(fleet: Fleet) -> None:
    """Ours; field case A21: created at one, looked at and collected at the other."""
    async with fleet.running() as (one, two):
        task_id = await one.start("slow", number=1)
        await two.until(task_id, lambda task: task["statusMessage"] == "waiting")
        fleet.go.set()
        task = await two.ended(task_id)
        assert task["result"]["content"][0]["text"] == "1 at worker"
        assert fleet.began == ["worker"]


async def test_a_task_no_worker_has_taken_is_cancelled_at_another_replica(fleet: Fleet) -> None:
    """Ours; field case A21: the work never starts."""
    async with fleet.serving() as (one, two):
        task_id = await one.start("slow", number=1)
        await two.cancel(task_id)
        task = await one.ended(task_id)
        assert task["statusMessage"] == "Cancelled before it started."
    assert fleet.began == []


async def test_tools_that_are_never_tasks_run_in_the_replica(fleet: Fleet) -> None:
    """Ours: also where no worker is."""
    async with fleet.serving() as (one, _):
        assert (await one.call("never_a_task")).text == "one, None"
        assert (await one.call("no_task_tool")).text == "one"


async def test_arguments_that_cannot_work_are_refused_before_there_is_a_row(fleet: Fleet) -> None:
    """Ours: as at a replica that works itself."""
    async with fleet.serving() as (one, _):
        reply = await one.call("slow", number="not a number")
        assert reply.result["isError"] is True
        assert await fleet.replica.tasks.store.find(owner="anonymous") == []


async def test_a_question_asked_at_one_replica_is_answered_at_another(fleet: Fleet) -> None:
    """Ours: MRTR first, then the task; both replicas hold the key, and the worker the answers."""
    async with fleet.running() as (one, two):
        first = (await one.call("greet")).result
        assert first["resultType"] == "input_required"
        [key] = first["inputRequests"]
        answered = {
            "name": "greet",
            "arguments": {},
            "inputResponses": {key: accepted(name="Ada")},
            "requestState": first["requestState"],
        }
        assert (await two.ask("tools/call", answered)).text == "Hello, Ada, from worker!"


async def test_a_caller_that_leaves_before_it_has_a_handle_leaves_no_work(fleet: Fleet) -> None:
    """Ours: as where the body runs in the replica itself."""
    async with fleet.running() as (one, _):
        request = one.undeclared().request(
            "tools/call", {"name": "slow", "arguments": {"number": 1}}
        )
        async with one.opened(request):
            await until(lambda: bool(fleet.began), "the work has begun")
        record = await fleet.recorded(lambda record: record.status.ended)
        assert record.status is Status.CANCELLED
        assert record.cancel_reason == "its caller has left"


async def test_a_2025_caller_waits_for_a_body_that_runs_elsewhere(fleet: Fleet) -> None:
    """Ours: with progress; and with params.task it has a task at once."""
    async with (
        fleet.running() as (one, two),
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
        anyio.create_task_group() as beside,
    ):
        client = await Legacy(one.url, http).opened()
        task_id = await client.start("slow", number=3)
        await two.until(task_id, lambda task: task["statusMessage"] == "waiting")

        async def let_go() -> None:
            await fleet.recorded(lambda record: record.progress is not None)
            fleet.go.set()

        beside.start_soon(let_go)
        done = await client.call("slow", "token", number=4)
        assert done.text == "4 at worker"
        assert (await client.result(task_id)).text == "3 at worker"
        assert [one["message"] for one in done.progress] == ["waiting"]


async def test_a_drained_replica_leaves_new_work_to_others(fleet: Fleet) -> None:
    """Ours: it answers, is not ready, and runs nothing more."""
    async with fleet.serving() as (one, _):
        module = fleet.module("leaving")
        async with serving(module.mcp) as leaving:
            assert await module.tasks.ready()
            await module.tasks.drain()
            assert not await module.tasks.ready()
            task_id = await leaving.start("slow", number=1)
            assert (await one.get(task_id))["statusMessage"].startswith("Waiting to start")
    assert fleet.began == []


async def test_draining_lets_what_runs_end(fleet: Fleet) -> None:
    """Ours: and takes no longer than that."""
    module = fleet.module("leaving", drain_seconds=30)
    async with serving(module.mcp) as leaving, anyio.create_task_group() as beside:
        task_id = await leaving.start("slow", number=1)
        beside.start_soon(module.tasks.drain)
        await until(lambda: module.tasks.draining, "it drains")
        fleet.go.set()
        task = await leaving.ended(task_id)
        assert task["result"]["content"][0]["text"] == "1 at leaving"


@pytest.mark.parametrize("name", ["Authorization", "cookie"])
def test_headers_that_prove_who_calls_are_never_kept(name: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match="could call as that caller"):
        Tasks(keep_headers=[name])


async def test_a_module_without_a_store_says_where_one_comes_from() -> None:
    """Ours."""
    mcp: MCPServer[Any] = MCPServer("nowhere", log_level="WARNING", **Tasks().install())
    lifespan = mcp.settings.lifespan
    assert lifespan is not None
    with pytest.raises(SettingsError, match=r"--store sqlite:///tasks\.db"):
        async with lifespan(mcp):
            pass


async def test_who_cannot_be_asked_is_told_so_alike_wherever_the_body_runs(fleet: Fleet) -> None:
    """Ours: the same error, from a replica with work and from one without."""
    fleet.settings["companion_tools"] = False
    without, with_work = fleet.module("one", slots=0), fleet.module("both")
    async with fleet.working(), serving(without.mcp) as one, serving(with_work.mcp) as both:
        there, here = [await peer.undeclared().call("asks") for peer in (one, both)]
    assert "cannot be asked: call it from a client" in here.error["message"]
    assert (there.error, there.http) == (here.error, here.http)
