"""Every error Awhile raises on purpose.

::

    AwhileError
    ├── LocalError            this side did something it should not: mend the call or the settings
    │   ├── SettingsError     a value that cannot work, refused before anything starts
    │   ├── IllegalEvent      the task is not in a state where this may happen; nothing changed
    │   │   └── Fenced        the sender no longer holds the task's lease; nothing changed
    │   ├── TaskNotFound      no such task, or not the caller's
    │   ├── QueueFull         too much waits already; nothing was kept, come back later
    │   └── StoreError        the store could not do what was asked
    └── RemoteError           the other side said no, broke, or could not be reached
        ├── ToolFailed        the tool ran and reported an error
        ├── ProtocolFailed    the call ended in a JSON-RPC error
        │   └── WorkerLost    the process running the work is gone and the work was not run again
        ├── Cancelled         the work was stopped before it finished
        ├── Expired           the task is no longer kept by the server, or was never the caller's
        ├── TasksUnsupported  the server has no durable tasks, so there is no handle to keep
        └── Unreachable       the server does not answer; the task itself may well be running on

Blame is *local* or *remote*: a local error is mended by changing this program, a remote one by
waiting, asking again or telling whoever runs the other side.
"""

from __future__ import annotations

from typing import Any


class AwhileError(Exception):
    """The root of every error Awhile raises on purpose."""


class LocalError(AwhileError):
    """This side did something it should not have; trying again unchanged will not help."""


class SettingsError(LocalError):
    """A setting has a value that cannot work. The message says what the consequence would be."""


class IllegalEvent(LocalError):
    """An event that may not happen in the task's present state. Nothing was changed."""


class Fenced(IllegalEvent):
    """The sender's lease on the task was taken over or has ended. Nothing was changed.

    Late writes of a worker that lost its lease end here; dropping them silently is right.
    """


class TaskNotFound(LocalError):
    """No task of that id is kept here for this caller.

    A foreign id and an unknown one are the same answer, so the message never repeats the id.
    """

    def __init__(self) -> None:
        super().__init__(
            "No such task. It may have expired, or belong to somebody else; start the work again."
        )


class QueueFull(LocalError):
    """As much work waits to start as may; nothing was kept. Try again later.

    Attributes:
        waiting: how many tasks wait.
        own: whether it is the owner's own queue that is full, not the whole store's.
        retry_after_seconds: when a place is likely to be free: a hint, in whole seconds.
    """

    def __init__(self, *, waiting: int, own: bool, retry_after_seconds: int) -> None:
        whose = "of yours wait to start already" if own else "wait to start here already"
        super().__init__(
            f"{waiting} tasks {whose}, which is as many as may. Nothing was started: try again in "
            f"{retry_after_seconds} s, or stop some of those that wait."
        )
        self.waiting = waiting
        self.own = own
        self.retry_after_seconds = retry_after_seconds


class StoreError(LocalError):
    """The store could not do what was asked; what it had already confirmed is still safe."""


class RemoteError(AwhileError):
    """The other side refused, failed, or cannot be reached."""


class ToolFailed(RemoteError):
    """The tool ran and said no (an MCP result with ``isError``).

    Attributes:
        result: the whole ``CallToolResult`` as a JSON object.
    """

    def __init__(self, message: str, *, result: dict[str, Any]) -> None:
        super().__init__(message)
        self.result = result


class ProtocolFailed(RemoteError):
    """The call ended in a JSON-RPC error.

    Attributes:
        code: the JSON-RPC error code.
        data: the error's ``data`` member, if any.
    """

    def __init__(self, message: str, *, code: int, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class WorkerLost(ProtocolFailed):
    """The process that ran the work is gone, and the work is not declared safe to run again."""


class Cancelled(RemoteError):
    """The work was stopped before it finished; the message says how that is known."""


class Expired(RemoteError):
    """The server no longer keeps this task (or it never was this caller's)."""


class TasksUnsupported(RemoteError):
    """The server cannot keep work as a task, so there is no handle to come back to."""


class Unreachable(RemoteError):
    """The server did not answer. Its tasks are not affected by that: resume by id later."""
