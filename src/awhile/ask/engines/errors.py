"""What can go wrong between a SQL text and its rows.

EngineError
├── QueryRefused      never run: the guard found a word it does not allow
├── QueryError        the engine answered with an error
├── QueryInterrupted  stopped before its end, by the time budget
├── EngineLost        the process that ran it is gone
└── DatabaseNotOpened missing, foreign, locked, unreachable, encrypted, too new, or too powerful
"""

from __future__ import annotations

from awhile.errors import LocalError

__all__ = [
    "DatabaseNotOpened",
    "EngineError",
    "EngineLost",
    "QueryError",
    "QueryInterrupted",
    "QueryRefused",
]


class EngineError(LocalError):
    """Anything an engine raises on purpose."""


class QueryRefused(EngineError):
    """The statement was not run. `word` is what was found in it, `why` a sentence."""

    def __init__(self, word: str, why: str) -> None:
        super().__init__(f"refused because of {word!r}: {why}")
        self.word = word
        self.why = why


class QueryError(EngineError):
    """The engine's own words about a statement it could not run.

    `line` and `column` count from 1 and are None when the engine gave no place. `unknown_name`
    says whether it is about a table or column that the database does not have.
    """

    def __init__(
        self,
        message: str,
        line: int | None = None,
        column: int | None = None,
        unknown_name: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
        self.unknown_name = unknown_name


class QueryInterrupted(EngineError):
    """The query was stopped because its time budget was used up.

    `how` says how we know that it has stopped, `seconds` how long that took; `rows` is how many had
    been read by then, which are not kept.
    """

    def __init__(self, how: str, seconds: float, budget_seconds: float, rows: int = 0) -> None:
        read = f"; the {rows:,} rows read by then are not kept" if rows else ""
        super().__init__(
            f"stopped because it ran longer than its budget of {budget_seconds:g} s "
            f"({how.replace('_', ' ')}, {seconds:.2f} s after that){read}; "
            "narrow the question or raise the budget"
        )
        self.how = how
        self.seconds = seconds
        self.budget_seconds = budget_seconds
        self.rows = rows


class EngineLost(EngineError):
    """The process that ran the query ended by itself; the database file is unharmed."""


class DatabaseNotOpened(EngineError):
    """The database could not be opened; the message says why and what to do."""
