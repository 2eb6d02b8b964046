"""A body asks by what its caller declared, in both eras; else it is told so at once."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest

from awhile import Run
from awhile.runtime.ending import CannotAsk
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import (
    INTERNAL_ERROR,
    MISSING_CAPABILITY,
    QUESTION,
    TASKS,
    Json,
    Peer,
    until,
)

pytestmark = pytest.mark.anyio

OF_2026 = "io.modelcontextprotocol/clientCapabilities"

FORM = QUESTION
PAGE: Json = {
    "method": "elicitation/create",
    "params": {
        "mode": "url",
        "message": "Sign in.",
        "url": "https://example.com",
        "elicitationId": "e-1",
    },
}
WORDS: Json = {
    "method": "sampling/createMessage",
    "params": {"messages": [], "maxTokens": 1},
}
TOOLS: Json = {**WORDS, "params": {**WORDS["params"], "tools": [], "toolChoice": {"mode": "auto"}}}
ROOTS: Json = {"method": "roots/list"}

REFUSED: list[tuple[Json, Json, Json]] = [
    (FORM, {}, {"elicitation": {"form": {}}}),
    (FORM, {"sampling": {}}, {"elicitation": {"form": {}}}),
    (FORM, {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
    (PAGE, {"elicitation": {}}, {"elicitation": {"url": {}}}),
    (PAGE, {"elicitation": {"form": {}}}, {"elicitation": {"url": {}}}),
    (WORDS, {"elicitation": {}}, {"sampling": {}}),
    (TOOLS, {"sampling": {}}, {"sampling": {"tools": {}}}),
    (ROOTS, {"elicitation": {}, "sampling": {}}, {"roots": {}}),
]
"""What is asked, what the client declared, and what it would have to declare."""

ASKED: list[tuple[Json, Json]] = [
    (FORM, {"elicitation": {}}),
    (FORM, {"elicitation": {"form": {}, "url": {}}}),
    (PAGE, {"elicitation": {"url": {}}}),
    (WORDS, {"sampling": {}}),
    (TOOLS, {"sampling": {"tools": {}}}),
    (ROOTS, {"roots": {}}),
]

ERAS = ["2026-07-28", "2025-11-25"]


class Asking:
    """A task that asks what it is told to; ``caught``: what its body saw of a refusal."""

    def __init__(self, app: App) -> None:
        self.request: Json = {}
        self.caught: list[CannotAsk] = []

        @app.tool(inline_seconds=0)
        async def ask(run: Run) -> str:
            try:
                await run.ask(self.request)
            except CannotAsk as cannot:
                self.caught.append(cannot)
                raise
            return "answered"


class Caller:
    """A client that takes tasks, of one era and one set of capabilities."""

    def __init__(self, peer: Peer, old: Legacy | None, can: Json) -> None:
        self._peer = peer
        self._old = old
        self._meta: Json = {OF_2026: {**can, "extensions": {TASKS: {}}}}

    async def start(self) -> str:
        """The id of the task."""
        if self._old is not None:
            return await self._old.start("ask")
        return (await self._peer.call("ask", meta=self._meta)).result["taskId"]

    async def stop(self, task_id: str) -> None:
        """End it unanswered."""
        await (self._old or self._peer).cancel(task_id)

    async def is_asked(self, task_id: str) -> Json:
        """The task once it waits for an answer."""
        client = self._old or self._peer
        return await client.until(task_id, lambda one: one["status"] == "input_required")


@asynccontextmanager
async def caller(app: App, era: str, can: Json) -> AsyncGenerator[Caller]:
    """A client of that era with these capabilities."""
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        old = await Legacy(peer.url, http).opened(can) if era == "2025-11-25" else None
        yield Caller(peer, old, can)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("request_", "can", "missing"), REFUSED)
async def test_what_was_not_declared_is_refused_in_the_body_at_once(
    app: App, era: str, request_: Json, can: Json, missing: Json
) -> None:
    """Spec: both eras: MUST NOT ask by what the client did not declare; 2026-07-28: -32021."""
    asking = Asking(app)
    asking.request = request_
    async with caller(app, era, can) as client:
        task_id = await client.start()
        await until(lambda: bool(asking.caught), "the body was told")
        [refused] = asking.caught
        record = await app.tasks.store.get(task_id)
        while record is not None and not record.status.ended:
            record = await app.tasks.store.get(task_id)
    assert record is not None
    assert record.inputs == {}
    error = dict(record.error or {})
    assert error["code"] == MISSING_CAPABILITY
    assert error["data"] == {"requiredCapabilities": missing}
    assert "call it from one that does" in str(refused)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("request_", "can"), ASKED)
async def test_what_was_declared_is_asked(app: App, era: str, request_: Json, can: Json) -> None:
    """Spec: 2025-11-25, client/elicitation: an empty object declares forms."""
    asking = Asking(app)
    asking.request = request_
    async with caller(app, era, can) as client:
        task_id = await client.start()
        await client.is_asked(task_id)
        record = await app.tasks.store.get(task_id)
        assert record is not None
        assert [one.request for one in record.outstanding.values()] == [request_]
        await client.stop(task_id)


@pytest.mark.parametrize("method", ["tools/call", "elicitation/created", ""])
async def test_what_no_client_answers_is_refused_in_the_body(app: App, method: str) -> None:
    """Spec: 2026-07-28, mrtr: an input request is elicitation, sampling or roots."""
    asking = Asking(app)
    asking.request = {"method": method, "params": {}}
    async with app.serving() as peer:
        task = await peer.ended(await peer.start("ask"))
    assert task["error"]["code"] == INTERNAL_ERROR
    assert repr(method) in task["error"]["message"]
    assert "'roots/list'" in str(asking.caught[0])


async def test_an_inline_call_of_2026_names_the_missing_capability(app: App) -> None:
    """Spec: 2026-07-28, basic: -32021 with what is required."""
    asking = Asking(app)
    asking.request = WORDS
    async with app.serving() as peer:
        reply = await peer.undeclared().call("ask")
    assert reply.error["code"] == MISSING_CAPABILITY
    assert reply.error["data"] == {"requiredCapabilities": {"sampling": {}}}
    assert reply.http == 400


async def test_a_question_is_put_to_no_session_that_did_not_declare_it(app: App) -> None:
    """Spec: 2025-11-25: also where the task's maker did: another session of the same caller waits
    for its result, and is not asked."""
    asking = Asking(app)
    asking.request = FORM
    async with app.serving() as peer, httpx2.AsyncClient(timeout=10) as http:
        maker = await Legacy(peer.url, http).opened({"elicitation": {}})
        other = await Legacy(peer.url, http).opened({"sampling": {}})
        task_id = await maker.start("ask")
        answered: list[Any] = []

        async def wait() -> None:
            answered.append(await other.result(task_id))

        async def accept(_request: Json) -> Json:
            return {"result": {"action": "accept", "content": {}}}

        maker.on_request = accept
        async with anyio.create_task_group() as group:
            group.start_soon(wait)
            assert (await maker.result(task_id)).text == "answered"
    assert answered[0].text == "answered"
    assert other.asked == []
