"""The network between a client and a server, as bad as a test wants it."""

from __future__ import annotations

from enum import Enum

import anyio
from anyio.abc import ByteStream, SocketAttribute, TaskStatus


class Door(Enum):
    """What happens to a connection."""

    OPEN = "passed on"
    HANGING_UP = "closed at once"
    AWAY = "a gateway's 503"
    BROKEN_OFF = "a gateway's 502"
    REFUSING = "a gateway's 401"
    ERRING = "a web server's 500"
    A_WEB_PAGE = "a web page"
    MUTE = "taken, and never answered"
    CUTTING = "passed on, but the answer breaks off in its middle"


AWAY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/html\r\n"
    b"Content-Length: 4\r\nConnection: close\r\n\r\naway"
)


class Doorway:
    """A relay in front of a server's port."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._door = Door.OPEN
        self._open: set[anyio.CancelScope] = set()
        self.url = ""
        self.sent = bytearray()
        """All that clients have sent, for counting requests."""

    async def serve(self, *, task_status: TaskStatus[None]) -> None:
        """Relay until cancelled."""
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        port = listener.listeners[0].extra(SocketAttribute.local_port)  # noqa: S610
        self.url = f"http://127.0.0.1:{port}/mcp"
        async with listener:
            task_status.started()
            await listener.serve(self._relay)

    def set(self, door: Door) -> None:
        """Change what happens, also to the connections there are."""
        self._door = door
        for scope in self._open:
            scope.cancel()

    def count(self, method: str, name: str = "") -> int:
        """How many requests of ``method`` (for one task) came through, by their headers."""
        wanted = [f"mcp-method: {method}".encode(), f"mcp-name: {name}".encode() if name else b""]
        requests = self.sent.split(b"POST ")[1:]
        return sum(all(header in request for header in wanted) for request in requests)

    async def _relay(self, client: ByteStream) -> None:
        with anyio.CancelScope() as scope:
            self._open.add(scope)
            async with client:
                match self._door:
                    case Door.HANGING_UP:
                        pass
                    case Door.AWAY:
                        await client.receive()
                        await client.send(AWAY)
                    case Door.BROKEN_OFF:
                        await client.receive()
                        await client.send(AWAY.replace(b"503 Service Unavailable", b"502 Bad"))
                    case Door.REFUSING:
                        await client.receive()
                        await client.send(AWAY.replace(b"503 Service Unavailable", b"401 No"))
                    case Door.ERRING:
                        await client.receive()
                        await client.send(AWAY.replace(b"503 Service Unavailable", b"500 Oh"))
                    case Door.A_WEB_PAGE:
                        await client.receive()
                        await client.send(AWAY.replace(b"503 Service Unavailable", b"200 OK"))
                    case Door.MUTE:
                        await anyio.sleep_forever()
                    case Door.OPEN | Door.CUTTING:
                        await self._pass_on(client)
        self._open.discard(scope)

    async def _pass_on(self, client: ByteStream) -> None:
        async with (
            await anyio.connect_tcp("127.0.0.1", self._server_port) as server,
            anyio.create_task_group() as both,
        ):

            async def copy(source: ByteStream, sink: ByteStream, *, cut: bool = False) -> None:
                try:
                    async for data in source:
                        if source is client:
                            self.sent += data
                        await sink.send(data[: len(data) - 20] if cut else data)
                        if cut:
                            break
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    pass
                both.cancel_scope.cancel()

            both.start_soon(copy, client, server)
            await copy(server, client, cut=self._door is Door.CUTTING)
