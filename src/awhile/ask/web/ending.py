"""Event streams that end when the page is no longer served: by themselves they never would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import Headers

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class EndingStreams:
    """An app around another one, whose open event streams can be ended."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._open: set[anyio.CancelScope] = set()

    def end(self) -> None:
        """End every stream that is open, whole; the page then finds that nobody answers."""
        for each in self._open:
            each.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As ASGI has it."""
        answer = anyio.CancelScope()

        async def passed(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and _is_stream(message):
                self._open.add(answer)

        try:
            with answer:
                await self._app(scope, receive, passed)
        finally:
            self._open.discard(answer)
        if answer.cancelled_caught:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _is_stream(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return kind.startswith("text/event-stream")


__all__ = ["EndingStreams"]
