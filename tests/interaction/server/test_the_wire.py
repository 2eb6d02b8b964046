"""What a 2026-07-28 client reads, and what it is refused with: the gates the SDK leaves to us."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

import anyio
import httpx2
import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context

from awhile import Run
from awhile.stores.contract import Held, Store
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    TASKS,
    Json,
    Peer,
    run_facts,
)

pytestmark = pytest.mark.anyio

TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"]


def params_of(method: str, task_id: str) -> Json:
    return {"taskId": task_id, **({"inputResponses": {}} if method == "tasks/update" else {})}


class Waiting:
    """Bodies that wait until they are let go."""

    def __init__(self, app: App) -> None:
        self.go = anyio.Event()

        @app.tool(inline_seconds=0)
        async def wait(run: Run) -> str:
            run.report(1, 4, "waiting")
            await self.go.wait()
            return "done"


async def test_discover_advertises_the_extension(app: App) -> None:
    """Spec: ext-tasks, Capability Negotiation."""
    async with app.serving() as peer:
        capabilities = (await peer.ask("server/discover", {})).result["capabilities"]
    assert capabilities["extensions"] == {TASKS: {}}
    assert "tasks" not in capabilities


@pytest.mark.parametrize("method", TASK_METHODS)
async def test_an_undeclared_client_is_refused_before_any_look_up(app: App, method: str) -> None:
    """Spec: ext-tasks, Error Handling: -32021, whether or not the id exists."""
    async with app.serving() as peer:
        reply = await peer.undeclared().ask(method, params_of(method, "no-such-task"))
    assert reply.http == 400
    assert reply.error["code"] == MISSING_CAPABILITY
    assert reply.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


@pytest.mark.parametrize("method", TASK_METHODS)
@pytest.mark.parametrize("name", ["", "another-id"], ids=["missing", "wrong"])
async def test_mcp_name_has_to_be_the_task_id(app: App, method: str, name: str) -> None:
    """Spec: ext-tasks, Routing Headers: -32020 with HTTP 400."""
    waiting = Waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("wait")
        reply = await peer.ask(method, params_of(method, task_id), name=name)
        assert reply.http == 400
        assert reply.error["code"] == HEADER_MISMATCH
        assert not (await peer.get(task_id))["_meta"]["awhile/run"].get("cancelAskedAt")
        waiting.go.set()
        await peer.ended(task_id)


def caller(ctx: ServerRequestContext[Any, Any]) -> str:
    """Stands in for a verified token: the principal is a header here."""
    return str(ctx.request.headers.get("x-caller", "nobody")) if ctx.request else "nobody"


@pytest.mark.parametrize("method", TASK_METHODS)
async def test_a_foreign_task_reads_exactly_like_an_unknown_one(app: App, method: str) -> None:
    """Spec: ext-tasks, auth binding. Ours: the same bytes, so nothing is learned from trying."""
    owned = App(app.store, principal=caller)
    waiting = Waiting(owned)
    async with owned.serving() as peer, httpx2.AsyncClient() as http:

        async def asked(by: str, task_id: str) -> tuple[int, bytes]:
            request = peer.request(method, params_of(method, task_id), headers={"x-caller": by})
            body = json.loads(request.content) | {"id": 1}
            sent = http.build_request(
                "POST", peer.url, json=body, headers=_without_length(request.headers)
            )
            response = await http.send(sent)
            return response.status_code, response.content

        task_id = await peer.start("wait")  # by "nobody"
        foreign = await asked("mallory", task_id)
        unknown = await asked("mallory", secrets.token_hex(16))
        assert foreign == unknown
        assert foreign[0] == 400
        assert json.loads(foreign[1])["error"]["code"] == INVALID_PARAMS
        assert (await asked("nobody", task_id))[0] == 200
        waiting.go.set()
        await peer.ended(task_id)


def _without_length(headers: httpx2.Headers) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name != "content-length"}


@pytest.mark.parametrize("method", ["tasks/list", "tasks/result"])
async def test_the_methods_of_2025_are_not_found(app: App, method: str) -> None:
    """Spec: ext-tasks: removed, whatever the headers say."""
    async with app.serving() as peer:
        assert (await peer.ask(method, {})).error["code"] == -32601


async def test_a_live_task_has_no_ttl_and_an_ended_one_has(app: App) -> None:
    """Spec: ext-tasks: integer milliseconds from createdAt, or null; the member is always there."""
    go = anyio.Event()

    @app.tool(inline_seconds=0, keep_seconds=3600)
    async def wait() -> str:
        await go.wait()
        return "done"

    async with app.serving() as peer:
        created = (await peer.call("wait")).result
        live = await peer.get(created["taskId"])
        assert created["ttlMs"] is None
        assert live["ttlMs"] is None
        go.set()
        ended = await peer.ended(created["taskId"])
    lived_ms = (_instant(ended["lastUpdatedAt"]) - _instant(ended["createdAt"])) * 1000
    assert isinstance(ended["ttlMs"], int)
    assert ended["ttlMs"] == pytest.approx(lived_ms + 3_600_000, abs=2)


async def test_instants_have_a_zone_and_intervals_are_whole_milliseconds(app: App) -> None:
    """Spec: ext-tasks, Task."""
    waiting = Waiting(app)
    async with app.serving() as peer:
        task = (await peer.call("wait")).result
        assert task["createdAt"].endswith("Z")
        assert task["lastUpdatedAt"].endswith("Z")
        assert isinstance(task["pollIntervalMs"], int)
        waiting.go.set()
        await peer.ended(task["taskId"])


async def test_last_updated_at_stands_still_while_nothing_changes(app: App) -> None:
    """Ours: a poll, a lease renewal and an answer nobody asked for are no changes."""
    quick = App(app.store, lease_seconds=0.06)
    waiting = Waiting(quick)
    async with quick.serving() as peer:
        task_id = await peer.start("wait")
        first = await peer.until(task_id, lambda task: task["statusMessage"] == "waiting")
        renewed = await renewals(quick, task_id)
        await peer.update(task_id, {"nobody asked": {"action": "decline"}})
        await renewed.wait()
        later = await peer.get(task_id)
        assert later == first
        waiting.go.set()
        ended = await peer.ended(task_id)
        assert ended["lastUpdatedAt"] > first["lastUpdatedAt"]
        again = await peer.get(task_id)
    assert again == ended


async def renewals(app: App, task_id: str) -> anyio.Event:
    """An event that is set once the task's lease has been renewed."""
    store, renewed = cast("Store", app.tasks.store), anyio.Event()
    renew = store.renew

    async def noticed(held: Sequence[Held], *, at_ms: int, until_ms: int) -> Sequence[Held]:
        lost = await renew(held, at_ms=at_ms, until_ms=until_ms)
        if any(one.task_id == task_id for one in held):
            renewed.set()
        return lost

    store.renew = noticed  # type: ignore[method-assign]
    return renewed


