"""What a check can come to, and one check's answer about one server: a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Grade(StrEnum):
    """How a server did in one check."""

    CONFORMS = "conforms"
    DIFFERS = "differs"
    """The specification asks for something else, or a caller has to know this server to use it."""
    MISLEADS = "misleads"
    """What is shown is not how it is: a caller who believes it does the wrong thing."""
    LOSES_WORK = "loses work"
    """Work, or its result, can be lost, left running, or reach the wrong person."""
    NOT_APPLICABLE = "not applicable"
    """The server has no such thing, or need not have it."""
    NOT_TRIED = "not tried"
    """The probe did not find out; the finding says why."""

    @property
    def severity(self) -> int:
        """0 for what is no fault; 1 to 3 from `DIFFERS` to `LOSES_WORK`."""
        return _FAULTS.index(self) + 1 if self in _FAULTS else 0


_FAULTS = (Grade.DIFFERS, Grade.MISLEADS, Grade.LOSES_WORK)

WORST_FIRST = (*reversed(_FAULTS), Grade.CONFORMS, Grade.NOT_APPLICABLE, Grade.NOT_TRIED)
"""The order of every report."""

MEANINGS: Mapping[Grade, str] = {
    Grade.LOSES_WORK: "Work, or its result, can be lost, left running, or reach the wrong person.",
    Grade.MISLEADS: "What is shown is not how it is; a caller who believes it does wrong.",
    Grade.DIFFERS: "The specification asks for something else, or callers have to know of it.",
    Grade.CONFORMS: "Tried, and as it should be.",
    Grade.NOT_APPLICABLE: "The server has no such thing, or need not have it.",
    Grade.NOT_TRIED: "The probe did not find out, and says why.",
}
"""Each grade in one sentence, worst first."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a check's rule is from. Ours where no specification says it."""

    words: str
    """The page and its section."""
    url: str | None = None
    """The section itself; None for a rule of ours."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found at one server, in one era."""

    check: str
    """The check's id."""
    title: str
    """What the check asks for, as a sentence."""
    era: str
    grade: Grade
    seen: str
    """What was seen, as a sentence; for `NOT_TRIED` and `NOT_APPLICABLE`, why."""
    advice: str
    """What to do about a fault, in one sentence."""
    source: Source
    exchanges: tuple[int, ...] = ()
    """The numbers of the exchanges that show it."""
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Numbers and words behind the sentence, as JSON has them."""


__all__ = ["MEANINGS", "WORST_FIRST", "Finding", "Grade", "Source"]
