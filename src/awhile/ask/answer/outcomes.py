"""What becomes of a question or a SQL text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awhile.ask.answer.statements import Statement
    from awhile.ask.engines.contract import Estimate, QueryResult

__all__ = ["Answered", "CostBack", "NotRun"]


@dataclass(frozen=True, slots=True)
class Answered:
    """It was run to its end."""

    statement: Statement
    result: QueryResult


@dataclass(frozen=True, slots=True)
class CostBack:
    """It is expensive, was not run, and nobody could be asked: whoever calls has to decide."""

    statement: Statement
    estimate: Estimate
    limit: float


@dataclass(frozen=True, slots=True)
class NotRun:
    """A person decided against it; ``why`` follows "Not run: ". That is no error."""

    why: str
    question: str | None = None
    statement: Statement | None = None
