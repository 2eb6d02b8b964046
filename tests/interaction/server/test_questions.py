"""Work that asks its caller: before it becomes a task, and while it is one."""

from __future__ import annotations

from typing import Annotated, Any

import anyio
import pytest
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel, Field

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INVALID_PARAMS, QUESTION, Json, Peer, accepted

pytestmark = pytest.mark.anyio


class Name(BaseModel):
    """What is asked."""

    name: str


def ask_for_a_name(_ctx: Context[Any, Any]) -> Elicit[Name]:
    """The question before the work."""
    return Elicit("What is your name?", Name)


def asks_two(app: App, **options: Any) -> None:
    """A tool that asks two things at once, then a third."""

    @app.tool(task_support="required", **options)
    async def survey(ctx: Context[Any, Any], run: Run) -> str:
        said: dict[str, str] = {}

        async def ask(what: str) -> None:
            answer = await ctx.elicit(f"Your {what}?", Name)
            said[what] = answer.data.name if answer.action == "accept" else answer.action

        async with anyio.create_task_group() as both:
            both.start_soon(ask, "first name")
            both.start_soon(ask, "last name")
        run.report(2, 3, "two of three answered")
        await ask("town")
        return ", ".join(said[what] for what in ("first name", "last name", "town"))


async def asked(peer: Peer, task_id: str, count: int) -> dict[str, Json]:
    """The outstanding questions by their message, once there are ``count``."""
    task = await peer.until(task_id, lambda one: len(one.get("inputRequests", ())) == count)
    assert task["status"] == "input_required"
    assert task["statusMessage"] == "Waiting for your answer."
    return {
        one["params"]["message"]: {"key": key, **one} for key, one in task["inputRequests"].items()
    }


async def test_partial_answers_leave_the_other_question_open(app: App) -> None:
    """Spec: ext-tasks, Task Update: some of the keys may be answered, one after the other."""
    asks_two(app)
    async with app.serving() as peer:
        task_id = await peer.start("survey")
        both = await asked(peer, task_id, 2)
        assert {one["method"] for one in both.values()} == {"elicitation/create"}
        first, last = both["Your first name?"], both["Your last name?"]
        await peer.update(task_id, {first["key"]: accepted(name="Ada")})
        task = await peer.get(task_id)
        assert task["status"] == "input_required"
        assert task["inputRequests"] == {
            last["key"]: {"method": last["method"], "params": last["params"]}
        }
        await peer.update(task_id, {last["key"]: accepted(name="Lovelace", extra="ignored")})
        town = (await asked(peer, task_id, 1))["Your town?"]
        assert town["key"] not in {first["key"], last["key"]}
        await peer.update(task_id, {town["key"]: {"action": "decline"}})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "Ada, Lovelace, decline"


async def test_unknown_and_answered_keys_are_acknowledged_and_ignored(app: App) -> None:
    """Spec: ext-tasks: each key is used once in a task's life; the first answer counts."""
    asks_two(app)
    async with app.serving() as peer:
        task_id = await peer.start("survey")
        both = await asked(peer, task_id, 2)
        first, last = both["Your first name?"]["key"], both["Your last name?"]["key"]
        await peer.update(task_id, {first: accepted(name="Ada")})
        before = await peer.get(task_id)
        for ignored in ({first: accepted(name="Eve")}, {"no such key": "not even an answer"}):
            assert (await peer.update(task_id, ignored)).result["resultType"] == "complete"
        assert await peer.get(task_id) == before
        await peer.update(task_id, {last: accepted(name="Lovelace"), first: accepted(name="Eve")})
        town = (await asked(peer, task_id, 1))["Your town?"]["key"]
        await peer.update(task_id, {town: accepted(name="London")})
        task = await peer.ended(task_id)
        await peer.update(task_id, {town: accepted(name="Paris")})
        assert await peer.get(task_id) == task
    assert task["result"]["content"][0]["text"] == "Ada, Lovelace, London"


