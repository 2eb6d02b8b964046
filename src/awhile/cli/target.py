"""``module:server``: the MCPServer that a command is to serve, or to work for."""

from __future__ import annotations

import importlib
import operator
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from awhile.errors import SettingsError
from awhile.server.tasks import Tasks

if TYPE_CHECKING:
    from types import ModuleType

    from mcp.server.mcpserver import MCPServer


def load(target: str) -> tuple[MCPServer[Any], Tasks]:
    """The server of that name and its tasks; modules are also looked for in the working folder.

    What the module itself raises while it is imported is let through: it is for its author.

    Raises:
        SettingsError: it is not there, or is not a server with tasks.
    """
    from mcp.server.mcpserver import MCPServer  # the SDK takes 0.7 s to load

    name, colon, path = target.partition(":")
    if not colon or not name or not path or "/" in name:
        raise SettingsError(
            f"{target!r} names no server. Write module:name, as Python imports it: for `mcp` in "
            "reports.py, reports:mcp."
        )
    module = _imported(name)
    try:
        found: Any = operator.attrgetter(path)(module)
    except AttributeError:
        there = [name for name, thing in vars(module).items() if isinstance(thing, MCPServer)]
        hint = f"It has: {', '.join(map(repr, there))}." if there else "It has no MCPServer at all."
        raise SettingsError(f"Module {name!r} has no {path!r}. {hint}") from None
    if not isinstance(found, MCPServer):
        raise SettingsError(
            f"{target!r} is {type(found).__name__!r} and no MCPServer. Name the one that is built "
            "as MCPServer(name, **tasks.install())."
        )
    server = cast("MCPServer[Any]", found)
    tasks = Tasks.of(server)
    if tasks is None:
        raise SettingsError(
            f"{target!r} has no tasks, so there is nothing to keep. Build it as "
            "MCPServer(name, **tasks.install()), with tasks = Tasks()."
        )
    return server, tasks


def _imported(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{name}.".startswith(f"{missing.name}."):
            raise  # one that the module itself imports
        raise SettingsError(
            f"There is no module {missing.name!r}, neither installed nor in {here!r}. Go to the "
            "folder it is in, or install it."
        ) from None


__all__ = ["load"]
