"""Hosts that can be asked nothing by the protocol: the model shows the question to its user."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import anyio
import httpx2
import pytest
from mcp.server.mcpserver import Context, Elicit, Resolve
from pydantic import BaseModel, Field

from awhile import Run
from awhile.runtime.ending import CannotAsk
from awhile.server.companions import STILL_RUNNING
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import Json, accepted

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[Json]]


class Which(BaseModel):
    """What is asked."""

    database: Literal["sales", "archive"] = Field(title="Database")
    year: int | None = None


def which(_ctx: Context[Any, Any]) -> Elicit[Which]:
    """The same question, before the work."""
    return Elicit("Which database?", Which)


@asynccontextmanager
async def host(app: App, kind: str) -> AsyncGenerator[Call]:
    """Calls of a host that takes no tasks and declares no elicitation."""
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        if kind == "2026-07-28":
            meta: Json = {"io.modelcontextprotocol/clientCapabilities": {}}

            async def call(tool: str, **arguments: Any) -> Json:
                params = {"name": tool, "arguments": arguments}
                return (await peer.ask("tools/call", params, meta=meta)).result
        else:
            old = await Legacy(peer.url, http, version=kind).opened(can={})

            async def call(tool: str, **arguments: Any) -> Json:
                return (await old.call(tool, **arguments)).result

        yield call


def said(result: Json) -> str:
    """The text of a result."""
    return result["content"][0]["text"]


def id_of(result: Json) -> str:
    """The task an answer speaks of."""
    return result["_meta"][STILL_RUNNING]["taskId"]


def asking(app: App, **options: Any) -> None:
    """A tool that asks in the middle of its work."""

    @app.tool(**options)
    async def query(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Which database?", Which)
        return f"42 rows of {answer.data.database if answer.action == 'accept' else answer.action}"


@pytest.mark.parametrize("kind", ["2026-07-28", "2025-11-25", "2025-06-18"])
@pytest.mark.parametrize("kept", ["when_slow", "always"])
async def test_A15_A19_a_question_is_answered_by_way_of_the_model(
    app: App, kind: str, kept: str
) -> None:
    """Ours: field cases A15 and A19: a usable outcome from the same tool, in every host."""
    asking(app, kept=kept)
    async with host(app, kind) as call:
        first = await call("query")
        assert said(first).startswith("NOT FINISHED: this is not the result of query.")
        assert "Which database?" in said(first)
        assert "database (Database): sales | archive\n" in said(first)
        assert "Do not answer for them" in said(first)
        task_id = id_of(first)
        assert "Which database?" in said(await call("task_result", id=task_id))
        answered = await call("task_answer", id=task_id, answers={"database": "archive"})
        assert said(answered) == "42 rows of archive"
        assert answered["structuredContent"] == {"result": "42 rows of archive"}
        assert said(await call("task_result", id=task_id)) == "42 rows of archive"


@pytest.mark.parametrize("kind", ["2026-07-28", "2025-11-25"])
async def test_a_question_before_the_work_is_asked_the_same_way(app: App, kind: str) -> None:
    """Ours: a resolver's, of a host that declares nothing."""

    @app.tool(inline_seconds=0)
    async def query(asked: Annotated[Which, Resolve(which)]) -> str:
        return f"42 rows of {asked.database}"

    async with host(app, kind) as call:
        first = await call("query")
        answered = await call("task_answer", id=id_of(first), answers={"database": "sales"})
    assert said(answered) == "42 rows of sales"


async def test_a_user_may_decline(app: App) -> None:
    """Ours: and the body hears it as of any client."""
    asking(app)
    async with host(app, "2026-07-28") as call:
        task_id = id_of(await call("query"))
        assert said(await call("task_answer", id=task_id, declined=True)) == "42 rows of decline"


@pytest.mark.parametrize(
    ("answers", "words"),
    [
        ({}, "'database' is a required property"),
        (None, "'database' is a required property"),
        ({"database": "stock"}, "database: 'stock' is not one of ['sales', 'archive']"),
        ({"database": "sales", "year": "last"}, "year: 'last' is not"),
    ],
)
async def test_an_answer_to_another_question_is_refused_and_the_question_stays_open(
    app: App, answers: Json | None, words: str
) -> None:
    """Ours: checked against the schema that was asked by."""
    asking(app)
    async with host(app, "2026-07-28") as call:
        task_id = id_of(await call("query"))
        refused = await call("task_answer", id=task_id, answers=answers)
        assert refused["isError"] is True
        assert words in said(refused)
        assert "Which database?" in said(refused)
        answered = await call(
            "task_answer", id=task_id, answers={"database": "sales", "year": 2026}
        )
        assert said(answered) == "42 rows of sales"


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("task_result", {}, "id: Field required"),
        ("task_result", {"id": "x", "wait_seconds": "long"}, "wait_seconds: Input should be"),
        ("task_answer", {"id": "x", "answers": "yes"}, "answers: Input should be"),
    ],
)
async def test_arguments_that_a_companion_cannot_take_are_told_in_one_line(
    app: App, tool: str, arguments: Json, words: str
) -> None:
    """Ours: for a model to read; no lines for programmers of pydantic."""
    asking(app)
    async with host(app, "2026-07-28") as call:
        refused = await call(tool, **arguments)
    assert refused["isError"] is True
    assert f"The arguments of {tool} are wrong ({words}" in said(refused)
    assert "pydantic" not in said(refused)
    assert "\n" not in said(refused)


