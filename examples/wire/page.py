"""The page ``docs/wire.md``: what goes over the wire, recorded from a running server.

``python -m examples.wire.page > docs/wire.md`` (or ``make wire``) records it anew; a test compares.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import uvicorn

from awhile.server.http import http_app
from awhile.server.v2025 import LONGEST_KEEP_MS, SHORTEST_KEEP_MS
from examples.wire.recorder import TASKS, VENDOR, Client, Json, Transcript, pretty
from examples.wire.server import build

MODERN, LEGACY = "2026-07-28", "2025-11-25"
DAY_MS = 24 * 60 * 60 * 1000

INTRODUCTION = """\
# On the wire

What clients and servers say to each other at each layer of waiting, recorded from the server in
[`examples/wire`](../examples/wire) by `make wire`. Its two tools are `quick`, which is never a
task, and `long_job`, which takes 0.6 s a step and is always a task for whoever can take one.

Times, ids and the last digits of lifetimes are made the same in every recording, headers that do
not matter here are left out, and `"…": "…"` stands for what every request of a client repeats.
"""

MEASURES = f"""\
## Who may see a task, and the limits

A task belongs to whoever made it: the issuer and subject of a verified bearer token. Callers
without a token are all the same caller, `anonymous`, so a server without authentication listens on
loopback and stdio alone; there, whoever runs programs on the machine shares the tasks. Behind a
proxy such callers cannot be told apart, and are offered no list. Ids have 128 random bits.