async def test_a_result_is_the_same_however_often_and_by_whomever_it_is_read(app: App) -> None:
    """Ours: field case A7."""

    @app.tool(task_support="required", kept="always")
    async def quick() -> dict[str, int]:
        return {"answer": 42}

    async with app.serving() as peer, httpx2.AsyncClient() as http:
        other = Peer(peer.url, http)
        task_id = await peer.start("quick")
        first = await peer.ended(task_id)
        for one in (peer, other, peer, other):
            assert await one.get(task_id) == first
    assert first["result"]["structuredContent"] == {"answer": 42}


async def test_get_update_and_cancel_say_complete(app: App) -> None:
    """Spec: ext-tasks: `resultType` "task" is for CreateTaskResult alone."""
    waiting = Waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("wait")
        assert (await peer.get(task_id))["resultType"] == "complete"
        assert (await peer.update(task_id, {})).result["resultType"] == "complete"
        acknowledged = await peer.cancel(task_id)
        assert acknowledged["resultType"] == "complete"
        assert acknowledged.keys() <= {"resultType", "_meta"}
        await peer.ended(task_id)
    assert not waiting.go.is_set()


async def test_a_cancelled_task_has_neither_result_nor_error(app: App) -> None:
    """Spec: ext-tasks, CancelledTask."""
    Waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("wait")
        await peer.cancel(task_id)
        task = await peer.ended(task_id)
    assert task["status"] == "cancelled"
    assert task.keys().isdisjoint({"result", "error", "inputRequests"})


async def test_the_owner_can_find_their_own_runs_and_no_others_a20(app: App) -> None:
    """Ours: field case A20; the 2026 era has no listing, so a tool of the server gives one."""
    owned = App(app.store, principal=caller)
    waiting = Waiting(owned)

    @owned.mcp.tool()
    async def list_runs(ctx: Context[Any, Any]) -> list[str]:
        return [one.task_id for one in await owned.tasks.find(ctx)]

    @owned.mcp.tool()
    async def status_of(task_id: str, ctx: Context[Any, Any]) -> str:
        found = await owned.tasks.mine(ctx, task_id)
        return found.status if found else "unknown"

    async with owned.serving() as peer:

        async def asked(by: str, tool: str, **arguments: str) -> Any:
            asked = {"name": tool, "arguments": arguments}
            reply = await peer.ask("tools/call", asked, headers={"x-caller": by})
            return reply.result["structuredContent"]["result"]

        mine = await peer.start("wait")
        assert await asked("nobody", "list_runs") == [mine]
        assert await asked("nobody", "status_of", task_id=mine) == "working"
        assert await asked("mallory", "list_runs") == []
        assert await asked("mallory", "status_of", task_id=mine) == "unknown"
        waiting.go.set()
        await peer.ended(mine)


async def test_what_a_run_did_is_told_beside_the_extension(app: App) -> None:
    """Ours: `_meta["awhile/run"]` has the progress and the facts about stopping."""
    waiting = Waiting(app)
    async with app.serving() as peer:
        task_id = await peer.start("wait")
        facts = run_facts(await peer.until(task_id, lambda t: "progress" in run_facts(t)))
        assert facts["progress"].items() >= {"done": 1, "total": 4, "message": "waiting"}.items()
        assert facts["attempt"] == 1
        assert [step["message"] for step in facts["steps"]] == ["waiting"]
        await peer.cancel(task_id)
        facts = run_facts(await peer.ended(task_id))
    assert facts["stoppedHow"] == "coroutine_ended"
    assert facts["stoppedAt"] >= facts["cancelAskedAt"]
    assert not waiting.go.is_set()


def _instant(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
