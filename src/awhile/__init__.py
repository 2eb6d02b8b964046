"""Durable, honest, stoppable long work for MCP servers and clients."""

from awhile.client import CancelOutcome, Handle, Ledger, Now, RemoteServer, connect
from awhile.runtime.bodies import ChildRun
from awhile.runtime.run import Run
from awhile.server.tasks import Tasks
from awhile.tasks import StoppedHow

__all__ = [
    "CancelOutcome",
    "ChildRun",
    "Handle",
    "Ledger",
    "Now",
    "RemoteServer",
    "Run",
    "StoppedHow",
    "Tasks",
    "connect",
]
