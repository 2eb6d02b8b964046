"""Tasks of 2025-11-25: the caller decides, polls, waits, lists and cancels."""

from __future__ import annotations

import json
import secrets
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError

from awhile import Run
from awhile.identity.urls import on_this_machine
from awhile.server import v2025
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import (
    IMMEDIATE,
    LEGACY,
    METHOD_NOT_FOUND,
    RELATED,
    Legacy,
    served,
)
from tests.interaction.server.peer import INTERNAL_ERROR, INVALID_PARAMS, Json, run_facts

pytestmark = pytest.mark.anyio

MODES = pytest.mark.parametrize("stateless", [False, True], ids=["stateful", "stateless"])
EARLIER = ["2025-06-18", "2025-03-26", "2024-11-05"]


class Bodies:
    """One tool of each kind; ``work`` waits until it is let go."""

    def __init__(self, app: App) -> None:
        self.go = anyio.Event()
        self.ran: list[str] = []

        @app.tool(inline_seconds=0)
        async def work(run: Run) -> dict[str, int]:
            self.ran.append("work")
            run.report(1, 4, "reading")
            await self.go.wait()
            return {"answer": 42}

        @app.tool(task_support="required")
        async def strict() -> str:
            self.ran.append("strict")
            return "done"

        @app.tool(task_support="forbidden")
        async def never() -> str:
            self.ran.append("never")
            return "done"

        @app.tool()
        async def says_no() -> str:
            raise ToolError("no such table: sales")

        @app.tool()
        async def breaks() -> str:
            raise MCPError(code=-32050, message="the engine is down", data={"engine": "duckdb"})

        @app.mcp.tool()
        async def plain() -> str:
            self.ran.append("plain")
            return "done"


@pytest.fixture
def bodies(app: App) -> Bodies:
    return Bodies(app)


# --- what is declared ---------------------------------------------------------------------------


@MODES
async def test_the_handshake_declares_tasks(app: App, bodies: Bodies, stateless: bool) -> None:
    """Spec: 2025-11-25, Server Capabilities; a list because loopback has one caller."""
    async with served(app, stateless_http=stateless) as client:
        tasks = client.capabilities["tasks"]
    assert tasks == {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}


@MODES
async def test_tools_say_how_they_take_tasks(app: App, bodies: Bodies, stateless: bool) -> None:
    """Spec: 2025-11-25, Tool-Level Negotiation: absent means forbidden."""
    async with served(app, stateless_http=stateless) as client:
        tools = (await client.ask("tools/list", {})).result["tools"]
    support = {one["name"]: one.get("execution", {}).get("taskSupport") for one in tools}
    assert support.items() >= {
        ("work", "optional"),
        ("strict", "required"),
        ("never", "forbidden"),
        ("plain", None),
    }


@pytest.mark.parametrize("version", EARLIER)
async def test_earlier_revisions_hear_nothing_of_tasks(
    app: App, bodies: Bodies, version: str
) -> None:
    """Spec: 2025-11-25 brought tasks; its members would be unknown before."""
    async with served(app, version=version) as client:
        assert "tasks" not in client.capabilities
        tools = (await client.ask("tools/list", {})).result["tools"]
        assert all("execution" not in one for one in tools)
        for method in ("get", "list", "result", "cancel", "update"):
            reply = await client.ask(f"tasks/{method}", {"taskId": "t"})
            assert reply.error["code"] == METHOD_NOT_FOUND
        params: Json = {"name": "plain", "arguments": {}, "task": {}}
        ignored = await client.ask("tools/call", params)
        assert ignored.text == "done"
        refused = await client.call("strict")
        assert refused.error["code"] == METHOD_NOT_FOUND
    assert bodies.ran == ["plain"]


async def test_tasks_update_is_of_the_other_era(app: App, bodies: Bodies) -> None:
    """Spec: ext-tasks alone has it."""
    async with served(app) as client:
        reply = await client.ask("tasks/update", {"taskId": "t", "inputResponses": {}})
    assert reply.error["code"] == METHOD_NOT_FOUND