async def test_a_malformed_answer_is_refused_and_leaves_the_question_open(app: App) -> None:
    """Ours: the body could not read it, and a key can be answered only once."""
    asks_two(app)
    async with app.serving() as peer:
        task_id = await peer.start("survey")
        key = (await asked(peer, task_id, 2))["Your first name?"]["key"]
        before = await peer.get(task_id)
        empty = {"action": "accept"}
        for malformed in ("Ada", {"name": "Ada"}, {"action": "perhaps"}, None, empty):
            reply = await peer.update(task_id, {key: malformed})
            assert reply.error["code"] == INVALID_PARAMS
            assert repr(key) in reply.error["message"]
        assert await peer.get(task_id) == before
        await peer.cancel(task_id)
        await peer.ended(task_id)


class Order(BaseModel):
    """A form of every kind of field."""

    count: int = Field(ge=1)
    share: float = 0.5
    express: bool = False
    note: str = ""


def ordering(app: App) -> None:
    """A tool that asks for an order, and repeats it."""

    @app.tool(task_support="required")
    async def order(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("What shall it be?", Order)
        assert answer.action == "accept"
        return repr(answer.data)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"count": 1, "express": "notabool"}, "express: 'notabool' is not of type 'boolean'"),
        ({"count": "many"}, "count: 'many' is not of type 'integer'"),
        ({"count": 0}, "count: 0 is less than the minimum of 1"),
        ({"count": 1, "note": ["a"]}, "note: "),
        ({}, "'count' is a required property"),
        ({"count": "9" * 1000 + "!"}, "…"),
    ],
)
async def test_an_answer_that_does_not_fit_its_form_is_refused_and_says_which_field(
    app: App, content: Json, words: str
) -> None:
    """Ours (client/elicitation: "Servers SHOULD validate received data matches the requested
    schema"): nothing of the call is kept, and the body goes on waiting."""
    ordering(app)
    async with app.serving() as peer:
        task_id = await peer.start("order")
        key = (await asked(peer, task_id, 1))["What shall it be?"]["key"]
        before = await peer.get(task_id)
        error = (await peer.update(task_id, {key: accepted(**content), "other": {}})).error
        assert error["code"] == INVALID_PARAMS
        assert repr(key) in error["message"]
        assert words in error["message"]
        assert len(error["message"]) < 600
        assert await peer.get(task_id) == before
        await peer.update(task_id, {key: accepted(count=2)})
        task = await peer.ended(task_id)
    assert task["status"] == "completed"


async def test_of_two_answers_one_of_which_does_not_fit_neither_is_kept(app: App) -> None:
    """Ours: a call is taken whole or not at all."""
    asks_two(app)
    async with app.serving() as peer:
        task_id = await peer.start("survey")
        both = await asked(peer, task_id, 2)
        first, last = both["Your first name?"]["key"], both["Your last name?"]["key"]
        before = await peer.get(task_id)
        answers = {first: accepted(name="Ada"), last: accepted(name=["Lovelace"])}
        error = (await peer.update(task_id, answers)).error
        assert error["code"] == INVALID_PARAMS
        assert repr(last) in error["message"]
        assert await peer.get(task_id) == before
        await peer.cancel(task_id)
        await peer.ended(task_id)


async def test_an_answer_that_the_body_can_read_is_taken_though_its_schema_is_stricter(
    app: App,
) -> None:
    """Ours: bodies read their answers by pydantic, which is lenient; so is the check."""
    ordering(app)
    async with app.serving() as peer:
        task_id = await peer.start("order")
        key = (await asked(peer, task_id, 1))["What shall it be?"]["key"]
        await peer.update(task_id, {key: accepted(count="3", share=1, express="yes")})
        task = await peer.ended(task_id)
    text = task["result"]["content"][0]["text"]
    assert text == "Order(count=3, share=1.0, express=True, note='')"


async def test_a_form_whose_schema_makes_no_sense_takes_every_answer(app: App) -> None:
    """Ours: what cannot be checked here is the body's to judge."""
    schema = {"type": "object", "properties": {"name": {"$ref": "#/nowhere"}}}
    question = {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "Name?", "requestedSchema": schema},
    }

    @app.tool(task_support="required")
    async def work(run: Run) -> str:
        return str((await run.ask(question))["content"]["name"])

    async with app.serving() as peer:
        task_id = await peer.start("work")
        key = (await asked(peer, task_id, 1))["Name?"]["key"]
        await peer.update(task_id, {key: accepted(name="Ada")})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "Ada"


