"""How a command ends: the exit codes, the same for every command."""

from __future__ import annotations

from awhile.errors import AwhileError, SettingsError, Unreachable

RESULT = 0
FAILED = 1
USAGE = 2
NOT_ANSWERED = 3
UNREACHABLE = 4
NOT_STOPPED = 5
CANCELLED = 130

MEANINGS = {
    RESULT: "there is a result",
    FAILED: "it failed",
    USAGE: "a flag, a setting or the database given cannot be used",
    NOT_ANSWERED: "the question was refused, a question came back, or it was not to be run",
    UNREACHABLE: "the server cannot be reached",
    NOT_STOPPED: "a stop was asked for and is not confirmed yet",
    CANCELLED: "it was stopped, or left by Ctrl-C",
}

EPILOG = "\b\nExit codes:\n" + "\n".join(f"{code:5}  {words}" for code, words in MEANINGS.items())
"""For the foot of the help; the backspace keeps its lines apart."""


class AlreadySaid(AwhileError):
    """Ends the command; another process has written why to the same standard error.

    Attributes:
        exit_code: what to end with.
    """

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def exit_code(error: Exception) -> int:
    """The exit code for an error nobody handled."""
    match error:
        case AlreadySaid():
            return error.exit_code
        case SettingsError():
            return USAGE
        case Unreachable():
            return UNREACHABLE
        case _:
            return FAILED


__all__ = [
    "CANCELLED",
    "EPILOG",
    "FAILED",
    "MEANINGS",
    "NOT_ANSWERED",
    "NOT_STOPPED",
    "RESULT",
    "UNREACHABLE",
    "USAGE",
    "AlreadySaid",
    "exit_code",
]
