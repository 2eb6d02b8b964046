"""Progress and status of 2025-11-25, as notifications: for a task, and for a plain call."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from awhile import Run
from awhile.errors import StoreError
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import LEGACY, RELATED, served
from tests.interaction.server.peer import Json, run_facts, until

pytestmark = pytest.mark.anyio

PROGRESS, STATUS = "notifications/progress", "notifications/tasks/status"
REVISIONS = [LEGACY, "2025-06-18", "2025-03-26"]


class Nothing(BaseModel):
    """A question that only wants a yes."""


class Stepping:
    """A tool that says a step whenever it is told to go on."""

    def __init__(self, app: App, **options: Any) -> None:
        self._words: list[str | None] = []
        self._more = anyio.Event()

        @app.tool(**options)
        async def step(run: Run) -> str:
            count = 0
            while True:
                while count == len(self._words):
                    await self._more.wait()
                word = self._words[count]
                if word is None:
                    return "done"
                count += 1
                run.report(count, 5, word)

    def say(self, word: str | None) -> None:
        """The next step."""
        self._words.append(word)
        self._more.set()
        self._more = anyio.Event()

    def finish(self) -> None:
        """Let the body return."""
        self.say(None)


def rising(told: list[Json]) -> bool:
    """Whether the progress values strictly increase."""
    return all(one["progress"] < other["progress"] for one, other in pairwise(told))


@pytest.mark.parametrize("token", ["", "t-1", 0, 7], ids=repr)
async def test_B5_a_tasks_progress_token_lives_as_long_as_the_task(
    app: App, token: str | int
) -> None:
    """Spec: 2025-11-25, progress: the same token, throughout the task's lifetime, then never.

    Ours: field case B5: the legacy era keeps its notifications although the call was answered.
    """
    stepping = Stepping(app)
    async with served(app) as client, client.listening():
        task_id = await client.start("step", token)
        for count, word in enumerate(("reading", "sorting", "writing"), 1):
            stepping.say(word)
            await until(lambda n=count: len(client.told(PROGRESS)) == n, f"step {count}")
        stepping.finish()
        await client.ended(task_id)
        await until(lambda: client.told(STATUS)[-1]["status"] == "completed", "it was told")
        await client.get(task_id)
    told = client.told(PROGRESS)
    assert [one["message"] for one in told] == ["reading", "sorting", "writing"]
    assert rising(told)
    for one in told:
        assert one["progressToken"] == token
        assert type(one["progressToken"]) is type(token)
        assert one["_meta"] == {RELATED: {"taskId": task_id}}
    methods = [one["method"] for one in client.news]
    assert PROGRESS not in methods[methods.index(STATUS) + methods.count(STATUS) + len(told) :]
    assert methods[-1] == STATUS


async def test_B5_the_same_tool_tells_its_steps_in_the_way_of_each_era(app: App) -> None:
    """Ours: field case B5: 2026 by `statusMessage` and steps, legacy by notifications."""
    stepping = Stepping(app, inline_seconds=0)
    async with app.serving() as peer:
        task_id = await peer.start("step")
        stepping.say("reading")
        task = await peer.until(task_id, lambda one: one.get("statusMessage") == "reading")
        assert run_facts(task)["progress"]["done"] == 1
        stepping.say("sorting")
        stepping.finish()
        ended = await peer.ended(task_id)
    assert [one["message"] for one in run_facts(ended)["steps"]] == ["reading", "sorting"]


async def test_without_a_token_no_progress_is_told(app: App) -> None:
    """Spec: progress: only tokens that were given (field case B2)."""
    stepping = Stepping(app)
    async with served(app) as client, client.listening():
        task_id = await client.start("step")
        stepping.say("reading")
        await client.until(task_id, lambda one: one.get("statusMessage") == "reading")
        stepping.finish()
        await until(lambda: bool(client.told(STATUS)[-1:]), "its status was told")
        await until(lambda: client.told(STATUS)[-1]["status"] == "completed", "it was told")
    assert client.told(PROGRESS) == []


async def test_each_change_of_status_is_told_whole(app: App) -> None:
    """Spec: 2025-11-25, Task Status Notification: the full task, without related-task."""

    @app.tool()
    async def ask(ctx: Context[Any, Any]) -> str:
        answer = await ctx.elicit("Go on?", Nothing)
        return answer.action

    async def answer(_request: Json) -> Json:
        return {"result": {"action": "decline"}}

    async with served(app) as client, client.listening():
        client.on_request = answer
        task_id = await client.start("ask")
        await until(lambda: bool(client.told(STATUS)), "it was told that it asks")
        await client.result(task_id)
        await until(lambda: client.told(STATUS)[-1]["status"] == "completed", "it was told")
        final = await client.get(task_id)
    told = client.told(STATUS)
    statuses = [one["status"] for one in told]
    assert statuses[0] == "input_required"
    assert statuses[-1] == "completed"
    assert all("_meta" not in one for one in told)
    assert {**told[-1], "pollInterval": 0} == {
        **{key: one for key, one in final.items() if key != "_meta"},
        "pollInterval": 0,
    }


async def test_a_cancel_is_told_once_and_nothing_after_it(app: App) -> None:
    """Spec: 2025-11-25, progress: stops when the task is terminal."""
    stepping = Stepping(app)
    async with served(app) as client, client.listening():
        task_id = await client.start("step", "t")
        stepping.say("reading")
        await until(lambda: bool(client.told(PROGRESS)), "a step was told")
        await client.cancel(task_id)
        await until(lambda: client.told(STATUS)[-1]["status"] == "cancelled", "it was told")
        await client.until(task_id, lambda one: "stoppedHow" in run_facts(one))
        await client.start("step")  # whatever comes now comes behind what was told before
    methods = [one["method"] for one in client.news]
    assert [one["status"] for one in client.told(STATUS)].count("cancelled") == 1
    last = max(at for at, one in enumerate(client.news) if one["params"].get("taskId") == task_id)
    assert PROGRESS not in methods[last:]


async def test_a_stateless_servers_news_ride_on_tasks_result(app: App) -> None:
    """Ours: there is no session to tell, but somebody waits: the same token, strictly rising."""
    stepping = Stepping(app)
    news: list[Json] = []
    async with served(app, stateless_http=True) as client, anyio.create_task_group() as group:
        task_id = await client.start("step", "t")
        request = client.request("tasks/result", {"taskId": task_id})

        async def wait() -> None:
            response = await client.http.send(request, stream=True)
            async for line in response.aiter_lines():
                if line.startswith("data:") and line[5:].strip():
                    news.append(json.loads(line[5:]))
            await response.aclose()

        stepping.say("unheard")
        await client.until(task_id, lambda one: one.get("statusMessage") == "unheard")
        group.start_soon(wait)
        followers: Any = app.tasks._legacy.followers  # pyright: ignore[reportPrivateUsage]
        await until(lambda: bool(followers._streams), "the stream is open")
        for word in ("sorting", "writing"):
            stepping.say(word)
            await until(lambda w=word: w in str(news), f"{word} was told")
        stepping.finish()
        await until(lambda: bool(news) and "result" in news[-1], "it was answered")
    told = [one["params"] for one in news if one.get("method") == PROGRESS]
    assert [one["message"] for one in told] == ["sorting", "writing"]
    assert {one["progressToken"] for one in told} == {"t"}
    assert rising(told)


@pytest.mark.parametrize("version", REVISIONS)
@pytest.mark.parametrize("stateless", [False, True], ids=["stateful", "stateless"])
async def test_a_plain_call_tells_its_progress_on_its_own_stream(
    app: App, version: str, stateless: bool
) -> None:
    """Spec: progress: on the request's stream, strictly rising, nothing after the answer."""
    stepping = Stepping(app)
    async with served(app, version=version, stateless_http=stateless) as client:
        replies: list[Any] = []

        async def call() -> None:
            replies.append(await client.call("step", 7))

        async with anyio.create_task_group() as group:
            group.start_soon(call)
            for word in ("reading", "sorting", "writing"):
                stepping.say(word)
                await anyio.lowlevel.checkpoint()
            stepping.finish()
    [reply] = replies
    assert reply.text == "done"
    assert reply.progress[-1] == {
        "progressToken": 7,
        "progress": 3,
        "total": 5,
        "message": "writing",
    }
    assert rising(reply.progress)


async def test_a_store_that_fails_ends_the_news_of_one_task_and_nothing_else(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: notifications are optional; its client polls, and all others are told on."""
    one, other = Stepping(app, name="one"), Stepping(app, name="other")
    async with served(app) as client, client.listening():
        broken = await client.start("one", "one")
        store: Any = app.tasks.store
        get = store.get

        async def failing(task_id: str) -> object:
            if task_id == broken:
                raise StoreError("the disk is full")
            return await get(task_id)

        monkeypatch.setattr(store, "get", failing)
        one.say("unheard")
        await until(lambda: "cannot be followed" in caplog.text, "it was given up")
        monkeypatch.setattr(store, "get", get)
        told = await client.start("other", "other")
        other.say("heard")
        await until(lambda: bool(client.told(PROGRESS)), "the other was told")
        one.finish()
        other.finish()
        await client.ended(broken)
        await client.ended(told)
    assert {item["progressToken"] for item in client.told(PROGRESS)} == {"other"}
