"""`python -m checks.beyond_the_suite URL`: points of the tasks extension the suite does not assert.

A server can break each of these and still pass all 44 checks. It is asked in plain HTTP, with
nothing but the standard library, so no client library can paper over an answer. The server needs
the suite's `slow_compute` and `confirm_delete` tools.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

REVISION = "2026-07-28"
VENDOR = "io.modelcontextprotocol"
TASKS = f"{VENDOR}/tasks"

HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
INVALID_PARAMS = -32602

UNTIL_SECONDS = 5
"""How long a task may take to ask for input, or to end after a cancel."""


@dataclass(frozen=True)
class Answer:
    """What came back: the HTTP status and the JSON-RPC message, `{}` when there was none."""

    http: int
    message: dict[str, Any]

    @property
    def error(self) -> int | None:
        """The JSON-RPC error code, or None."""
        return self.message.get("error", {}).get("code")

    @property
    def result(self) -> dict[str, Any]:
        """The JSON-RPC result, `{}` when the answer is an error."""
        return self.message.get("result") or {}

    def __str__(self) -> str:
        return f"HTTP {self.http} {json.dumps(self.message)[:300]}"


@dataclass(frozen=True)
class Point:
    """One point, whether the server kept it, and what it was seen to do."""

    name: str
    kept: bool
    seen: str

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'GAP '} {self.name}: {self.seen}"


LISTENED = "a declared client may listen to its tasks"
REFUSED_TO_LISTEN = "an undeclared client that would listen to tasks is refused"


class Peer:
    """A bare 2026-07-28 client: one POST a request."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._ids = itertools.count(1)

    def ask(
        self,
        method: str,
        params: dict[str, Any],
        *,
        declared: bool = True,
        name: str | None = None,
        first_event: bool = False,
    ) -> Answer:
        """POST one request. `name` is the `Mcp-Name` header; "" leaves it out."""
        capabilities: dict[str, Any] = {"elicitation": {"form": {}}}
        if declared:
            capabilities["extensions"] = {TASKS: {}}
        meta = {
            f"{VENDOR}/protocolVersion": REVISION,
            f"{VENDOR}/clientInfo": {"name": "beyond-the-suite", "version": "1"},
            f"{VENDOR}/clientCapabilities": capabilities,
        }
        id_ = next(self._ids)
        body = {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": meta}}
        headers = {
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": REVISION,
            "mcp-method": method,
        }
        if name is None:
            name = params.get("taskId") or params.get("name")
        if name:
            headers["mcp-name"] = name
        request = urllib.request.Request(self.url, json.dumps(body).encode(), headers)  # noqa: S310
        try:
            response = urllib.request.urlopen(request, timeout=UNTIL_SECONDS)  # noqa: S310
        except urllib.error.HTTPError as refused:
            response = refused
        with response:
            status = response.status or 0
            if "event-stream" in response.headers.get("content-type", ""):
                return Answer(status, _last_event(response, None if first_event else id_))
            text = response.read()
        return Answer(status, json.loads(text) if text else {})

    def start(self, tool: str, **arguments: Any) -> str:
        """Call a tool that becomes a task; the task's id."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if "taskId" not in answer.result:
            raise RuntimeError(f"{tool!r} did not become a task: {answer}")
        return answer.result["taskId"]

    def get(self, task_id: str) -> dict[str, Any]:
        """The task as `tasks/get` shows it now."""
        return self.ask("tasks/get", {"taskId": task_id}).result

    def get_until(self, task_id: str, accept: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first view `accept` takes, or the last one when `UNTIL_SECONDS` have passed."""
        deadline = time.monotonic() + UNTIL_SECONDS
        while not accept(view := self.get(task_id)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return view


def _last_event(response: Any, id_: int | None) -> dict[str, Any]:
    """The event that answers request `id_`, or simply the first one for None."""
    last: dict[str, Any] = {}
    try:
        for line in response:
            if line.startswith(b"data:") and line[5:].strip():
                last = json.loads(line[5:])
                if id_ is None or last.get("id") == id_:
                    break
    except TimeoutError:
        pass  # a stream that says nothing is answered by what it said so far
    return last


def run(url: str) -> list[Point]:
    """Ask the server at `url` about every point."""
    peer = Peer(url)
    return [*_gates(peer), *_time(peer), *_listening(peer), *_input(peer)]


def _gates(peer: Peer) -> Iterator[Point]:
    task_id = peer.start("slow_compute", seconds=30, label="gates")

    def refused(name: str, answer: Answer, code: int) -> Point:
        return Point(name, answer.error == code and answer.http == 400, str(answer))

    get = {"taskId": task_id}
    missing = peer.ask("tasks/get", get, name="")
    yield refused("a missing Mcp-Name is refused", missing, HEADER_MISMATCH)
    wrong = peer.ask("tasks/get", get, name="another")
    yield refused("a wrong Mcp-Name is refused", wrong, HEADER_MISMATCH)
    undeclared = peer.ask("tasks/get", get, declared=False)
    yield refused("an undeclared client is refused", undeclared, MISSING_CAPABILITY)
    for method in ("tasks/get", "tasks/update", "tasks/cancel"):
        responses: dict[str, Any] = {"inputResponses": {}} if method == "tasks/update" else {}
        answer = peer.ask(method, {"taskId": "nope", **responses})
        name = f"{method} of an unknown task is refused"
        yield Point(name, answer.error == INVALID_PARAMS, str(answer))
    peer.ask("tasks/cancel", get)


def _time(peer: Peer) -> Iterator[Point]:
    task_id = peer.start("slow_compute", seconds=30, label="time")
    before = peer.get(task_id)
    time.sleep(0.3)  # far more than the milliseconds lastUpdatedAt is given in
    after = peer.get(task_id)
    moments = [view.get("lastUpdatedAt") for view in (before, after)]
    yield Point("looking at a task does not update it", moments[0] == moments[1], repr(moments))
    peer.ask("tasks/cancel", {"taskId": task_id})
    ended = peer.get_until(task_id, lambda view: view.get("status") == "cancelled")
    moved = ended.get("lastUpdatedAt") != after.get("lastUpdatedAt")
    yield Point("an ending moves lastUpdatedAt", moved, json.dumps(ended)[:300])
    bare = "result" not in ended and "error" not in ended
    yield Point("a cancelled task has neither result nor error", bare, json.dumps(ended)[:300])


def _listening(peer: Peer) -> Iterator[Point]:
    task_id = peer.start("slow_compute", seconds=30, label="listening")
    wanted = {"notifications": {"taskIds": [task_id]}}
    answer = peer.ask("subscriptions/listen", wanted, first_event=True)
    yield Point(LISTENED, task_id in json.dumps(answer.message), str(answer))
    answer = peer.ask("subscriptions/listen", wanted, declared=False, first_event=True)
    yield Point(REFUSED_TO_LISTEN, answer.error == MISSING_CAPABILITY, str(answer))
    peer.ask("tasks/cancel", {"taskId": task_id})


def _input(peer: Peer) -> Iterator[Point]:
    def asking(view: dict[str, Any]) -> bool:
        return view.get("status") == "input_required"

    task_id = peer.start("confirm_delete", filename="f")
    peer.get_until(task_id, asking)
    answer = peer.ask("tasks/cancel", {"taskId": task_id})
    ended = peer.get_until(task_id, lambda view: view.get("status") == "cancelled")
    cancelled = answer.error is None and ended.get("status") == "cancelled"
    yield Point("a task that waits for input can be cancelled", cancelled, json.dumps(ended)[:300])

    task_id = peer.start("confirm_delete", filename="f")
    keys = peer.get_until(task_id, asking).get("inputRequests", {})
    malformed = {"taskId": task_id, "inputResponses": dict.fromkeys(keys, 12345)}
    answer = peer.ask("tasks/update", malformed)
    mannered = bool(keys) and answer.error in (None, INVALID_PARAMS)
    yield Point("a malformed answer is acknowledged or refused", mannered, str(answer))
    view = peer.get(task_id)
    unharmed = view.get("status") == "input_required" and view.get("inputRequests") == keys
    yield Point("a malformed answer leaves the question open", unharmed, json.dumps(view)[:300])
    peer.ask("tasks/cancel", {"taskId": task_id})


def tally(points: list[Point]) -> str:
    """One line: how many points the server keeps."""
    return f"beyond the suite: {sum(point.kept for point in points)} of {len(points)} points kept"


def main() -> int:
    """Print every point and the tally; 1 if there is a gap that is not known."""
    parser = argparse.ArgumentParser(prog="checks.beyond_the_suite", description=__doc__)
    parser.add_argument(
        "url", help="the server's MCP endpoint, for example http://127.0.0.1:8000/mcp"
    )
    points = run(parser.parse_args().url)
    for point in points:
        sys.stdout.write(f"  {point}\n")
    sys.stdout.write(f"{tally(points)}\n")
    return 0 if all(point.kept for point in points) else 1


if __name__ == "__main__":
    sys.exit(main())
