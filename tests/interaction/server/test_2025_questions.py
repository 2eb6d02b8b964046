"""Questions of 2025-11-25: put on the stream of whoever waits, answered into the task."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult
from pydantic import BaseModel

from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import RELATED, Legacy, served
from tests.interaction.server.peer import INVALID_PARAMS, Json, accepted, until

pytestmark = pytest.mark.anyio


class Which(BaseModel):
    """What is asked."""

    database: str


def which(_ctx: Context[Any, Any]) -> Elicit[Which]:
    """A resolver."""
    return Elicit("Which database?", Which)


class Asking:
    """A tool that asks which of two databases is meant."""

    def __init__(self, app: App, **options: Any) -> None:
        self.heard: list[str] = []

        @app.tool(**options)
        async def ask(ctx: Context[Any, Any]) -> str:
            try:
                answer = await ctx.elicit("Which database: sales or stock?", Which)
            except MCPError as refused:
                self.heard.append(refused.message)
                raise
            said = answer.data.database if answer.action == "accept" else answer.action
            self.heard.append(said)
            return f"asked {said}"


def answers(database: str) -> Any:
    """Accepts every question with this answer."""

    async def answer(_request: Json) -> Json:
        return {"result": accepted(database=database)}

    return answer


async def test_A15_a_question_is_delivered_by_tasks_result(app: App) -> None:
    """Spec: 2025-11-25, Input Required Status. Ours: field case A15, the legacy client."""
    asking = Asking(app)
    async with served(app) as client:
        client.on_request = answers("sales")
        task_id = await client.start("ask")
        task = await client.until(task_id, lambda one: one["status"] == "input_required")
        assert task["statusMessage"] == "Waiting for your answer."
        assert client.asked == []
        reply = await client.result(task_id)
        assert reply.text == "asked sales"
        assert (await client.get(task_id))["status"] == "completed"
    [question] = client.asked
    assert question["method"] == "elicitation/create"
    assert question["params"]["message"] == "Which database: sales or stock?"
    assert question["params"]["_meta"] == {RELATED: {"taskId": task_id}}
    assert asking.heard == ["sales"]


async def test_A15_a_plain_call_is_asked_on_its_own_stream(app: App) -> None:
    """Spec: 2025-11-25, elicitation. Ours: field case A15, a client without tasks."""
    asking = Asking(app)
    async with served(app) as client:
        client.on_request = answers("stock")
        assert (await client.call("ask")).text == "asked stock"
    assert len(client.asked) == 1
    assert asking.heard == ["stock"]


async def test_a_person_may_take_longer_than_a_call(app: App) -> None:
    """Ours: the time a question is open does not count against `inline_limit_seconds`."""
    patient = App(app.store, inline_limit_seconds=0.2)
    Asking(patient)
    go = anyio.Event()

    async def at_leisure(_request: Json) -> Json:
        await go.wait()
        return {"result": accepted(database="sales")}

    texts: list[str] = []
    async with served(patient) as client, anyio.create_task_group() as group:
        client.on_request = at_leisure

        async def call() -> None:
            texts.append((await client.call("ask")).text)

        group.start_soon(call)
        await until(lambda: bool(client.asked), "it was asked")
        with anyio.move_on_after(0.4):
            while not texts:  # noqa: ASYNC110 - nothing may come
                await anyio.sleep(0.01)
        assert texts == []
        go.set()
        await until(lambda: bool(texts), "it was answered")
    assert texts == ["asked sales"]


async def test_a_tool_kept_from_the_start_asks_a_plain_caller_too(app: App) -> None:
    """Ours: its answer is its task's, the stream the caller's."""
    Asking(app, kept="always")
    async with served(app) as client:
        client.on_request = answers("sales")
        assert (await client.call("ask")).text == "asked sales"


async def test_of_several_waiting_streams_one_answer_counts(app: App) -> None:
    """Ours: every stream is asked; the first answer wins, the others' prompts are taken back."""
    asking = Asking(app)
    results: list[str] = []
    withdrawn: list[object] = []
    async with served(app) as client, anyio.create_task_group() as group:
        other = await Legacy(client.url, client.http).opened()
        task_id = await client.start("ask")

        async def wait(by: Legacy) -> None:
            reply = await by.result(task_id)
            results.append(reply.text)
            if by is client:
                withdrawn.extend(
                    one["params"]["requestId"]
                    for one in reply.notifications
                    if one["method"] == "notifications/cancelled"
                )

        group.start_soon(wait, client)
        await until(lambda: bool(client.asked), "the first stream was asked")
        other.on_request = answers("stock")
        group.start_soon(wait, other)
        await until(lambda: len(results) == 2, "both heard the result")
        await other.leave()
    assert results == ["asked stock"] * 2
    assert withdrawn == [client.asked[0]["id"]]
    assert asking.heard == ["stock"]


