"""Requirements of 2026-07-28 over HTTP that no test of a feature shows by the way.

The manifest in `tests/requirements` says which requirement each of them is for.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import (
    INVALID_PARAMS,
    MISSING_CAPABILITY,
    REVISION,
    TASKS,
    VENDOR,
    Json,
    accepted,
    until,
)

pytestmark = pytest.mark.anyio

TASK_METHODS = ["tasks/get", "tasks/update", "tasks/cancel"]


class Name(BaseModel):
    """What is asked."""

    name: str


def waits(app: App, name: str = "work") -> anyio.Event:
    """A task that waits to be let go."""
    go = anyio.Event()

    @app.tool(task_support="required", name=name)
    async def work() -> str:
        await go.wait()
        return "done"

    return go


def of_task(method: str, task_id: str) -> Json:
    return {"taskId": task_id, **({"inputResponses": {}} if method == "tasks/update" else {})}


async def test_any_process_on_the_store_can_read_a_task_once_its_handle_is_there(
    tmp_path: Path,
) -> None:
    """Spec: ext-tasks, Task Creation: a reply waits until every reader would find the task."""
    here, there = (App(tmp_path / "tasks.db") for _ in range(2))
    go, _ = waits(here), waits(there)
    async with here.serving() as peer, there.serving() as other:
        for _ in range(10):
            task_id = await peer.start("work")
            assert (await other.get(task_id))["status"] == "working"
        go.set()
        for one in await here.tasks.store.find(owner="anonymous"):
            await other.ended(one.task_id)


@pytest.mark.parametrize("method", ["tasks/update", "tasks/cancel"])
async def test_an_acknowledgement_is_empty(app: App, method: str) -> None:
    """Spec: ext-tasks, Task Update and Task Cancellation."""
    waits(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        acknowledged = (await peer.ask(method, of_task(method, task_id))).result
        assert acknowledged.pop("resultType") == "complete"
        assert acknowledged.pop("_meta", {}).keys() <= {f"{VENDOR}/serverInfo"}
        assert acknowledged == {}
        await peer.cancel(task_id)
        await peer.ended(task_id)


@pytest.mark.parametrize("method", TASK_METHODS)
async def test_an_unknown_task_is_refused_in_words(app: App, method: str) -> None:
    """Spec: ext-tasks, Protocol Errors: -32602, and a message that says what is wrong."""
    async with app.serving() as peer:
        error = (await peer.ask(method, of_task(method, "0" * 32))).error
    assert error["code"] == INVALID_PARAMS
    assert "task" in error["message"].lower()
    assert "expired" in error["message"]


async def test_listening_to_tasks_names_the_capability_that_is_missing(app: App) -> None:
    """Spec: ext-tasks, Task Status Notifications: -32021 with its data."""
    async with app.serving() as peer:
        wanted: Json = {"notifications": {"taskIds": ["x"]}}
        reply = await peer.undeclared().ask("subscriptions/listen", wanted)
    assert reply.error["code"] == MISSING_CAPABILITY
    assert reply.error["data"] == {"requiredCapabilities": {"extensions": {TASKS: {}}}}


async def test_a_round_of_questions_leaves_nothing_behind(app: App) -> None:
    """Spec: mrtr, Server Requirements: nobody has to come back with answers."""

    @app.tool()
    async def work() -> str | InputRequiredResult:
        form = ElicitRequestFormParams(
            message="Your name?", requested_schema={"type": "object", "properties": {}}
        )
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=form)})

    async with app.serving() as peer:
        for _ in range(3):
            assert (await peer.call("work")).result["resultType"] == "input_required"
        assert await app.tasks.store.find(owner="anonymous") == []


async def test_a_client_that_takes_tasks_but_no_questions_is_asked_none(app: App) -> None:
    """Spec: mrtr, Server Requirements: no input request the client did not declare."""

    @app.tool(task_support="required")
    async def ask(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Your name?", Name)
        return answer.action

    async with app.serving() as peer:
        can: Json = {f"{VENDOR}/clientCapabilities": {"extensions": {TASKS: {}}}}
        created = (await peer.call("ask", meta=can)).result
        task = await peer.ended(created["taskId"]) if "taskId" in created else created
    assert "inputRequests" not in task
    assert task["status"] == "failed"
    assert "elicitation" in task["statusMessage"]


async def test_a_task_id_may_come_encoded_in_mcp_name(app: App) -> None:
    """Spec: streamable-http, Value Encoding: decoded before it is compared."""
    go = waits(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        encoded = f"=?base64?{base64.b64encode(task_id.encode()).decode()}?="
        reply = await peer.ask("tasks/get", {"taskId": task_id}, name=encoded)
        assert reply.result["taskId"] == task_id
        go.set()
        await peer.ended(task_id)


async def test_spaces_around_a_header_are_no_part_of_it(app: App) -> None:
    """Spec: streamable-http, Server Validation, with RFC 9110, 5.5."""
    go = waits(app)
    async with app.serving() as peer:
        task_id = await peer.start("work")
        request = peer.request("tasks/get", {"taskId": task_id}, name=f"{task_id} \t ")
        head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
        assert f"{task_id} \t \r\n" in head
        host, port = peer.url.split("/")[2].split(":")
        async with await anyio.connect_tcp(host, int(port)) as raw:
            await raw.send(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + request.content)
            answer = await raw.receive()
        assert answer.startswith(b"HTTP/1.1 200")
        go.set()
        await peer.ended(task_id)


async def test_every_call_hears_its_own_progress_alone(app: App) -> None:
    """Spec: streamable-http, Receiving Messages: what comes on a stream relates to its request."""
    both = anyio.Event()
    running = 0

    @app.tool(inline_seconds=60)
    async def work(name: str, run: Run) -> str:
        nonlocal running
        running += 1
        if running == 4:
            both.set()
        await both.wait()
        for done in range(3):
            run.report(done, 3, f"{name} {done}")
            await anyio.sleep(0.12)
        return name

    heard: dict[str, list[Json]] = {}
    async with app.serving() as peer, anyio.create_task_group() as group:

        async def call(name: str) -> None:
            reply = await peer.call("work", meta={"progressToken": f"token of {name}"}, name=name)
            heard[name] = reply.progress

        for name in ("a", "b", "c", "d"):
            group.start_soon(call, name)
    for name, progress in heard.items():
        assert {one["progressToken"] for one in progress} == {f"token of {name}"}
        assert [one["message"] for one in progress] == [f"{name} {done}" for done in range(3)]


@pytest.mark.parametrize("declares", [True, False])
async def test_no_request_of_the_servers_comes_on_a_stream(app: App, declares: bool) -> None:
    """Spec: streamable-http, Receiving Messages: questions travel in results and tasks alone."""

    @app.tool(inline_seconds=60)
    async def ask(ctx: Context[Any, Any], run: Run) -> str:
        run.report(1, 2, "about to ask")
        answer = await ctx.elicit("Your name?", Name)
        return answer.action

    async with app.serving() as peer:
        asking = peer if declares else peer.undeclared()
        call: Json = {"name": "ask", "arguments": {}}
        request = asking.request("tools/call", call, meta={"progressToken": 1})
        async with asking.opened(request) as (_, messages):
            seen = [one async for one in messages]
        assert [one for one in seen if "id" in one and "method" in one] == []
        *notifications, response = seen
        assert {one["method"] for one in notifications} == {"notifications/progress"}
        if declares:
            task_id = response["result"]["taskId"]
            task = await peer.until(task_id, lambda one: one["status"] == "input_required")
            [key] = task["inputRequests"]
            await peer.update(task_id, {key: accepted(name="Ada")})
            await peer.ended(task_id)


async def test_a_page_of_another_site_is_refused(app: App) -> None:
    """Spec: streamable-http, Security: an invalid Origin is answered with 403."""
    async with app.serving() as peer, httpx2.AsyncClient() as http:
        ours = {"origin": peer.url.removesuffix("/mcp")}
        for headers, status in (({"origin": "https://evil.example"}, 403), (ours, 200)):
            request = peer.request("server/discover", {}, headers=headers)
            assert (await http.send(request)).status_code == status


async def test_another_version_in_the_header_than_in_the_body_is_refused(app: App) -> None:
    """Spec: streamable-http, Protocol Version Header: 400."""
    async with app.serving() as peer:
        other = {f"{VENDOR}/protocolVersion": "2027-01-01"}
        mismatch = await peer.ask("server/discover", {}, meta=other)
        unknown = await peer.ask(
            "server/discover", {}, meta=other, headers={"mcp-protocol-version": "2027-01-01"}
        )
    assert mismatch.http == unknown.http == 400
    assert REVISION in json.dumps(unknown.error["data"])


async def test_discover_says_who_answers(app: App) -> None:
    """Spec: server/discover, DiscoverResult."""
    async with app.serving() as peer:
        result = (await peer.ask("server/discover", {})).result
    assert result["supportedVersions"] == [REVISION]
    assert result["_meta"][f"{VENDOR}/serverInfo"]["name"] == "app"


async def test_a_call_that_was_left_is_not_answered_elsewhere(app: App) -> None:
    """Spec: cancellation and streamable-http: nothing further is sent for it, on any stream."""
    ended = anyio.Event()

    @app.tool(inline_seconds=60)
    async def work(run: Run) -> str:
        run.report(1, 2, "running")
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    go = waits(app, "other")
    async with app.serving() as peer:
        task_id = await peer.start("other")
        listening = peer.request("subscriptions/listen", {"notifications": {"taskIds": [task_id]}})
        async with peer.opened(listening) as (_, heard):
            assert (await anext(heard))["method"] == "notifications/subscriptions/acknowledged"
            left = peer.request("tools/call", {"name": "work"}, meta={"progressToken": "p"})
            async with peer.opened(left) as (_, messages):
                await anext(messages)
            await until(ended.is_set, "the body was stopped")
            go.set()
            async for message in heard:
                assert message["method"] == "notifications/tasks"
                assert message["params"]["taskId"] == task_id
                if message["params"]["status"] == "completed":
                    break
