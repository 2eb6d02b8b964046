"""Requirements of 2025-11-25 that no test of a feature shows by the way.

The manifest in `tests/requirements` says which requirement each of them is for.
"""

from __future__ import annotations

from typing import Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy, served
from tests.interaction.server.peer import PATIENCE_SECONDS, Json, accepted, messages_of, until

pytestmark = pytest.mark.anyio


class Holding:
    """A tool that holds its caller until it is let go, and knows how it ended."""

    def __init__(self, app: App, **options: Any) -> None:
        self.started = anyio.Event()
        self.go = anyio.Event()
        self.ended: str | None = None

        @app.tool(name="hold", **options)
        async def hold(run: Run) -> str:
            self.started.set()
            run.report(1, 2, "holding")
            try:
                await self.go.wait()
                self.ended = "returned"
            except anyio.get_cancelled_exc_class():
                self.ended = "stopped"
                raise
            return "done"


class Which(BaseModel):
    """What is asked."""

    database: str


CALL: Json = {"name": "hold", "arguments": {}}


async def test_a_cancelled_legacy_call_stops(app: App) -> None:
    """Spec: cancellation: stop the work, free what it held; its place is free again."""
    single = App(app.store, slots=1)
    holding = Holding(single)
    async with served(single) as client, anyio.create_task_group() as group:
        for _ in range(2):
            holding.started, holding.ended = anyio.Event(), None
            request = client.request("tools/call", CALL)
            group.start_soon(_sent, client, request)
            await holding.started.wait()
            number = json_id(request)
            cancelled = {"requestId": number, "reason": "a test"}
            await client.post({"method": "notifications/cancelled", "params": cancelled})
            await until(lambda: holding.ended is not None, "the body has ended")
            assert holding.ended == "stopped"


async def _sent(client: Legacy, request: httpx2.Request) -> None:
    response = await client.http.send(request)
    assert response.status_code == 200


def json_id(request: httpx2.Request) -> object:
    """The JSON-RPC id of a request."""
    body: Json = httpx2.Response(200, content=request.content).json()
    return body["id"]


async def test_a_cancelled_notification_does_not_stop_a_legacy_task(app: App) -> None:
    """Spec: cancellation: a task has `tasks/cancel`."""
    holding = Holding(app)
    async with served(app) as client:
        request = client.request("tools/call", {**CALL, "task": {}})
        response = await client.http.send(request)
        [created] = [one async for one in messages_of(response)]
        cancelled = {"requestId": created["id"]}
        await client.post({"method": "notifications/cancelled", "params": cancelled})
        task_id = created["result"]["task"]["taskId"]
        assert (await client.get(task_id))["status"] == "working"
        holding.go.set()
        assert (await client.ended(task_id))["status"] == "completed"


async def test_a_legacy_cancel_of_nothing_is_ignored(app: App) -> None:
    """Spec: cancellation, Timing Considerations and Error Handling."""
    holding = Holding(app)
    holding.go.set()
    async with served(app) as client:
        request = client.request("tools/call", CALL)
        await client.http.send(request)
        for nothing in (json_id(request), 4711, "no such request"):
            params = {"requestId": nothing}
            await client.post({"method": "notifications/cancelled", "params": params})
        assert (await client.call("hold")).text == "done"


async def test_a_legacy_page_of_another_site_is_refused(app: App) -> None:
    """Spec: transports, Security Warning: an invalid Origin is answered with 403."""
    async with served(app) as client:
        request = client.request("tools/list", {})
        request.headers["origin"] = "https://evil.example"
        assert (await client.http.send(request)).status_code == 403


async def test_a_version_there_is_none_of_is_refused(app: App) -> None:
    """Spec: transports, Protocol Version Header: 400."""
    async with served(app) as client:
        request = client.request("tools/list", {})
        request.headers["mcp-protocol-version"] = "1999-12-31"
        assert (await client.http.send(request)).status_code == 400


async def test_a_legacy_answer_ends_its_stream(app: App) -> None:
    """Spec: transports, Sending Messages: nothing follows the response, and the stream ends."""
    holding = Holding(app)
    holding.go.set()
    async with served(app) as client:
        with anyio.fail_after(PATIENCE_SECONDS):
            response = await client.http.send(client.request("tools/call", CALL, "t"), stream=True)
            seen = [one async for one in messages_of(response)]
    assert [one.get("method") for one in seen] == ["notifications/progress", None]


async def test_a_session_that_has_ended_is_not_found_and_its_task_is(app: App) -> None:
    """Spec: transports, Session Management: 404. Ours: a task belongs to no session."""
    holding = Holding(app)
    async with served(app) as client:
        task_id = await client.start("hold")
        other = await Legacy(client.url, client.http).opened()
        await client.leave()
        refused = await client.http.send(client.request("tasks/get", {"taskId": task_id}))
        assert refused.status_code == 404
        assert (await other.get(task_id))["status"] == "working"
        holding.go.set()
        await other.ended(task_id)
        await other.leave()
        del client.headers["mcp-session-id"]


async def test_no_news_comes_twice(app: App) -> None:
    """Spec: transports, Multiple Connections: one message, one stream; no response on GET's."""

    @app.tool()
    async def ask(ctx: Context[Any, Any], run: Run) -> str:
        for step in range(3):
            run.report(step, 3, f"step {step}")
            await anyio.sleep(0.12)
        answer = await ctx.elicit("Which database?", Which)
        return answer.action

    async def answer(_request: Json) -> Json:
        return {"result": accepted(database="sales")}

    async with served(app) as client, client.listening():
        client.on_request = answer
        task_id = await client.start("ask", "t")
        reply = await client.result(task_id)
        statuses = "notifications/tasks/status"
        await until(lambda: client.told(statuses)[-1]["status"] == "completed", "it was told")
        everything = client.news + reply.notifications
        asked = client.asked
    told = [one["params"] for one in everything if one["method"] == "notifications/progress"]
    assert sorted(one["message"] for one in told) == ["step 0", "step 1", "step 2"]
    assert len(asked) == 1
    assert all("method" in one for one in client.news)
