"""What a detached body sees of its caller: reports become progress, requests become questions.

A body never holds the response stream of the request that started it (a disconnect there can hang
a sync tool's thread for good), so it gets a session over this channel instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.connection import Connection
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.transport_context import TransportContext
from mcp_types import INVALID_REQUEST, ErrorData

from awhile.runtime.ending import CannotAsk, NoAnswer
from awhile.server.asking import may_be_asked
from awhile.server.endings import unanswered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.shared.dispatcher import CallOptions
    from mcp.shared.message import MessageMetadata
    from mcp_types import ClientCapabilities, InitializeRequestParams, RequestId, RequestParamsMeta

    from awhile.runtime.run import Run


RESOLVER_VERSION = "2025-11-25"
"""The era a body is told it serves when no request is left to answer with ``input_required``:
resolvers then ask as that era does, over the session, and so become the task's input requests
(contract test: resolvers)."""


def refusal(error: MCPError) -> dict[str, Any]:
    """The answer of a client that refused a question, as it is kept with the task."""
    return {"error": error.error.model_dump(by_alias=True, mode="json", exclude_none=True)}


class NeverCancelled:
    """The part of the SDK's ``DispatchContext`` that would tell of a cancel: ours come by scopes,
    and by the run."""

    _cancel_requested: anyio.Event | None = None

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set."""
        if self._cancel_requested is None:  # few ask for it, and anyio's are dear to make
            self._cancel_requested = anyio.Event()
        return self._cancel_requested


class RunOutbound(NeverCancelled):
    """The SDK's ``DispatchContext`` over a `Run`; notifications other than progress go nowhere."""

    def __init__(
        self,
        run: Run,
        *,
        request_id: RequestId,
        headers: Mapping[str, str] | None,
    ) -> None:
        self._run = run
        self.request_id: RequestId | None = request_id
        self.transport = TransportContext(kind="task", can_send_request=True, headers=headers)
        self.can_send_request = True
        self.message_metadata: MessageMetadata = None

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Ask the caller; ends when it has answered (``opts`` has nothing that applies here)."""
        try:
            answer = dict(await self._run.ask({"method": method, "params": dict(params or {})}))
        except MCPError:
            raise
        except CannotAsk as cannot:
            raise MCPError(code=INVALID_REQUEST, message=str(cannot)) from cannot
        except NoAnswer as late:
            raise unanswered(late) from late
        if answer.keys() == {"error"}:  # see `refusal`; no answer of any method looks like this
            raise MCPError.from_error_data(ErrorData.model_validate(answer["error"]))
        return answer

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Tasks carry no log or other notifications (ext-tasks), so there is nowhere to send it."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """``ctx.report_progress`` of an unmodified tool."""
        self._run.report(progress, total, message)


def detached_session(
    run: Run,
    *,
    protocol_version: str,
    request_id: RequestId,
    client_params: InitializeRequestParams | None = None,
    client_capabilities: ClientCapabilities | None = None,
    headers: Mapping[str, str] | None = None,
    meta: RequestParamsMeta | None = None,
    unasked: str | None = None,
) -> ServerSession:
    """A session for a body that outlives its request.

    ``client_capabilities``: what its caller can be asked by. ``unasked``: why it can be asked
    nothing at all; None if it can.
    """
    run.ask_only(may_be_asked(client_capabilities, unasked))
    outbound = RunOutbound(run, request_id=request_id, headers=headers)
    connection = Connection(
        outbound, protocol_version=protocol_version, client_params=client_params
    )
    connection.client_capabilities = client_capabilities
    connection.initialized.set()
    return ServerSession(outbound, connection, request_meta=meta)
