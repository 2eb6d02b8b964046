"""The wire to one server: connected when first needed, and again after it broke.

The only module that drives the SDK's client. Every failure leaves here as one of our errors.
"""

from __future__ import annotations

import logging
import sys
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT
from pydantic import RootModel, ValidationError

from awhile.client.era import ERAS, Era
from awhile.client.http import SESSION_GONE, UNSENT, HttpClient, SessionGone, unreachable
from awhile.client.inbox import Inbox, OnInput
from awhile.client.listen import Listening
from awhile.client.paging import Cursors
from awhile.client.transport import mended
from awhile.client.unreadable import unreadable
from awhile.concealed import shown_command
from awhile.errors import AwhileError, ProtocolFailed, SettingsError, TasksUnsupported

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from typing import TextIO

    import httpx2
    from anyio.abc import TaskGroup, TaskStatus
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import ReadResourceResult, Request, Tool

log = logging.getLogger(__name__)

CONNECT_SECONDS = 15.0
"""How long finding out what the server speaks may take."""

ANSWER_SECONDS = 15.0
"""How long a server may take over a question about a task; looking one up takes milliseconds."""


class _AnyResult(RootModel[dict[str, Any]]):
    """A result as it came: what it means is the era's business, not the SDK's."""


class Link:
    """One server, by whatever transport. ``target`` is what the SDK's ``Client`` takes."""

    def __init__(
        self,
        target: Any,
        *,
        headers: Mapping[str, str] | None,
        auth: httpx2.Auth | None = None,
        on_input: OnInput | None,
        answers_forms: bool,
        stderr: TextIO | None = None,
        tasks: TaskGroup,
    ) -> None:
        if isinstance(target, str) and urlsplit(target).scheme not in ("http", "https"):
            raise SettingsError(
                f"{target!r} is not an address of an MCP server: it has to begin with http:// or "
                "https://. Give the whole URL, such as 'http://127.0.0.1:8000/mcp'."
            )
        if (headers or auth) and not isinstance(target, str):
            raise SettingsError(
                "headers and auth only mean something with a URL; leave them out here."
            )
        self.name = _name(target)
        self._is_http = isinstance(target, str)
        self.findable = isinstance(target, str | StdioServerParameters)
        """Whether another process can reach the same server, so that keeping handles helps."""
        self._target = target
        self._headers = headers
        self._auth = auth
        self._answers_forms = answers_forms
        self._stderr = stderr
        self._tasks = tasks
        self.listening = Listening(era=self.era_or_none, send=self.request, tasks=tasks)
        self.inbox = Inbox(self.listening, on_input=on_input)
        """What the server sends by itself."""
        self._support: dict[str, str] = {}
        self._connecting = anyio.Lock()
        self._client: Client | None = None
        self._broke = anyio.Event()

    async def client(self) -> Client:
        """The SDK's client, connected.

        Raises:
            Unreachable: the server does not answer, or is not an MCP server.
        """
        async with self._connecting:
            if self._client is not None:
                return self._client
            try:
                with anyio.fail_after(CONNECT_SECONDS):
                    client: Client = await self._tasks.start(self._hold)
            except TimeoutError:
                why = f"not connected within {CONNECT_SECONDS:.0f} s"
                raise unreachable(why, unsent=True, server=self.name) from None
            self._client = client
            return client

    async def era(self) -> Era:
        """How this server speaks of tasks.

        Raises:
            TasksUnsupported: it has none.
        """
        era = await self.era_or_none()
        if era is None:
            raise TasksUnsupported(
                f"The server at {self.name!r} keeps no tasks (it declares none of an era known "
                "here), so no work can be found there by its id. Call the tool and wait instead."
            )
        return era

    async def era_or_none(self) -> Era | None:
        """How this server speaks of tasks; None if it has none."""
        client = await self.client()
        era = ERAS.get(client.protocol_version)
        return era if era is not None and era.served(client.server_capabilities) else None

    async def ask(self, request: Request[Any, Any]) -> dict[str, Any]:
        """`request`, about a task: such a question is answered within `ANSWER_SECONDS` or not."""
        return await self.request(request, timeout_seconds=ANSWER_SECONDS)

    async def request(
        self,
        request: Request[Any, Any],
        *,
        timeout_seconds: float | None = None,
        on_progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Send one request; its result as a plain object.

        Raises:
            Unreachable: no answer; `NotSent` if it certainly did not reach the server.
            ProtocolFailed: the server answered with a JSON-RPC error.
        """
        try:
            return await self._request(request, timeout_seconds, on_progress)
        except SessionGone:  # before the server looked at the request; a new session takes it
            return await self._request(request, timeout_seconds, on_progress)

    async def _request(
        self,
        request: Request[Any, Any],
        timeout_seconds: float | None,
        on_progress: ProgressFnT | None,
    ) -> dict[str, Any]:
        client = await self.client()
        with self._translating(request.method, client):
            result = await client.session.send_request(
                request,
                _AnyResult,
                request_read_timeout_seconds=timeout_seconds,
                progress_callback=on_progress,
            )
        return result.root

    async def list_tools(self) -> list[Tool]:
        """The server's tools, all pages of them."""
        client = await self.client()
        tools: list[Tool] = []
        cursors, more = Cursors("tools/list"), True
        while more:
            with self._translating("tools/list", client):
                page = await client.list_tools(cursor=cursors.latest, cache_mode="refresh")
            tools += page.tools
            more = cursors.go_on(page.next_cursor)
        self._support = {tool.name: _task_support(tool) for tool in tools}
        return tools

    async def task_support(self, tool: str) -> str:
        """What a 2025-11-25 server says of one tool: "required", "optional" or "forbidden"."""
        if tool not in self._support:
            await self.list_tools()
        return self._support.get(tool, "forbidden")

    async def read_resource(self, uri: str) -> ReadResourceResult:
        """One resource's contents."""
        client = await self.client()
        with self._translating("resources/read", client):
            return await client.read_resource(uri)

    @contextmanager
    def _translating(self, method: str, client: Client) -> Generator[None]:
        """Turn what the SDK raises into our errors, and notice a connection that broke."""
        try:
            yield
        except MCPError as error:
            if error.code not in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
                raise ProtocolFailed(error.message, code=error.code, data=error.data) from error
            data: Any = error.data
            why = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
            if SESSION_GONE in why:
                self._let_go(client)
                raise SessionGone(error.message) from error
            if UNSENT not in why and not self._is_http:
                self._let_go(client)
            unsent = why.get(UNSENT) is True
            raise unreachable(error.message, unsent=unsent, server=self.name) from error
        except OSError as broken:
            self._let_go(client)
            raise unreachable(str(broken), unsent=False, server=self.name) from broken
        except ValidationError as broken:
            raise unreadable(f"The server's answer to {method!r}", broken) from broken

    def _let_go(self, client: Client) -> None:
        """Give up a connection that broke; the next request makes a new one."""
        if self._client is client:
            self._client = None
            self._broke.set()

    async def _hold(self, *, task_status: TaskStatus[Client]) -> None:
        """Keep one client open until it breaks, in a task of its own as its scopes demand."""
        broke = self._broke = anyio.Event()
        connected = False
        try:
            async with AsyncExitStack() as stack:
                url = self._target if isinstance(self._target, str) else None
                http = HttpClient(url, self._headers, self._auth) if url is not None else None
                if http:
                    await stack.enter_async_context(http)
                client = await stack.enter_async_context(
                    Client(
                        self._transport(http),
                        extensions=self.inbox.extensions(),
                        elicitation_callback=self.inbox.elicit if self._answers_forms else None,
                        message_handler=self.inbox.hear,
                    )
                )
                if http:
                    http.answering = True
                connected = True
                task_status.started(client)
                await broke.wait()
        except Exception as broken:
            if not connected:
                raise _why_not_connected(broken, self.name) from broken
            log.debug("The connection to %r broke.", self.name, exc_info=True)
        finally:
            if self._broke is broke:
                self._client = None

    def _transport(self, http: HttpClient | None) -> Any:
        target = self._target
        if isinstance(target, (MCPServer, Server)):
            return cast("Any", target)
        if isinstance(target, str):
            target = streamable_http_client(target, http_client=http)
        elif isinstance(target, StdioServerParameters):
            target = stdio_client(target, errlog=self._stderr or sys.stderr)
        return mended(target)


def _why_not_connected(broken: Exception, name: str) -> AwhileError:
    """The one error behind a failed connect, dug out of the SDK's task groups."""
    while isinstance(broken, ExceptionGroup):
        broken = cast("ExceptionGroup[Exception]", broken).exceptions[0]
    match broken:
        case AwhileError():
            return broken
        case MCPError() if broken.code not in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            words = f"Connecting to {name!r} failed: {broken.message}"
            return ProtocolFailed(words, code=broken.code, data=broken.data)
        case _:
            return unreachable(str(broken) or type(broken).__name__, unsent=True, server=name)


def _task_support(tool: Tool) -> str:
    return (tool.execution.task_support if tool.execution else None) or "forbidden"


def _name(target: Any) -> str:
    """What the ledger calls this server: never with user info or a query, which may be secret, nor
    with what in a command looks like one."""
    if isinstance(target, str):
        parts = urlsplit(target)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if isinstance(target, StdioServerParameters):
        return f"stdio:{shown_command([target.command, *target.args])}"
    return f"in-process:{getattr(target, 'name', type(target).__name__)}"


__all__ = ["Link"]
