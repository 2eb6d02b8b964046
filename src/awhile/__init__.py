"""Durable, honest, stoppable long work for MCP servers and clients."""

import importlib
import typing

if typing.TYPE_CHECKING:
    from awhile.client import (
        CancelOutcome,
        Handle,
        Ledger,
        Now,
        OnInput,
        RemoteServer,
        State,
        SyncHandle,
        SyncServer,
        connect,
        connect_sync,
    )
    from awhile.runtime.bodies import ChildRun
    from awhile.runtime.journal import Entry
    from awhile.runtime.run import Run
    from awhile.server.http import http_app, serve, serve_http
    from awhile.server.tasks import Tasks
    from awhile.tasks import StoppedHow

__all__ = [
    "CancelOutcome",
    "ChildRun",
    "Entry",
    "Handle",
    "Ledger",
    "Now",
    "OnInput",
    "RemoteServer",
    "Run",
    "State",
    "StoppedHow",
    "SyncHandle",
    "SyncServer",
    "Tasks",
    "connect",
    "connect_sync",
    "http_app",
    "serve",
    "serve_http",
]

# Loaded when first asked for: a child process imports `awhile` too, and the SDK behind these
# names takes 0.7 s to load (measured), which every child would spend before its first step.
_HOMES = {
    "CancelOutcome": "awhile.client",
    "ChildRun": "awhile.runtime.bodies",
    "Entry": "awhile.runtime.journal",
    "Handle": "awhile.client",
    "Ledger": "awhile.client",
    "Now": "awhile.client",
    "OnInput": "awhile.client",
    "RemoteServer": "awhile.client",
    "Run": "awhile.runtime.run",
    "State": "awhile.client",
    "StoppedHow": "awhile.tasks",
    "SyncHandle": "awhile.client",
    "SyncServer": "awhile.client",
    "Tasks": "awhile.server.tasks",
    "connect": "awhile.client",
    "connect_sync": "awhile.client",
    "http_app": "awhile.server.http",
    "serve": "awhile.server.http",
    "serve_http": "awhile.server.http",
}


def __getattr__(name: str) -> typing.Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = found
    return found
