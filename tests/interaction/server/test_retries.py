"""A call that was asked something first, and whose reply was lost: a retry finds its task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest
from mcp.server.mcpserver import Context, Elicit, MCPServer, RequestStateSecurity, Resolve
from pydantic import BaseModel

from awhile import Tasks
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INVALID_PARAMS, Json, Peer, Reply, accepted, serving

pytestmark = pytest.mark.anyio


class Name(BaseModel):
    """What is asked."""

    name: str


def ask_for_a_name(_ctx: Context[Any, Any]) -> Elicit[Name]:
    """The question before the work."""
    return Elicit("What is your name?", Name)


class Greeting:
    """A tool that asks first, and then waits to be let go."""

    def __init__(self, app: App, **options: Any) -> None:
        self.started: list[str] = []
        self.go = anyio.Event()

        @app.tool(**options)
        async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
            self.started.append(name.name)
            await self.go.wait()
            return f"Hello, {name.name}!"


async def asked(peer: Peer) -> Json:
    """The first round: what the tool asks."""
    result = (await peer.call("greet")).result
    assert result["resultType"] == "input_required"
    return result


async def answered(peer: Peer, round_one: Json, name: str) -> Reply:
    """The second round: the same call with an answer."""
    [key] = round_one["inputRequests"]
    return await peer.ask(
        "tools/call",
        {
            "name": "greet",
            "arguments": {},
            "inputResponses": {key: accepted(name=name)},
            "requestState": round_one["requestState"],
        },
    )


async def test_the_same_answers_again_are_the_same_task(app: App) -> None:
    """Ours: a lost reply loses nothing; the work runs once."""
    tool = Greeting(app, task_support="required")
    async with app.serving() as peer:
        round_one = await asked(peer)
        first = (await answered(peer, round_one, "Ada")).result
        again = (await answered(peer, round_one, "Ada")).result
        assert again["resultType"] == first["resultType"] == "task"
        assert again["taskId"] == first["taskId"]
        tool.go.set()
        await peer.ended(first["taskId"])
        ended = (await answered(peer, round_one, "Ada")).result
        assert ended["content"][0]["text"] == "Hello, Ada!"
    assert tool.started == ["Ada"]


async def test_other_answers_to_the_same_state_are_refused(app: App) -> None:
    """Ours: -32602: the work began with those given first."""
    tool = Greeting(app, task_support="required")
    async with app.serving() as peer:
        round_one = await asked(peer)
        task_id = (await answered(peer, round_one, "Ada")).result["taskId"]
        refused = await answered(peer, round_one, "Eve")
        assert refused.error["code"] == INVALID_PARAMS
        assert "answered differently" in refused.error["message"]
        tool.go.set()
        assert (await peer.ended(task_id))["result"]["content"][0]["text"] == "Hello, Ada!"
    assert tool.started == ["Ada"]


async def test_two_retries_at_once_are_one_run(app: App) -> None:
    """Ours: the second one waits for what the first becomes."""
    tool = Greeting(app, inline_seconds=0.3)
    async with app.serving() as peer:
        round_one = await asked(peer)
        ids: list[str] = []

        async def answer() -> None:
            ids.append((await answered(peer, round_one, "Ada")).result["taskId"])

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(answer)
        tool.go.set()
        [task_id] = set(ids)
        await peer.ended(task_id)
    assert tool.started == ["Ada"]


async def test_two_calls_with_the_same_answers_are_two_tasks(app: App) -> None:
    """Ours: only a retry is joined; a second call is a second call."""
    tool = Greeting(app, task_support="required")
    async with app.serving() as peer:
        rounds = [await asked(peer), await asked(peer)]
        ids = {(await answered(peer, one, "Ada")).result["taskId"] for one in rounds}
        assert len(ids) == 2
        tool.go.set()
        for task_id in ids:
            await peer.ended(task_id)


async def test_a_tampered_state_is_refused(app: App) -> None:
    """Spec: mrtr: state that fails verification is rejected."""
    Greeting(app, task_support="required")
    async with app.serving() as peer:
        round_one = await asked(peer)
        state = round_one["requestState"]
        round_one["requestState"] = state[:-2] + ("AA" if state[-2:] != "AA" else "BB")
        assert (await answered(peer, round_one, "Ada")).error["code"] == INVALID_PARAMS


async def test_a_retry_at_another_replica_finds_the_task(tmp_path: Path) -> None:
    """Ours: replicas share the store and the keys of the request state."""
    keys = RequestStateSecurity(keys=[b"k" * 32])
    go = anyio.Event()

    def replica() -> MCPServer[Any]:
        tasks = Tasks(f"sqlite:///{tmp_path / 'tasks.db'}")
        mcp: MCPServer[Any] = MCPServer(
            "app", log_level="WARNING", request_state_security=keys, **tasks.install()
        )

        @mcp.tool()
        @tasks.tool(task_support="required")
        async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
            await go.wait()
            return f"Hello, {name.name}!"

        return mcp

    async with serving(replica()) as one, serving(replica()) as other:
        round_one = await asked(one)
        first = (await answered(one, round_one, "Ada")).result["taskId"]
        assert (await answered(other, round_one, "Ada")).result["taskId"] == first
        go.set()
        await other.ended(first)
