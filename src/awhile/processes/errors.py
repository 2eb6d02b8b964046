"""What can go wrong with a child process."""

from __future__ import annotations

from awhile.errors import LocalError

__all__ = ["ChildEnded", "ChildRaised", "ProcessError"]


class ProcessError(LocalError):
    """Anything the room raises on purpose."""


class ChildEnded(ProcessError):
    """The child is gone and nothing more will come from it.

    `exit_code` is None when a signal ended it, `signal` is None when it exited by itself.
    `last_words` is the end of what it wrote to stdout and stderr.
    """

    def __init__(self, exit_code: int | None, signal: int | None, last_words: str) -> None:
        how = f"by signal {signal}" if signal is not None else f"with exit code {exit_code}"
        said = f"; its last words: {last_words[-500:]!r}" if last_words else ""
        super().__init__(f"the child process ended {how}{said}")
        self.exit_code = exit_code
        self.signal = signal
        self.last_words = last_words


class ChildRaised(ProcessError):
    """The function in the child raised.

    The exception itself stays in the child (it may not survive pickling); what is known of it is
    `type_name` (`module.Class`, builtins without the module), `message` and `traceback` as text.
    """

    def __init__(self, type_name: str, message: str, traceback: str) -> None:
        super().__init__(f"{type_name}: {message}" if message else type_name)
        self.type_name = type_name
        self.message = message
        self.traceback = traceback