| | |
|---|---|
| a task's life | as long as its work takes, and then `keep_seconds` (7 days) more |
| `ttl` of 2025-11-25 | at least {SHORTEST_KEEP_MS // 1000} seconds after the end, at most \
`keep_seconds` of the tool, and {LONGEST_KEEP_MS // DAY_MS} days for a tool that keeps for ever |
| at once | `slots` (32) bodies in a process, with a limit by caller of three quarters of them; \
what comes beyond that waits as a task, in a fair and bounded queue |
| listen streams | `listen_streams` (1024) in a process, a quarter of them for one caller (by \
token, or by address behind a proxy), each for `listen_seconds` (an hour) |
| questions and look-ups | as many as come; a limit on their rate belongs into a proxy in front |
"""


class Recording:
    """One server and one transcript of what is said to it."""

    def __init__(self, url: str, http: httpx2.AsyncClient, script: Transcript) -> None:
        self._url = url
        self._http = http
        self._script = script

    def modern(self, *, declares: bool = True) -> Client:
        """A client of 2026-07-28; ``declares``: whether it can take tasks."""
        can: Json = {"extensions": {TASKS: {}}} if declares else {}
        meta: Json = {
            f"{VENDOR}/protocolVersion": MODERN,
            f"{VENDOR}/clientInfo": {"name": "reader", "version": "1"},
            f"{VENDOR}/clientCapabilities": can,
        }
        headers = {"mcp-protocol-version": MODERN}
        return Client(self._url, self._http, self._script, headers, meta)

    async def legacy(self) -> tuple[Client, Json]:
        """A client of 2025-11-25 after its handshake, and what the server declared."""
        client = Client(self._url, self._http, self._script, {}, {})
        params: Json = {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "reader", "version": "1"},
        }
        request = client.request("initialize", params, None)
        async with client.sent(request) as (response, messages):
            [answer] = [one async for one in messages]
        client.headers["mcp-protocol-version"] = LEGACY
        client.headers["mcp-session-id"] = response.headers["mcp-session-id"]
        await client.notify("notifications/initialized")
        return client, answer["result"]["capabilities"]


async def record() -> str:
    """The whole page."""
    script = Transcript()
    script.add(INTRODUCTION)
    async with serving(script) as recording:
        await inline(recording, script)
        await tasks_2026(recording, script)
        await listening(recording, script)
        await tasks_2025(recording, script)
    async with serving(script, inline_limit_seconds=1.4) as recording:
        await without_tasks(recording, script)
    script.add(MEASURES)
    return script.text()


async def inline(recording: Recording, script: Transcript) -> None:
    """Layer 1."""
    script.say("## Progress on an inline call")
    script.say("A call that ends at once is answered by one JSON object.")
    client = recording.modern(declares=False)
    await client.ask("tools/call", {"name": "quick", "arguments": {"name": "Ada"}})
    script.say(
        "A client that takes no tasks waits for a long one. With a progress token it hears how far "
        "it is, on the response's own stream, whose last message is the answer. (Without one, the "
        "stream is opened within a second all the same, and carries a comment every 15 s.)"
    )
    call: Json = {"name": "long_job", "arguments": {"steps": 3}}
    await client.ask("tools/call", call, meta={"progressToken": "p-1"})


async def tasks_2026(recording: Recording, script: Transcript) -> None:
    """Layer 3 of the newer era."""
    script.say(f"## Tasks, {MODERN}")
    script.say(
        "The server says in `server/discover` that it has the extension; the client says so in "
        "every request. Whether a call becomes a task is the server's decision."
    )
    client = recording.modern()
    call: Json = {"name": "long_job", "arguments": {"steps": 3}}
    task_id = (await client.ask("tools/call", call))["taskId"]
    script.say(
        "A poll. What the extension has no member for is in `_meta`, under `awhile/run`: progress "
        "in numbers, and the recent steps, so that whoever polls slowly loses none."
    )
    about: Json = {"taskId": task_id}
    await client.ask_unseen("tasks/get", about, at_step_two)
    await client.ask("tasks/get", about)
    script.say("Its end, with the result. `ttlMs` counts from `createdAt`: seven days are left.")
    await client.ask_unseen("tasks/get", about, ended)
    await client.ask("tasks/get", about)
    script.say("An answer to nothing that was asked is acknowledged, and ignored.")
    await client.ask("tasks/update", {**about, "inputResponses": {"color": {"action": "decline"}}})
    script.say(
        "Another task, stopped. The acknowledgement promises nothing; the status says `cancelled` "
        "once the work has stopped, and `awhile/run` says how that is known."
    )
    task_id = (await client.ask_unseen("tools/call", call))["taskId"]
    about = {"taskId": task_id}
    await client.ask_unseen("tasks/get", about, at_step_one)
    await client.ask("tasks/cancel", about)
    await client.ask_unseen("tasks/get", about, ended)
    await client.ask("tasks/get", about)
    script.say("An id that is unknown, expired, or somebody else's: always the same answer.")
    await client.ask("tasks/get", {"taskId": "0" * 32})


async def listening(recording: Recording, script: Transcript) -> None:
    """Layer 2."""
    script.say("## Subscriptions, with tasks")
    script.say(
        "Instead of polling: the stream is acknowledged first, with what will be told, and then "
        "carries the whole task whenever it has changed. Every message names its subscription."
    )
    client = recording.modern()
    call: Json = {"name": "long_job", "arguments": {"steps": 3}}
    task_id = (await client.ask_unseen("tools/call", call))["taskId"]
    await client.ask_unseen("tasks/get", {"taskId": task_id}, at_step_one)
    wanted: Json = {"notifications": {"taskIds": [task_id, "0" * 32]}}
    async with client.stream("subscriptions/listen", wanted) as messages:
        heard = [await anext(messages)]
        async for message in messages:
            heard.append(message)
            if message["params"]["status"] == "completed":
                break
    script.say("The second id is unknown, so the acknowledgement leaves it out.")
    for message in heard:
        message["params"].get("_meta", {}).pop("awhile/run", None)
    script.show(*"\n\n".join(f"data: {pretty(one)}" for one in heard).split("\n"))
    script.say("(`awhile/run` was left out of each.)")


async def tasks_2025(recording: Recording, script: Transcript) -> None:
    """Layer 3 of the older era."""
    script.say(f"## Tasks, {LEGACY}")
    client, capabilities = await recording.legacy()
    declared = pretty(capabilities["tasks"])
    script.say(
        f"The handshake declares `capabilities.tasks` as `{declared}`. The caller decides, by "
        "`params.task`, and is told at once that the work has begun."
    )
    call: Json = {"name": "long_job", "arguments": {"steps": 3}, "task": {"ttl": 3_600_000}}
    async with client.news() as news:
        created = await client.ask("tools/call", call, meta={"progressToken": "p-1"})
        about: Json = {"taskId": created["task"]["taskId"]}
        await client.ask_unseen("tasks/get", about, at_step_two)
        await client.ask("tasks/get", about)
        script.say("`tasks/result` waits for the end.")
        await client.ask("tasks/result", about)
        with anyio.fail_after(30):
            while not any(map(tells_the_end, news)):  # noqa: ASYNC110 - read by another task
                await anyio.sleep(0.01)
        script.say("Meanwhile, on the session's own stream (`GET /mcp`):")
        script.show(*"\n\n".join(f"data: {pretty(one)}" for one in news).split("\n"))
    script.say(
        "The caller's tasks, newest first, those of the other era included (here the first alone)."
    )
    await client.ask("tasks/list", {}, edit=newest_only)
    script.say("In this era a cancel is the ending at once, and its answer says so.")
    created = await client.ask_unseen("tools/call", call)
    about = {"taskId": created["task"]["taskId"]}
    await client.ask_unseen("tasks/get", about, at_step_one)
    await client.ask("tasks/cancel", about)


def newest_only(listed: Json) -> None:
    """Shorten a list to its first task."""
    del listed["tasks"][1:]


def tells_the_end(notification: Json) -> bool:
    """Whether this is the news that a task has completed."""
    return notification["params"].get("status") == "completed"


def at_step_one(task: Json) -> bool:
    """Whether the work has begun its first step."""
    return task.get("statusMessage") == "step 1 of 3"


def at_step_two(task: Json) -> bool:
    """Whether the work has come to its second step."""
    return task.get("statusMessage") == "step 2 of 3"


def ended(task: Json) -> bool:
    """Whether a task has ended."""
    return task["status"] in {"completed", "failed", "cancelled"}


async def without_tasks(recording: Recording, script: Transcript) -> None:
    """Hosts that know no tasks."""
    script.say("## A host without task support")
    script.say(
        "Most hosts show an error after 60 s. So a call that takes longer than "
        "`inline_limit_seconds` (45; here 1.4) is answered before that, in words that no model "
        "takes for the result, and three companion tools go on with it. The answer is marked as an "
        "error only because `long_job` promises structured results: clients refuse one without."
    )
    client = recording.modern(declares=False)
    early = await client.ask("tools/call", {"name": "long_job", "arguments": {"steps": 4}})
    task_id = early["_meta"]["awhile/stillRunning"]["taskId"]
    await client.ask("tools/call", {"name": "task_list", "arguments": {}})
    await client.ask("tools/call", {"name": "task_result", "arguments": {"id": task_id}})
    await client.ask("tools/call", {"name": "task_cancel", "arguments": {"id": task_id}})


@asynccontextmanager
async def serving(
    script: Transcript, inline_limit_seconds: float = 45
) -> AsyncGenerator[Recording]:
    """The example server, on a free port and a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"sqlite:///{Path(folder) / 'wire.db'}"
        app = http_app(build(store, inline_limit_seconds))
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve)
            with anyio.fail_after(30):
                while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                    await anyio.sleep(0.01)
            port = server.servers[0].sockets[0].getsockname()[1]
            async with httpx2.AsyncClient(timeout=30) as http:
                yield Recording(f"http://127.0.0.1:{port}/mcp", http, script)
            server.should_exit = True


if __name__ == "__main__":
    sys.stdout.write(anyio.run(record))