# --- creating -----------------------------------------------------------------------------------


@MODES
async def test_a_call_with_a_task_field_is_answered_by_a_working_task(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25, Creating Tasks: nested, `working`, with ttl and poll interval."""
    async with served(app, stateless_http=stateless) as client:
        created = await client.create("work", ttl=90_000)
        task = created["task"]
        assert task["status"] == "working"
        assert task["ttl"] == 90_000
        assert isinstance(task["pollInterval"], int)
        assert task["createdAt"].endswith("Z")
        assert task["lastUpdatedAt"].endswith("Z")
        assert created.keys() == {"task", "_meta"}
        assert task["taskId"] in created["_meta"][IMMEDIATE]
        assert "not its result" in created["_meta"][IMMEDIATE]
        bodies.go.set()
        await client.ended(task["taskId"])


async def test_a_quick_tool_begins_working_too(app: App) -> None:
    """Spec: 2025-11-25: tasks MUST begin in `working`, and the presence of `task` makes one."""

    @app.tool(inline_seconds=60)
    async def quick() -> str:
        return "done"

    async with served(app) as client:
        for _ in range(20):
            task = (await client.create("quick"))["task"]
            assert task["status"] == "working"
            assert (await client.ended(task["taskId"]))["status"] == "completed"
        assert (await client.call("quick")).text == "done"


async def test_without_a_task_field_no_task_is_made_however_long_it_takes(
    app: App, bodies: Bodies
) -> None:
    """Spec: 2025-11-25: the caller decides. Ours: the inline budget is of the other era."""
    answers: list[Json] = []
    async with served(app) as client, anyio.create_task_group() as group:

        async def call() -> None:
            answers.append((await client.call("work")).result)

        group.start_soon(call)
        with anyio.fail_after(5):
            while not bodies.ran:  # noqa: ASYNC110 - set by the body
                await anyio.sleep(0.005)
        assert (await client.ask("tasks/list", {})).result["tasks"] == []
        bodies.go.set()
    assert answers[0]["structuredContent"] == {"answer": 42}


@pytest.mark.parametrize("tool", ["never", "plain", "no_such_tool"])
async def test_a_tool_that_takes_no_tasks_refuses_one(app: App, bodies: Bodies, tool: str) -> None:
    """Spec: 2025-11-25, Tool-Level Negotiation: -32601."""
    async with served(app) as client:
        reply = await client.ask("tools/call", {"name": tool, "arguments": {}, "task": {}})
    assert reply.error["code"] == METHOD_NOT_FOUND
    unknown = f"Unknown tool: {tool!r}. tools/list says which there are."
    never = f"The tool {tool!r} never runs as a task: call it without params.task."
    assert reply.error["message"].startswith(unknown if tool == "no_such_tool" else never)
    assert bodies.ran == []


@MODES
async def test_a_task_only_tool_refuses_a_plain_call(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25, Tool-Level Negotiation: -32601, before the body starts."""
    async with served(app, stateless_http=stateless) as client:
        reply = await client.call("strict")
        assert reply.error["code"] == METHOD_NOT_FOUND
        assert "params.task" in reply.error["message"]
        assert bodies.ran == []
        task_id = await client.start("strict")
        assert (await client.result(task_id)).text == "done"


@pytest.mark.parametrize(
    ("asked", "actual"),
    [
        (None, 3_600_000),
        (-1, v2025.SHORTEST_KEEP_MS),
        (0, v2025.SHORTEST_KEEP_MS),
        (120_000, 120_000),
        (10**12, 3_600_000),
    ],
)
async def test_the_ttl_is_honoured_within_bounds_and_the_actual_one_told(
    app: App, asked: int | None, actual: int
) -> None:
    """Spec: 2025-11-25, TTL: receivers MAY override, and MUST tell what it is."""
    go = anyio.Event()

    @app.tool(keep_seconds=3600)
    async def kept() -> str:
        await go.wait()
        return "done"

    async with served(app) as client:
        task = (await client.create("kept", ttl=asked))["task"]
        assert task["ttl"] == actual
        assert (await client.get(task["taskId"]))["ttl"] == actual
        go.set()
        ended = await client.ended(task["taskId"])
    assert actual <= ended["ttl"] < actual + 10_000  # as long again after its end


async def test_live_work_outlives_its_ttl(app: App) -> None:
    """Ours: live work is never dropped (field case A3), and what is told of it stays true."""
    now = 1_795_953_600_000
    slow = App(app.store, now_ms=lambda: now)

    @slow.tool()
    async def waits() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async with served(slow) as client:
        task_id = (await client.create("waits", ttl=60_000))["task"]["taskId"]
        now += 59_000
        assert (await client.get(task_id))["ttl"] == 60_000
        now += 2_000
        assert (await client.get(task_id))["ttl"] == 61_000 + 60_000
        await client.cancel(task_id)


async def test_a_result_kept_for_ever_has_a_null_ttl(app: App) -> None:
    """Spec: 2025-11-25: `null` for unlimited; a ttl that was asked for is kept to."""

    @app.tool(keep_seconds=None)
    async def kept() -> str:
        return "done"

    async with served(app) as client:
        assert (await client.create("kept"))["task"]["ttl"] is None
        longest = (await client.create("kept", ttl=10**15))["task"]
        assert longest["ttl"] == v2025.LONGEST_KEEP_MS
        assert (await client.ended(longest["taskId"]))["ttl"] >= v2025.LONGEST_KEEP_MS


# --- results and errors -------------------------------------------------------------------------


@MODES
async def test_a_result_is_waited_for_and_tied_to_its_task(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25, Result Retrieval: blocks until the end; related-task is a MUST."""
    answers: list[Json] = []
    async with served(app, stateless_http=stateless) as client, anyio.create_task_group() as group:
        task_id = await client.start("work")

        async def wait() -> None:
            answers.append((await client.result(task_id)).result)

        group.start_soon(wait)
        group.start_soon(wait)
        await client.until(task_id, lambda one: one.get("statusMessage") == "reading")
        assert answers == []
        bodies.go.set()
        with anyio.fail_after(5):
            while len(answers) < 2:  # noqa: ASYNC110 - filled by the two waiters
                await anyio.sleep(0.005)
        again = (await client.result(task_id)).result
        assert again["structuredContent"] == {"answer": 42}
        assert again["_meta"] == {RELATED: {"taskId": task_id}}
        assert "resultType" not in again
        assert answers == [again, again]


@MODES
async def test_a_tool_that_says_no_fails_its_task_and_keeps_its_result(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25, Task Execution Errors: `failed`, and `tasks/result` still returns it."""
    async with served(app, stateless_http=stateless) as client:
        task_id = await client.start("says_no")
        task = await client.ended(task_id)
        assert task["status"] == "failed"
        assert "no such table: sales" in task["statusMessage"]
        reply = await client.result(task_id)
        assert reply.result["isError"] is True
        assert "no such table: sales" in reply.text


@MODES
async def test_a_protocol_error_comes_out_of_tasks_result_as_it_was(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25: MUST return that same JSON-RPC error."""
    async with served(app, stateless_http=stateless) as client:
        inline = await client.call("breaks")
        task_id = await client.start("breaks")
        task = await client.ended(task_id)
        assert task["status"] == "failed"
        assert task["statusMessage"] == "the engine is down"
        assert (await client.result(task_id)).error == inline.error
    assert inline.error == {
        "code": -32050,
        "message": "the engine is down",
        "data": {"engine": "duckdb"},
    }


async def test_tasks_get_carries_neither_result_nor_related_task(app: App, bodies: Bodies) -> None:
    """Spec: 2025-11-25: results travel by `tasks/result`; `taskId` is in the structure already."""
    async with served(app) as client:
        task_id = await client.start("strict")
        task = await client.ended(task_id)
        listed = (await client.ask("tasks/list", {})).result["tasks"][0]
    assert {"result", "error", "inputRequests"}.isdisjoint(task)
    assert task["_meta"].keys() == {"awhile/run"}
    assert "_meta" not in listed
    assert listed == {key: one for key, one in task.items() if key != "_meta"} | {
        "pollInterval": listed["pollInterval"]
    }


async def test_the_related_task_of_a_request_is_ignored(app: App, bodies: Bodies) -> None:
    """Spec: 2025-11-25: the `taskId` parameter is the source of truth."""
    async with served(app) as client:
        one, other = await client.start("strict"), await client.start("says_no")
        meta = {RELATED: {"taskId": other}}
        reply = await client.ask("tasks/get", {"taskId": one, "_meta": meta})
    assert reply.result["taskId"] == one


@pytest.mark.parametrize("method", ["get", "result", "cancel"])
@pytest.mark.parametrize("params", [{}, {"taskId": 5}, {"taskId": None}])
async def test_a_task_id_that_is_none_is_invalid(app: App, method: str, params: Json) -> None:
    """Spec: 2025-11-25, Protocol Errors: -32602."""
    async with served(app) as client:
        assert (await client.ask(f"tasks/{method}", params)).error["code"] == INVALID_PARAMS


async def test_A13_a_crash_in_our_handlers_leaks_nothing(
    app: App, bodies: Bodies, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: field case A13; in this era the SDK would send the exception's own text."""

    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret detail")

    async with served(app) as client:
        task_id = await client.start("strict")
        await client.ended(task_id)
        store: Any = app.tasks.store
        get, create = store.get, store.create
        monkeypatch.setattr(store, "get", broken)
        monkeypatch.setattr(store, "create", broken)
        refused = [
            await client.ask("tasks/get", {"taskId": task_id}),
            await client.ask("tasks/result", {"taskId": task_id}),
            await client.ask("tools/call", {"name": "strict", "arguments": {}, "task": {}}),
        ]
        monkeypatch.setattr(store, "get", get)
        monkeypatch.setattr(store, "create", create)
    for reply in refused:
        assert reply.error["code"] == INTERNAL_ERROR
        assert "secret" not in json.dumps(reply.message)
    assert "secret detail" in caplog.text


# --- cancelling ---------------------------------------------------------------------------------


@MODES
async def test_a_cancel_is_the_ending_when_it_is_answered(
    app: App, bodies: Bodies, stateless: bool
) -> None:
    """Spec: 2025-11-25, Task Cancellation. Ours: the proof comes later, as a fact beside it."""
    async with served(app, stateless_http=stateless) as client:
        task_id = await client.start("work")
        await client.until(task_id, lambda one: one.get("statusMessage") == "reading")
        reply = (await client.cancel(task_id)).result
        assert reply["taskId"] == task_id
        assert reply["status"] == "cancelled"
        assert RELATED not in reply["_meta"]
        told = await client.until(task_id, lambda one: "stoppedHow" in run_facts(one))
        assert run_facts(told)["stoppedHow"] == "coroutine_ended"
        for name in ("status", "statusMessage", "lastUpdatedAt", "createdAt"):
            assert told[name] == reply[name]
        refused = await client.result(task_id)
        assert refused.error["code"] == INTERNAL_ERROR
        assert refused.error["data"] == {"reason": "cancelled"}
    assert not bodies.go.is_set()


@pytest.mark.parametrize(
    ("tool", "status"), [("strict", "completed"), ("says_no", "failed"), ("breaks", "failed")]
)
async def test_what_has_ended_cannot_be_cancelled(
    app: App, bodies: Bodies, tool: str, status: str
) -> None:
    """Spec: 2025-11-25, Task Cancellation: -32602."""
    async with served(app) as client:
        task_id = await client.start(tool)
        ended = await client.ended(task_id)
        reply = await client.cancel(task_id)
        assert reply.error["code"] == INVALID_PARAMS
        assert repr(status) in reply.error["message"]
        assert task_id not in reply.error["message"]
        assert await client.get(task_id) == ended | {"pollInterval": 250}


async def test_a_second_cancel_is_refused_and_ends_nobodys_wait_twice(
    app: App, bodies: Bodies
) -> None:
    """Spec: 2025-11-25. Ours: whoever waits for the result is told at once."""
    codes: list[int] = []
    async with served(app) as client, anyio.create_task_group() as group:
        task_id = await client.start("work")

        async def wait() -> None:
            codes.append((await client.result(task_id)).error["code"])

        group.start_soon(wait)
        await client.until(task_id, lambda one: one.get("statusMessage") == "reading")
        await client.cancel(task_id)
        assert (await client.cancel(task_id)).error["code"] == INVALID_PARAMS
    assert codes == [INTERNAL_ERROR]


async def test_work_that_finishes_after_its_cancel_stays_cancelled(app: App) -> None:
    """Spec: 2025-11-25: remains `cancelled` even if execution continues to completion."""
    go, at_work = anyio.Event(), anyio.Event()

    @app.tool()
    async def deaf() -> str:
        with anyio.CancelScope(shield=True):
            at_work.set()
            await go.wait()
        return "done all the same"

    async with served(app) as client:
        task_id = await client.start("deaf")
        await at_work.wait()
        cancelled = (await client.cancel(task_id)).result
        go.set()
        told = await client.until(task_id, lambda one: "stoppedAt" in run_facts(one))
        assert told["status"] == "cancelled"
        assert told["statusMessage"] == cancelled["statusMessage"]
        assert "error" in (await client.result(task_id)).message


async def test_a_disconnect_stops_no_task(app: App, bodies: Bodies) -> None:
    """Ours: whoever leaves `tasks/result`, or the session, leaves the task running."""
    async with served(app) as client:
        task_id = await client.start("work")
        response = await client.http.send(
            client.request("tasks/result", {"taskId": task_id}), stream=True
        )
        await response.aclose()
        await client.leave()
        other = await Legacy(client.url, client.http).opened()
        assert (await other.get(task_id))["status"] == "working"
        bodies.go.set()
        assert (await other.result(task_id)).result["structuredContent"] == {"answer": 42}
        await other.leave()
        del client.headers["mcp-session-id"]


# --- listing and owners -------------------------------------------------------------------------


@MODES
async def test_tasks_are_listed_page_by_page(
    app: App, bodies: Bodies, stateless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec: 2025-11-25, Task Listing: a cursor wherever there is more."""
    monkeypatch.setattr(v2025, "PAGE", 2)
    async with served(app, stateless_http=stateless) as client:
        made = [await client.start("strict") for _ in range(5)]
        found: list[str] = []
        cursor: Json = {}
        pages = 0
        while True:
            page = (await client.ask("tasks/list", cursor)).result
            found += [one["taskId"] for one in page["tasks"]]
            pages += 1
            if "nextCursor" not in page:
                break
            assert all(one not in page["nextCursor"] for one in made)
            cursor = {"cursor": page["nextCursor"]}
        for one in made:
            await client.ended(one)
    assert found == made[::-1]
    assert pages == 3


@pytest.mark.parametrize("cursor", ["", "x", "YWZ0ZXIg", "bm90IG91cnM=", "é", "YWZ0ZXIgbm9ib2R5"])
async def test_a_cursor_that_is_none_is_invalid(app: App, cursor: str) -> None:
    """Spec: 2025-11-25, Protocol Errors: -32602."""
    async with served(app) as client:
        reply = await client.ask("tasks/list", {"cursor": cursor})
    assert reply.error["code"] == INVALID_PARAMS


def caller(ctx: ServerRequestContext[Any, Any]) -> str:
    """Stands in for a verified token: the principal is a header here."""
    return str(ctx.request.headers.get("x-caller", "nobody")) if ctx.request else "nobody"


async def test_A13_a_foreign_task_reads_exactly_like_an_unknown_one(app: App) -> None:
    """Spec: 2025-11-25, Task Isolation. Ours: the same bytes; the list has one's own alone."""
    owned = App(app.store, principal=caller)
    bodies = Bodies(owned)
    async with served(owned) as client:
        client.headers["x-caller"] = "ada"
        task_id = await client.start("work")
        client.headers["x-caller"] = "mallory"
        assert (await client.ask("tasks/list", {})).result == {"tasks": []}
        for method in ("get", "result", "cancel"):
            bytes_of: list[bytes] = []
            for one in (task_id, secrets.token_hex(16)):
                request = client.request(f"tasks/{method}", {"taskId": one})
                body = json.loads(request.content) | {"id": 1}
                response = await client.http.post(client.url, json=body, headers=client.headers)
                bytes_of.append(response.content)
            assert bytes_of[0] == bytes_of[1]
            assert b"-32602" in bytes_of[0]
            assert task_id.encode() not in bytes_of[0]
        foreign_cursor = v2025._cursor_of(task_id)  # pyright: ignore[reportPrivateUsage]
        reply = await client.ask("tasks/list", {"cursor": foreign_cursor})
        assert reply.error["code"] == INVALID_PARAMS
        client.headers["x-caller"] = "ada"
        assert (await client.ask("tasks/list", {})).result["tasks"][0]["taskId"] == task_id
        bodies.go.set()
        await client.ended(task_id)


@pytest.mark.parametrize(
    "headers",
    [{"x-forwarded-for": "203.0.113.9"}, {"host": "tasks.example.com"}],
    ids=["proxied", "by name"],
)
async def test_A13_who_cannot_be_told_apart_gets_no_list(
    app: App, bodies: Bodies, headers: dict[str, str]
) -> None:
    """Spec: 2025-11-25, Task Isolation: not declared, and -32601."""
    from mcp.server.transport_security import TransportSecuritySettings

    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    async with (
        app.serving(transport_security=open_to_all) as peer,
        httpx2.AsyncClient(timeout=10) as http,
    ):
        client = Legacy(peer.url, http)
        client.headers |= headers
        await client.opened()
        assert client.capabilities["tasks"] == {"cancel": {}, "requests": {"tools": {"call": {}}}}
        assert (await client.ask("tasks/list", {})).error["code"] == METHOD_NOT_FOUND
        task_id = await client.start("strict")
        assert (await client.result(task_id)).text == "done"
        await client.leave()


def test_loopback_is_told_by_address_and_by_name() -> None:
    """Ours."""
    assert all(map(on_this_machine, ["127.0.0.1", "127.8.0.1", "::1", "localhost"]))
    assert not any(map(on_this_machine, ["10.0.0.1", "example.com", "", "0.0.0.0"]))  # noqa: S104


async def test_both_eras_see_the_same_task(app: App, bodies: Bodies) -> None:
    """Ours: one server, one URL; the ending of one era is the other's too."""
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        client = await Legacy(peer.url, http).opened()
        made_here = await client.start("work")
        made_there = await peer.start("work")
        assert (await peer.get(made_here))["status"] == "working"
        listed = (await client.ask("tasks/list", {})).result["tasks"]
        assert [one["taskId"] for one in listed] == [made_there, made_here]
        cancelled = (await client.cancel(made_there)).result
        assert cancelled["status"] == "cancelled"
        told = await peer.until(made_there, lambda one: "stoppedHow" in run_facts(one))
        assert told["status"] == "cancelled"
        assert told["lastUpdatedAt"] == cancelled["lastUpdatedAt"]
        await peer.cancel(made_here)
        ended = await client.ended(made_here)
        assert ended["status"] == "cancelled"
        assert run_facts(ended)["stoppedHow"] == "coroutine_ended"
        await client.leave()
    assert LEGACY == "2025-11-25"
