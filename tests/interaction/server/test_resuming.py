"""Answers whose connection was cut (field case C3): they come again, whole, and once."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anyio
import httpx2
import pytest
from mcp.server.streamable_http import EventCallback, EventId, EventMessage, EventStore, StreamId
from mcp_types import JSONRPCMessage, JSONRPCResponse

from awhile import Run
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy, served
from tests.interaction.server.peer import PATIENCE_SECONDS, Json, until

pytestmark = pytest.mark.anyio


class Events(EventStore):
    """What the SDK needs to resume a stream of 2025-11-25; whoever serves brings one."""

    def __init__(self) -> None:
        self._events: list[tuple[StreamId, JSONRPCMessage | None]] = []
        self.answered = False

    async def store_event(self, stream_id: StreamId, message: JSONRPCMessage | None) -> EventId:
        self._events.append((stream_id, message))
        self.answered |= isinstance(message, JSONRPCResponse)
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: EventId, send_callback: EventCallback
    ) -> StreamId | None:
        stream_id, _ = self._events[int(last_event_id) - 1]
        for number, (of, message) in enumerate(self._events, 1):
            if number > int(last_event_id) and of == stream_id and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream_id


class Work:
    """A tool that takes three steps, each when it is told to, and counts its runs and ends."""

    def __init__(self, app: App) -> None:
        self.runs = 0
        self.ends = 0
        self._steps = anyio.Semaphore(0)

        @app.tool(inline_seconds=0)
        async def work(run: Run) -> str:
            self.runs += 1
            for step in range(3):
                run.report(step + 1, 3, f"step {step + 1}")
                await self._steps.acquire()
                await anyio.sleep(0.12)  # reports closer than a tenth of a second are joined
            self.ends += 1
            return "done"

    def step(self, count: int = 1) -> None:
        """Let it take some steps."""
        for _ in range(count):
            self._steps.release()


async def events_of(response: httpx2.Response) -> AsyncIterator[tuple[str, Json | None]]:
    """Each event's id, with its message if it has one."""
    event_id = ""
    async for line in response.aiter_lines():
        if line.startswith("id:"):
            event_id = line[3:].strip()
        elif line.startswith("data:"):
            data = line[5:].strip()
            yield event_id, json.loads(data) if data else None


@pytest.mark.parametrize("ended", [False, True], ids=["while it works", "when it has ended"])
@pytest.mark.parametrize("steps", [0, 1, 2])
async def test_C3_a_cut_call_of_2025_is_resumed_without_loss_or_repetition(
    app: App, steps: int, ended: bool
) -> None:
    """Spec: 2025-11-25, transports, Resumability. Ours: field case C3: cut after so many steps.

    The first event of a stream has an id and nothing else, so there is always one to resume from.
    """
    work = Work(app)
    seen: list[tuple[str, Json | None]] = []
    events = Events()
    async with served(app, event_store=events) as client:
        request = client.request("tools/call", {"name": "work", "arguments": {}}, "t")
        response = await client.http.send(request, stream=True)
        with anyio.fail_after(PATIENCE_SECONDS):
            async for event in events_of(response):
                seen.append(event)
                if len(seen) == 1 + steps:
                    break
                if event[1] is not None:
                    work.step()
        await response.aclose()
        work.step(3)
        if ended:
            # Between replay and tail, the SDK's resumed stream misses what is sent meanwhile.
            await until(lambda: events.answered, "it was answered")
        headers = {**client.headers, "accept": "text/event-stream", "last-event-id": seen[-1][0]}
        resumed = client.http.build_request("GET", client.url, headers=headers)
        response = await client.http.send(resumed, stream=True)
        with anyio.fail_after(PATIENCE_SECONDS):
            async for event in events_of(response):
                seen.append(event)
                if event[1] is not None and "result" in event[1]:
                    break
        await response.aclose()
    *told, answer = [message for _, message in seen if message is not None]
    assert [one["params"]["message"] for one in told] == ["step 1", "step 2", "step 3"]
    assert answer["result"]["content"][0]["text"] == "done"
    assert len({event_id for event_id, _ in seen}) == len(seen)
    assert (work.runs, work.ends) == (1, 1)


@pytest.mark.parametrize("steps", [0, 1, 3])
async def test_C3_a_cut_tasks_result_is_simply_asked_again(app: App, steps: int) -> None:
    """Ours: field case C3: a result is kept until its task expires, whoever was sent it."""
    work = Work(app)
    async with served(app) as client:
        task_id = await client.start("work")
        about = {"taskId": task_id}
        response = await client.http.send(client.request("tasks/result", about), stream=True)
        work.step(steps)
        await response.aclose()
        work.step(3 - steps)
        other = await Legacy(client.url, client.http).opened()
        results = [(await by.result(task_id)).result for by in (client, other, client)]
        assert results[0] == results[1] == results[2]
        assert results[0]["content"][0]["text"] == "done"
        await other.leave()
    assert (work.runs, work.ends) == (1, 1)


async def test_C3_a_lost_push_of_a_task_is_pushed_again(app: App) -> None:
    """Ours: field case C3, 2026-07-28: a stream is not resumed; a new one begins with the task as
    it is now, and that is all there is to know."""
    work = Work(app)
    async with app.serving() as peer:
        task_id = (await peer.call("work")).result["taskId"]
        wanted: Json = {"notifications": {"taskIds": [task_id]}}
        for _ in range(3):
            async with peer.opened(peer.request("subscriptions/listen", wanted)) as (_, messages):
                assert "acknowledged" in (await anext(messages))["method"]
            work.step()
        await peer.ended(task_id)
        async with peer.opened(peer.request("subscriptions/listen", wanted)) as (_, messages):
            await anext(messages)
            with anyio.fail_after(PATIENCE_SECONDS):
                task: Json = (await anext(messages))["params"]
    assert task["status"] == "completed"
    assert task["result"]["content"][0]["text"] == "done"
    assert (work.runs, work.ends) == (1, 1)
