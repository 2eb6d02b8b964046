"""The client room: call, watch, answer, stop and collect long work at any MCP server."""

from awhile.client.call import RemoteServer
from awhile.client.connect import connect
from awhile.client.display import Known, Now, State, show
from awhile.client.handle import CancelOutcome, Handle
from awhile.client.inbox import OnInput
from awhile.client.ledger import Entry, Ledger
from awhile.client.sync import OnInputSync, SyncHandle, SyncServer, connect_sync

__all__ = [
    "CancelOutcome",
    "Entry",
    "Handle",
    "Known",
    "Ledger",
    "Now",
    "OnInput",
    "OnInputSync",
    "RemoteServer",
    "State",
    "SyncHandle",
    "SyncServer",
    "connect",
    "connect_sync",
    "show",
]
