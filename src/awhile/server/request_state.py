"""One key for the request states of all servers on a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.mcpserver import MCPServer


def share_request_states(server: MCPServer[Any], keys: Sequence[str]) -> None:
    """Seal what the server asks with the first key, and unseal with any of them.

    The SDK makes a key of its own for each process unless the module gave it some; both are
    replaced here (contract test: the boundary among the middleware).
    """
    boundary = RequestStateBoundary(RequestStateSecurity(keys=keys), default_audience=server.name)
    server.middleware[:] = [
        boundary if isinstance(one, RequestStateBoundary) else one for one in server.middleware
    ]