async def test_two_questions_at_once_are_both_put_and_answered_in_any_order(app: App) -> None:
    """Ours."""

    @app.tool()
    async def both(ctx: Context[Any, Any]) -> str:
        said: dict[str, str] = {}

        async def ask(what: str) -> None:
            answer = await ctx.elicit(what, Which)
            said[what] = answer.data.database if answer.action == "accept" else answer.action

        async with anyio.create_task_group() as asking:
            asking.start_soon(ask, "first")
            asking.start_soon(ask, "second")
        return f"{said['first']}, {said['second']}"

    second_answered = anyio.Event()

    async def answer(request: Json) -> Json:
        what = request["params"]["message"]
        if what == "first":
            await second_answered.wait()
        else:
            second_answered.set()
        return {"result": accepted(database=f"the {what}")}

    async with served(app) as client:
        client.on_request = answer
        task_id = await client.start("both")
        assert (await client.result(task_id)).text == "the first, the second"


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_may_say_no(app: App, action: str) -> None:
    """Spec: 2025-11-25, elicitation: three actions."""
    Asking(app)

    async def answer(_request: Json) -> Json:
        return {"result": {"action": action}}

    async with served(app) as client:
        client.on_request = answer
        assert (await client.result(await client.start("ask"))).text == f"asked {action}"


async def test_a_client_that_refuses_a_question_fails_the_call_with_its_error(app: App) -> None:
    """Ours: as it would without a task, and the body hears why."""
    asking = Asking(app)

    async def refuse(_request: Json) -> Json:
        return {"error": {"code": -32042, "message": "no person is here"}}

    async with served(app) as client:
        client.on_request = refuse
        task_id = await client.start("ask")
        error = (await client.result(task_id)).error
    assert (error["code"], error["message"]) == (-32042, "no person is here")
    assert asking.heard == ["no person is here"]


