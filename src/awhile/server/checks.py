"""What is looked at when serving starts: a mistake is said then, with the line to change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcp.server.mcpserver import MCPServer

    from awhile.server.options import ToolOptions


def check_tools(
    server: MCPServer[Any], registered: Collection[str], tools: Mapping[str, ToolOptions]
) -> None:
    """Refuse task tools that the server does not have.

    Raises:
        SettingsError: naming them.
    """
    missing = sorted(tools.keys() - set(registered))
    if missing:
        raise SettingsError(
            f"The task tools {missing!r} are not registered with {server.name!r}: put "
            "@mcp.tool() above @tasks.tool(), and give both the same name."
        )


def check_streams(server: MCPServer[Any], tools: Mapping[str, ToolOptions]) -> None:
    """Refuse to answer long calls by JSON alone: the SDK sees no disconnect in that mode.

    Raises:
        SettingsError: naming the tools that may keep their callers waiting.
    """
    try:
        json_mode = server.session_manager.json_response
    except RuntimeError:  # served over another transport
        return
    waits = sorted(one.name for one in tools.values() if one.waits_inline)
    if json_mode and waits:
        raise SettingsError(
            f"The tools {waits!r} may keep their callers waiting, and json_response=True leaves "
            "them no stream: no progress, and a caller that has left would not be noticed. "
            "Serve without json_response, or give them task_support='required'."
        )


NEVER_KEPT = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers that prove who calls: kept in a store, they would let its readers call as them."""


def check_kept_headers(names: Collection[str]) -> None:
    """Refuse to keep what must not lie in a store.

    Raises:
        SettingsError: naming it.
    """
    if isinstance(names, str):
        raise SettingsError(f"keep_headers is {names!r}; write a list of names: [{names!r}].")
    for name in names:
        if name.lower() in NEVER_KEPT:
            raise SettingsError(
                f"keep_headers has {name!r}: whoever reads the store could call as that caller. "
                "Bodies know their caller by Run.owner."
            )