async def test_answers_that_come_between_reports_are_not_lost(app: App) -> None:
    """Ours: reports and answers of the same task are written side by side."""

    @app.tool(task_support="required")
    async def work(ctx: Context[Any, Any], run: Run) -> str:
        names: list[str] = []
        async with anyio.create_task_group() as beside:
            beside.start_soon(_report_on_and_on, run)
            for number in range(3):
                answer = await ctx.elicit(f"Name {number}?", Name)
                names.append(answer.data.name if answer.action == "accept" else answer.action)
            beside.cancel_scope.cancel()
        return " ".join(names)

    async with app.serving() as peer:
        task_id = await peer.start("work")
        for number in range(3):
            [(_, one)] = (await asked_whatever_is_said(peer, task_id, number)).items()
            await peer.update(task_id, {one["key"]: accepted(name=f"n{number}")})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "n0 n1 n2"


async def _report_on_and_on(run: Run) -> None:
    number = 0
    while True:
        number += 1
        run.report(number, None, f"report {number}")
        await anyio.sleep(0.001)


async def asked_whatever_is_said(peer: Peer, task_id: str, number: int) -> dict[str, Json]:
    def is_asked(task: Json) -> bool:
        return any(
            one["params"]["message"] == f"Name {number}?"
            for one in task.get("inputRequests", {}).values()
        )

    task = await peer.until(task_id, is_asked)
    return {key: {"key": key, **one} for key, one in task["inputRequests"].items()}


async def test_two_questions_under_one_key_are_asked_under_two(app: App) -> None:
    """Spec: ext-tasks: a key never refers to two requests."""

    @app.tool(task_support="required")
    async def work(run: Run) -> str:
        said: list[Any] = []

        async def ask() -> None:
            said.append(await run.ask(QUESTION, key="same"))

        async with anyio.create_task_group() as both:
            both.start_soon(ask)
            both.start_soon(ask)
        return "+".join(sorted(str(one["content"]["n"]) for one in said))

    async with app.serving() as peer:
        task_id = await peer.start("work")
        task = await peer.until(task_id, lambda one: len(one.get("inputRequests", ())) == 2)
        keys = sorted(task["inputRequests"])
        assert keys == ["same", "same-2"]
        await peer.update(task_id, {keys[0]: accepted(n=1), keys[1]: accepted(n=2)})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "1+2"


async def test_a_body_that_gives_up_waiting_withdraws_its_question(app: App) -> None:
    """Ours: the work goes on, and says so."""
    go = anyio.Event()

    @app.tool(task_support="required")
    async def work(ctx: Context[Any, Any]) -> str:
        with anyio.move_on_after(0.1):
            await ctx.elicit("Which one?", Name)
        await go.wait()
        return "took the first"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        task = await peer.until(
            task_id, lambda one: one["statusMessage"] == "Going on without an answer."
        )
        assert task["status"] == "working"
        assert "inputRequests" not in task
        go.set()
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "took the first"


