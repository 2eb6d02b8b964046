"""A layer in front of a sound server that breaks one thing: what it is asked, or answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Json = dict[str, Any]


@dataclass
class Request:
    """One JSON-RPC request on its way in; what is changed here is what the server gets."""

    message: Json
    headers: dict[str, str]

    @property
    def method(self) -> str:
        return self.message.get("method", "")

    @property
    def params(self) -> Json:
        return self.message.setdefault("params", {})

    @property
    def task_id(self) -> str:
        return str(self.params.get("taskId"))

    def result(self, result: Json) -> Answer:
        """An answer without asking the server."""
        return Answer(200, {"jsonrpc": "2.0", "id": self.message.get("id"), "result": result})

    def error(self, code: int, words: str) -> Answer:
        """A refusal without asking the server."""
        error = {"code": code, "message": words}
        return Answer(400, {"jsonrpc": "2.0", "id": self.message.get("id"), "error": error})


@dataclass
class Answer:
    """One message on its way out, an answer or a notification, and the HTTP status of it all."""

    status: int
    message: Json
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def result(self) -> Json:
        return as_object(self.message.get("result"))

    @property
    def code(self) -> int | None:
        return as_object(self.message.get("error")).get("code")

    @property
    def task(self) -> Json:
        """The task in it, wherever it is; `{}` if there is none."""
        for found in (self.result.get("task"), self.result, self.message.get("params")):
            task = as_object(found)
            if "taskId" in task and "status" in task:
                return task
        return {}


def as_object(value: Any) -> Json:
    """A JSON object, or an empty one for anything else."""
    return cast("Json", value) if isinstance(value, dict) else {}


class Defect:
    """What is broken. State is of one server."""

    def asked(self, request: Request) -> Answer | None:
        """Change what is asked, or answer in the server's stead."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        """Change what is answered; None leaves the message out."""
        return answer


Make = Callable[[], Defect]


class Broken:
    """The ASGI app with the defect in front of it."""

    def __init__(self, app: ASGIApp, defect: Defect) -> None:
        self._app = app
        self._defect = defect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = b""
        while True:
            part = await receive()
            body += part.get("body", b"")
            if not part.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        request = Request(json.loads(body or b"{}"), headers)
        instead = self._defect.asked(request)
        if instead is not None:
            await _send_json(send, instead)
            return
        changed = json.dumps(request.message).encode()
        request.headers["content-length"] = str(len(changed))
        raw = [(name.encode(), value.encode()) for name, value in request.headers.items()]
        given = iter([{"type": "http.request", "body": changed, "more_body": False}])

        async def receive_changed() -> Message:
            return next(given, None) or await receive()

        replies = _Replies(self._defect, request, send)
        await self._app({**scope, "headers": raw}, receive_changed, replies.send)


class _Replies:
    """Lets each message out through the defect, in a stream or alone."""

    def __init__(self, defect: Defect, request: Request, send: Send) -> None:
        self._defect = defect
        self._request = request
        self._send = send
        self._start: Message = {}
        self._streamed = False
        self._pending = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            kind = dict(message["headers"]).get(b"content-type", b"")
            self._streamed = b"event-stream" in kind
            if self._streamed:
                await self._send(message)
            return
        self._pending += message.get("body", b"")
        more = bool(message.get("more_body"))
        if self._streamed:
            await self._send_events(more)
        elif not more:
            await self._send_whole()

    async def _send_events(self, more: bool) -> None:
        text = self._pending.replace(b"\r\n", b"\n")
        *events, self._pending = text.split(b"\n\n")
        out = b""
        for event in events:
            out += self._changed(event) + b"\n\n"
        await self._send({"type": "http.response.body", "body": out, "more_body": more})

    def _changed(self, event: bytes) -> bytes:
        lines: list[bytes] = []
        for line in event.split(b"\n"):
            if line.startswith(b"data:") and line[5:].strip():
                answer = self._defect.answered(self._request, Answer(200, json.loads(line[5:])))
                if answer is None:
                    return b": left out"
                extra = answer.headers.pop("before", None)
                if extra is not None:
                    lines += [b"data: " + extra.encode(), b""]
                lines.append(b"data: " + json.dumps(answer.message).encode())
            else:
                lines.append(line)
        return b"\n".join(lines)

    async def _send_whole(self) -> None:
        status = self._start["status"]
        if not self._pending:
            await self._send(self._start)
            await self._send({"type": "http.response.body", "body": b""})
            return
        answer = self._defect.answered(self._request, Answer(status, json.loads(self._pending)))
        assert answer is not None
        kept = [
            (name, value) for name, value in self._start["headers"] if name != b"content-length"
        ]
        await _send_json(self._send, answer, kept)


async def _send_json(
    send: Send, answer: Answer, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = json.dumps(answer.message).encode()
    kept = headers if headers is not None else [(b"content-type", b"application/json")]
    start = [*kept, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": answer.status, "headers": start})
    await send({"type": "http.response.body", "body": body})