async def test_of_several_questions_each_has_a_key(app: App) -> None:
    """Ours."""

    @app.tool()
    async def query(run: Run) -> str:
        said: list[str] = []

        async def ask(key: str) -> None:
            schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
            params = {"message": f"{key}?", "requestedSchema": schema}
            answer = await run.ask({"method": "elicitation/create", "params": params}, key=key)
            said.append(f"{key} {answer['content']['x']}")

        async with anyio.create_task_group() as both:
            both.start_soon(ask, "first")
            both.start_soon(ask, "second")
        return ", ".join(sorted(said))

    async with host(app, "2026-07-28") as call:
        task_id = id_of(await call("query"))
        with anyio.fail_after(10):
            while said(shown := await call("task_result", id=task_id)).count("(question: ") < 2:
                pass
        assert "- first? (question: first)\n  x: integer, may be left out\n" in said(shown)
        unclear = await call("task_answer", id=task_id, answers={"x": 1})
        assert re.search("question is one of (first, second|second, first)", said(unclear))
        half = await call("task_answer", id=task_id, answers={"x": 1}, question="first")
        assert "second?" in said(half)
        assert "first?" not in said(half)
        answered = await call("task_answer", id=task_id, answers={"x": 2})
    assert said(answered) == "first 1, second 2"


async def test_a_task_that_asks_nothing_takes_no_answer(app: App) -> None:
    """Ours: neither while it works nor after its end."""
    go = anyio.Event()
    brief = App(app.store, inline_limit_seconds=0.1)

    @brief.tool()
    async def query() -> str:
        await go.wait()
        return "42 rows"

    async with host(brief, "2026-07-28") as call:
        task_id = id_of(await call("query"))
        early = await call("task_answer", id=task_id, answers={})
        assert early["isError"] is True
        assert "asks nothing" in said(early)
        go.set()
        assert said(await call("task_result", id=task_id)) == "42 rows"
        assert "has ended" in said(await call("task_answer", id=task_id, answers={}))


async def test_a_question_that_comes_after_the_first_answer_is_shown_too(app: App) -> None:
    """Ours: also to a client that could be asked, but not on a call that was answered long ago."""
    brief = App(app.store, inline_limit_seconds=0.1)
    go = anyio.Event()

    @brief.tool()
    async def query(ctx: Context[Any, Any]) -> str:
        await go.wait()
        answer = await ctx.elicit("Which database?", Which)
        return answer.data.database if answer.action == "accept" else "none"

    async with brief.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        old = await Legacy(peer.url, http).opened()
        task_id = id_of((await old.call("query")).result)
        go.set()
        while "Which database?" not in (shown := await old.call("task_result", id=task_id)).text:
            assert shown.text.startswith("NOT FINISHED")
        reply = await old.call("task_answer", id=task_id, answers={"database": "sales"})
        assert reply.text == "sales"
        assert old.asked == []


async def test_what_a_user_cannot_fill_in_is_never_asked_by_way_of_the_model(app: App) -> None:
    """Ours: sampling, roots and pages to open need the client itself, and its declaration."""

    @app.tool()
    async def query(ctx: Context[Any, Any]) -> str:
        await ctx.elicit_url("Sign in.", "https://example.com", "e-1")
        raise AssertionError

    async with app.serving() as peer:
        error = (await peer.undeclared().call("query")).error
    assert error["data"] == {"requiredCapabilities": {"elicitation": {"url": {}}}}


async def test_a_client_that_takes_tasks_is_asked_as_its_era_does(app: App) -> None:
    """Ours: the answer by a tool is there for it, too, and the first answer counts."""
    asking(app, inline_seconds=0)
    async with app.serving() as peer:
        task_id = await peer.start("query")
        task = await peer.until(task_id, lambda one: one["status"] == "input_required")
        [key] = task["inputRequests"]
        reply = await peer.call("task_answer", id=task_id, answers={"database": "archive"})
        assert reply.text == "42 rows of archive"
        await peer.update(task_id, {key: accepted(database="sales")})
        ended = await peer.ended(task_id)
    assert ended["result"]["content"][0]["text"] == "42 rows of archive"


async def test_without_companions_nobody_is_asked_by_way_of_a_model(app: App) -> None:
    """Ours: an author whose questions a person alone may answer switches them off (A16)."""
    strict = App(app.store, companion_tools=False)
    asking(strict)
    async with strict.serving() as peer:
        error = (await peer.undeclared().call("query")).error
    assert re.search("cannot be asked", error["message"])


@pytest.mark.parametrize("kind", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("kept", ["when_slow", "always"])
async def test_a_tool_may_say_by_its_result_what_it_would_have_asked(
    app: App, kind: str, kept: str
) -> None:
    """Ours: declared so, its body hears at once that this caller cannot be asked."""

    @app.tool(kept=kept, asks_by_answer=False)
    async def query(run: Run) -> str:
        try:
            await run.ask({"method": "elicitation/create", "params": {"message": "Which?"}})
        except CannotAsk:
            return "Which database? Call again, with database= sales or archive."
        raise AssertionError

    async with host(app, kind) as call:
        assert said(await call("query")).startswith("Which database?")