async def test_a_quick_tool_that_asks_becomes_a_task_at_its_question(app: App) -> None:
    """Ours: there is nowhere else to put the question once the body runs."""

    @app.tool(inline_seconds=60)
    async def work(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Your name?", Name)
        return answer.data.name if answer.action == "accept" else "nobody"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        key = (await asked(peer, task_id, 1))["Your name?"]["key"]
        await peer.update(task_id, {key: accepted(name="Ada")})
        assert (await peer.ended(task_id))["result"]["content"][0]["text"] == "Ada"


async def test_a_client_that_cannot_be_asked_is_told_so(app: App) -> None:
    """Ours: field case A16: it fails at once, with the reason."""

    async def work(ctx: Context[Any, Any]) -> str:
        await ctx.elicit("Your name?", Name)
        raise AssertionError

    strict = App(app.store, companion_tools=False)
    strict.tool()(work)
    async with strict.serving() as peer:
        reply = await peer.undeclared().call("work")
        said = reply.message.get("error", {}).get("message") or reply.text
    assert "cannot be asked" in said


@pytest.mark.parametrize("task_support", ["optional", "required"])
async def test_a_question_by_hand_is_for_the_call_itself(app: App, task_support: str) -> None:
    """Spec: ext-tasks: MRTR comes before the task; no task completes with `input_required`."""

    @app.tool(task_support=task_support, inline_seconds=30)
    async def work() -> str | InputRequiredResult:
        asked = ElicitRequestFormParams(
            message="Your name?", requested_schema={"type": "object", "properties": {}}
        )
        return InputRequiredResult(input_requests={"name": ElicitRequest(params=asked)})

    async with app.serving() as peer:
        result = (await peer.call("work")).result
        if task_support == "optional":
            assert result["resultType"] == "input_required"
            assert list(result["inputRequests"]) == ["name"]
        elif result["resultType"] == "task":
            task = await peer.ended(result["taskId"])
            assert task["status"] == "failed"
            assert "has to ask by ctx.elicit, or by a resolver" in task["statusMessage"]


async def test_resolvers_of_a_task_that_had_to_wait_for_a_place_ask_through_it(app: App) -> None:
    """Ours: it runs without its request, and still knows what its caller can be asked."""
    crowded = App(app.store, slots=1)
    go = anyio.Event()

    @crowded.tool(inline_seconds=0)
    async def wait() -> str:
        await go.wait()
        return "done"

    @crowded.tool(inline_seconds=0)
    async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
        return f"Hello, {name.name}!"

    async with crowded.serving() as peer:
        first = await peer.start("wait")
        queued = await peer.start("greet")
        go.set()
        [key] = [one["key"] for one in (await asked(peer, queued, 1)).values()]
        await peer.update(queued, {key: accepted(name="Ada")})
        task = await peer.ended(queued)
        await peer.ended(first)
    assert task["result"]["content"][0]["text"] == "Hello, Ada!"


async def test_a_kept_call_whose_caller_takes_no_tasks_asks_nobody(app: App) -> None:
    """Ours: not even when another run of it was claimed from the queue."""
    crowded = App(app.store, slots=1, companion_tools=False)
    go = anyio.Event()

    @crowded.tool(inline_seconds=0)
    async def wait() -> str:
        await go.wait()
        return "done"

    @crowded.tool(kept="always")
    async def ask(run: Run) -> str:
        await run.ask(QUESTION)
        raise AssertionError

    async with crowded.serving() as peer:
        first = await peer.start("wait")
        async with anyio.create_task_group() as group:

            async def call() -> None:
                reply = await peer.undeclared().call("ask")
                assert "cannot be asked" in reply.error["message"]

            group.start_soon(call)
            await _until_queued(crowded)
            go.set()
        await peer.ended(first)


async def _until_queued(app: App) -> None:
    async with app.tasks.store.watch() as watch:
        while len(await app.tasks.store.find(owner="anonymous")) < 2:
            assert await watch.wait(10)


@pytest.mark.parametrize("kept", ["when_slow", "always"])
async def test_resolvers_ask_before_the_work_begins(app: App, kept: str) -> None:
    """Spec: ext-tasks, Task Creation: MRTR first, then the task.

    Ours: a call kept from the start has a task already, so its resolvers ask through it.
    """
    started: list[str] = []

    @app.tool(task_support="required", kept=kept)
    async def greet(name: Annotated[Name, Resolve(ask_for_a_name)]) -> str:
        started.append(name.name)
        return f"Hello, {name.name}!"

    async with app.serving() as peer:
        first = (await peer.call("greet")).result
        if kept == "when_slow":
            assert first["resultType"] == "input_required"
            assert "taskId" not in first
            [(key, request)] = first["inputRequests"].items()
            assert request["params"]["message"] == "What is your name?"
            second = await peer.ask(
                "tools/call",
                {
                    "name": "greet",
                    "arguments": {},
                    "inputResponses": {key: accepted(name="Ada")},
                    "requestState": first["requestState"],
                },
            )
            assert second.result["resultType"] == "task"
            task_id = second.result["taskId"]
        else:
            task_id = first["taskId"]
            [key] = [one["key"] for one in (await asked(peer, task_id, 1)).values()]
            await peer.update(task_id, {key: accepted(name="Ada")})
        task = await peer.ended(task_id)
    assert task["result"]["content"][0]["text"] == "Hello, Ada!"
    assert started == ["Ada"]