async def test_an_answer_nobody_can_read_leaves_the_question_open(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: the next stream asks again."""
    Asking(app)

    async def nonsense(_request: Json) -> Json:
        return {"result": {"action": "perhaps"}}

    async with served(app) as client:
        client.on_request = nonsense
        task_id = await client.start("ask")
        async with anyio.create_task_group() as group:
            group.start_soon(client.result, task_id)
            await until(lambda: "stays open" in caplog.text, "the answer was refused")
            group.cancel_scope.cancel()
        assert (await client.get(task_id))["status"] == "input_required"
        client.on_request = answers("sales")
        assert (await client.result(task_id)).text == "asked sales"


@pytest.mark.parametrize("corrected", [True, False])
async def test_an_answer_that_does_not_fit_its_form_is_asked_for_once_more(
    app: App, corrected: bool
) -> None:
    """Ours: this era cannot refuse an answer; after a second one like it the body hears why."""
    asking = Asking(app)

    async def answer(_request: Json) -> Json:
        right = corrected and len(client.asked) == 2
        return {"result": accepted(database="sales" if right else 7)}

    async with served(app) as client:
        client.on_request = answer
        reply = await client.result(await client.start("ask"))
    first, second = (one["params"] for one in client.asked)
    assert first["message"] in second["message"]
    assert "database: 7 is not of type 'string'" in second["message"]
    if corrected:
        assert reply.text == "asked sales"
        assert asking.heard == ["sales"]
    else:
        assert reply.error["code"] == INVALID_PARAMS
        assert "database: 7 is not of type 'string'" in reply.error["message"]
        assert asking.heard == [reply.error["message"]]


async def test_a_question_outlives_the_session_it_was_put_to(app: App) -> None:
    """Ours: an end of a session is no answer; another one is asked again."""
    asking = Asking(app)
    async with served(app) as client:
        gone = await Legacy(client.url, client.http).opened()
        task_id = await gone.start("ask")
        async with anyio.create_task_group() as group:
            group.start_soon(gone.ask, "tasks/result", {"taskId": task_id})
            await until(lambda: bool(gone.asked), "it was asked")
            await gone.leave()
            group.cancel_scope.cancel()
        assert (await client.get(task_id))["status"] == "input_required"
        client.on_request = answers("stock")
        assert (await client.result(task_id)).text == "asked stock"
    assert asking.heard == ["stock"]


async def test_a_cancel_ends_an_open_question(app: App) -> None:
    """Spec: 2025-11-25: from `input_required` to `cancelled`."""
    Asking(app)
    async with served(app) as client, anyio.create_task_group() as group:
        task_id = await client.start("ask")
        codes: list[int] = []

        async def wait() -> None:
            codes.append((await client.result(task_id)).error["code"])

        group.start_soon(wait)
        await until(lambda: bool(client.asked), "it was asked")
        assert (await client.cancel(task_id)).result["status"] == "cancelled"
        await until(lambda: bool(codes), "the waiter heard")


async def test_a_cancelled_plain_call_takes_its_question_and_its_work_along(app: App) -> None:
    """Spec: 2025-11-25, cancellation: `notifications/cancelled` stops an inline call."""
    Asking(app)
    async with served(app) as client, anyio.create_task_group() as group:
        group.start_soon(client.call, "ask")
        await until(lambda: bool(client.asked), "it was asked")
        [task] = (await client.ask("tasks/list", {})).result["tasks"]
        await client.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
        ended = await client.ended(task["taskId"])
        assert ended["status"] == "cancelled"
        group.cancel_scope.cancel()


async def test_a_plain_caller_that_leaves_takes_its_question_along_after_a_while(
    app: App,
) -> None:
    """Ours: in this era leaving is no cancel, but nobody is left to answer."""
    strict = App(app.store, abandoned_seconds=0.05)
    Asking(strict)
    async with served(strict) as client:
        request = client.request("tools/call", {"name": "ask", "arguments": {}})
        response = await client.http.send(request, stream=True)
        await anext(response.aiter_lines())
        while not (listed := (await client.ask("tasks/list", {})).result["tasks"]):
            pass
        await response.aclose()
        ended = await client.ended(listed[0]["taskId"])
    assert ended["status"] == "cancelled"


async def test_sampling_is_asked_for_like_elicitation(app: App) -> None:
    """Spec: 2025-11-25, sampling within a task."""

    @app.tool()
    async def sample(ctx: Context[Any, Any]) -> str:
        session = ctx.request_context.session
        params = CreateMessageRequestParams(messages=[], max_tokens=10)
        asked = CreateMessageRequest(params=params)
        answer = await session.send_request(asked, CreateMessageResult)
        return str(answer.model)

    async def answer(request: Json) -> Json:
        assert request["method"] == "sampling/createMessage"
        content = {"type": "text", "text": "hello"}
        return {"result": {"role": "assistant", "model": "m-1", "content": content}}

    async with served(app) as client:
        client.on_request = answer
        task_id = await client.start("sample")
        assert (await client.result(task_id)).text == "m-1"
        assert client.asked[0]["params"]["_meta"] == {RELATED: {"taskId": task_id}}


async def test_a_resolver_asks_in_a_task_too(app: App) -> None:
    """Ours: a question before the work is the task's first question."""

    @app.tool()
    async def resolved(database: Annotated[Which, Resolve(which)]) -> str:
        return f"resolved {database.database}"

    async with served(app) as client:
        client.on_request = answers("stock")
        assert (await client.result(await client.start("resolved"))).text == "resolved stock"


async def test_a_resolver_asks_a_plain_caller_too(app: App) -> None:
    """Ours: also one whose question takes longer than a call: the person's time does not count."""

    @app.tool(inline_seconds=0)
    async def resolved(database: Annotated[Which, Resolve(which)]) -> str:
        return f"resolved {database.database}"

    async with served(app) as client:
        client.on_request = answers("stock")
        assert (await client.call("resolved")).text == "resolved stock"


async def test_A15_a_client_that_only_polls_is_asked_on_its_sessions_stream(app: App) -> None:
    """Spec: 2025-11-25: clients SHOULD expect messages on any stream. Ours: field case A15, the
    official TypeScript Tasks client, which never calls `tasks/result` before the end."""
    asking = Asking(app)
    async with served(app) as client, client.listening():
        client.on_request = answers("sales")
        task_id = await client.start("ask")
        assert (await client.ended(task_id))["status"] == "completed"
    [question] = client.asked
    assert question["params"]["_meta"] == {RELATED: {"taskId": task_id}}
    assert asking.heard == ["sales"]


async def test_a_question_is_taken_back_from_the_session_when_somebody_waits_for_it(
    app: App,
) -> None:
    """Ours: one prompt at a time for one client."""
    asking = Asking(app)
    async with served(app) as client, client.listening(), anyio.create_task_group() as group:
        task_id = await client.start("ask")
        await until(lambda: len(client.asked) == 1, "it was asked on the session's stream")
        texts: list[str] = []

        async def wait() -> None:
            texts.append((await client.result(task_id)).text)

        group.start_soon(wait)
        await until(lambda: len(client.asked) == 2, "it was asked on the waiting stream")
        await until(lambda: bool(client.told("notifications/cancelled")), "the first was withdrawn")
        assert client.told("notifications/cancelled")[0]["requestId"] == client.asked[0]["id"]
        await client.post({"id": client.asked[1]["id"], "result": accepted(database="stock")})
        await until(lambda: bool(texts), "the waiter heard")
    assert asking.heard == ["stock"]


# --- who cannot be asked ------------------------------------------------------------------------


@pytest.mark.parametrize("as_task", [True, False])
async def test_A15_a_stateless_server_says_at_once_that_it_hears_no_answer(
    app: App, as_task: bool
) -> None:
    """Ours: nothing can come back to it, so the body ends, and says why."""
    asking = Asking(app)
    async with served(app, stateless_http=True) as client:
        if as_task:
            task_id = await client.start("ask")
            task = await client.ended(task_id)
            assert task["status"] == "failed"
            assert "stateless" in task["statusMessage"]
            error = (await client.result(task_id)).error
        else:
            error = (await client.call("ask")).error
    assert error["code"] == -32600
    assert "stateless" in error["message"]
    assert len(asking.heard) == 1


@pytest.mark.parametrize("as_task", [True, False])
@pytest.mark.parametrize("can", [{}, {"sampling": {}}], ids=["nothing", "something else"])
async def test_a_client_that_declares_no_elicitation_is_asked_none(
    app: App, as_task: bool, can: Json
) -> None:
    """Spec: 2025-11-25: servers MUST NOT ask by what was not declared (field case A16)."""
    strict = App(app.store, companion_tools=False)
    Asking(strict)
    async with served(strict, can=can) as client:
        if as_task:
            error = (await client.result(await client.start("ask"))).error
        else:
            error = (await client.call("ask")).error
        assert "elicitation" in error["message"]
    assert client.asked == []


async def test_A15_A19_one_tool_serves_every_kind_of_client(app: App) -> None:
    """Ours: field cases A15 and A19: the same tool, asking, for a 2026 client, a legacy task, a
    legacy plain call and a host of an earlier revision."""
    Asking(app, inline_seconds=0)
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        task_id = await peer.start("ask")
        task = await peer.until(task_id, lambda one: one["status"] == "input_required")
        [key] = task["inputRequests"]
        await peer.update(task_id, {"unknown": accepted(database="x")})
        await peer.update(task_id, {key: accepted(database="sales")})
        await peer.update(task_id, {key: accepted(database="stock")})
        ended = await peer.ended(task_id)
        assert ended["result"]["content"][0]["text"] == "asked sales"

        legacy = await Legacy(peer.url, http).opened()
        legacy.on_request = answers("stock")
        assert (await legacy.result(await legacy.start("ask"))).text == "asked stock"
        assert (await legacy.call("ask")).text == "asked stock"
        await legacy.leave()

        earlier = await Legacy(peer.url, http, version="2025-06-18").opened()
        earlier.on_request = answers("sales")
        assert (await earlier.call("ask")).text == "asked sales"
        await earlier.leave()

        mute = await Legacy(peer.url, http).opened(can={})
        assert "task_answer" in (await mute.call("ask")).text
        await mute.leave()
