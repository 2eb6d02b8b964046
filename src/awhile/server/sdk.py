"""What the official SDK has to be: looked at once, before anything else of this room is loaded.

Awhile builds on parts of ``mcp`` that may change in a minor release. How they behave is in
``tests/contract/sdk``; here is their shape, so that another SDK is told by what is missing, when
the server's module is loaded, and not by a wrong answer later.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST, TOO_NEW = (2, 3), (3, 0)
"""The versions that may work, as in pyproject.toml; those that were tested are its constraints."""

LEANT_ON: Mapping[str, tuple[str, ...]] = {
    "mcp.server.connection:Connection": ("outbound", "protocol_version", "client_params"),
    "mcp.server.connection:Connection.notify": ("method", "params"),
    "mcp.server.connection:Connection.has_standalone_channel": (),
    "mcp.server.context:ServerRequestContext": (
        "session",
        "lifespan_context",
        "protocol_version",
        "method",
        "params",
        "request_id",
        "meta",
        "request",
    ),
    "mcp.server.extension:Extension.intercept_tool_call": ("params", "ctx", "call_next"),
    "mcp.server.extension:MethodBinding": ("method", "params_type", "handler", "protocol_versions"),
    "mcp.server.mcpserver:Context": ("request_context", "mcp_server"),
    "mcp.server.mcpserver:MCPServer": ("extensions", "middleware", "lifespan", "subscriptions"),
    "mcp.server.mcpserver:MCPServer.call_tool": ("name", "arguments", "context"),
    "mcp.server.mcpserver:MCPServer.middleware": (),
    "mcp.server.mcpserver:MCPServer.session_manager": (),
    "mcp.server.mcpserver:require_client_extension": ("ctx", "identifier"),
    "mcp.server.session:ServerSession": ("request_outbound", "connection", "request_meta"),
    "mcp.server.session:ServerSession.send_notification": ("notification", "related_request_id"),
    "mcp.server.session:ServerSession.send_request": ("request", "result_type", "metadata"),
    "mcp.server.subscriptions:SubscriptionBus.subscribe": ("listener",),
    "mcp.shared.subscriptions:event_to_notification": ("event",),
    "mcp.shared.transport_context:TransportContext": ("kind", "can_send_request", "headers"),
    "mcp_types.methods:serialize_server_result": (),
}
"""What is used, and which of its parameters."""


def check_sdk() -> None:
    """Refuse an SDK that is another than this was written for.

    Raises:
        SettingsError: saying what differs and which one to install.
    """
    wanted = "Install one that fits: pip install 'mcp>=2.3,<3'."
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise SettingsError(f"The MCP SDK is not installed. {wanted}") from None
    if not OLDEST <= _numbers(found) < TOO_NEW:
        raise SettingsError(f"The MCP SDK is mcp {found}, which Awhile does not know. {wanted}")
    if missing := differences():
        raise SettingsError(
            f"The MCP SDK, mcp {found}, is not what Awhile was built on: {'; '.join(missing)}. "
            "Install the version that Awhile's constraints.txt names, or a newer Awhile."
        )


def differences() -> list[str]:
    """What of `LEANT_ON` is not there, in words."""
    missing: list[str] = []
    for name, parameters in LEANT_ON.items():
        try:
            found = _resolved(name)
        except (ImportError, AttributeError):
            missing.append(f"{name!r} is gone")
            continue
        if parameters:
            has = inspect.signature(found).parameters
            missing += [f"{name!r} takes no {one!r}" for one in parameters if one not in has]
    return missing


def _resolved(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _numbers(found: str) -> tuple[int, ...]:
    return tuple(int(part) for part in found.split(".")[:2] if part.isdecimal())
