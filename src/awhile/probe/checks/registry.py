"""The list of checks: each a small function with an id, so that the list is documentation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from awhile.probe.dialects import LEGACY, MODERN
from awhile.probe.exchanges import Exchange
from awhile.probe.grades import Finding, Grade, Source
from awhile.probe.measures.evidence import Missing, Seen
from awhile.probe.views import View

NOTHING = "nothing"
A_TOOL = "a tool"
AN_ASKING_TOOL = "a tool that asks"
A_WITNESS = "a tool and a witness"
A_SECOND_CALLER = "a tool and a second caller"
"""What has to be given for a check to be tried."""


TURNED_AWAY = frozenset({401, 403, 429, 502, 503, 504})
"""The HTTP statuses that say nothing of a task: not let in, or not now."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says of the evidence."""

    grade: Grade | None
    """None for the fault that the check declares."""
    seen: str
    exchanges: tuple[int, ...] = ()
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])


Shown = Exchange | View | None


def good(seen: str, *shown: Shown, **measured: Any) -> Verdict:
    """It is as it should be."""
    return Verdict(Grade.CONFORMS, seen, _numbers(shown), measured)


def bad(seen: str, *shown: Shown, grade: Grade | None = None, **measured: Any) -> Verdict:
    """It is not; ``grade`` where it is worse or better than the check declares."""
    return Verdict(grade, seen, _numbers(shown), measured)


def _numbers(shown: tuple[Shown, ...]) -> tuple[int, ...]:
    found = [one.number if isinstance(one, Exchange) else one.exchange for one in shown if one]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a server should do."""

    id: str
    title: str
    """What should be so, as a sentence."""
    fault: Grade
    """What it is graded if it is not so."""
    advice: str
    needs: str
    sources: Mapping[str, Source]
    """By era; where an era is missing, the check does not apply there."""
    judge: Callable[[Seen], Verdict]

    def finding(self, seen: Seen) -> Finding:
        """What this check finds in the evidence of one era."""
        try:
            verdict = self.judge(seen)
        except Missing as why:
            grade = Grade.NOT_TRIED if why.applicable else Grade.NOT_APPLICABLE
            verdict = Verdict(grade, str(why))
        grade = self.fault if verdict.grade is None else verdict.grade
        return Finding(
            check=self.id,
            title=self.title,
            era=seen.era,
            grade=grade,
            seen=verdict.seen,
            advice=self.advice,
            source=self.sources[seen.era],
            exchanges=verdict.exchanges,
            measured=verdict.measured,
        )


CHECKS: dict[str, Check] = {}
"""Every check by its id, in the order of the reports."""

Judge = Callable[[Seen], Verdict]


def check(
    id_: str,
    title: str,
    *,
    fault: Grade,
    advice: str,
    needs: str = A_TOOL,
    modern: Source | None = None,
    legacy: Source | None = None,
) -> Callable[[Judge], Judge]:
    """Declare a check; each era it applies to has its source."""

    def declare(judge: Judge) -> Judge:
        assert id_ not in CHECKS, f"two checks are called {id_!r}"
        given = {MODERN: modern, LEGACY: legacy}
        sources = {era: source for era, source in given.items() if source is not None}
        CHECKS[id_] = Check(id_, title, fault, advice, needs, sources, judge)
        return judge

    return declare


SITE = "https://modelcontextprotocol.io/specification"
EXTENSION = (
    "https://github.com/modelcontextprotocol/ext-tasks/blob/main/specification/draft/tasks.md"
)
OLD_TASKS = f"{SITE}/{LEGACY}/basic/utilities/tasks"


def tasks(section: str) -> Source:
    """A section of the Tasks extension."""
    return Source(f"Tasks extension, {section}", f"{EXTENSION}#{_anchor(section)}")


def old_tasks(section: str) -> Source:
    """A section of the page on tasks of 2025-11-25."""
    return Source(f"2025-11-25 tasks, {section}", f"{OLD_TASKS}#{_anchor(section)}")


def core(page: str, section: str) -> Source:
    """A section of a page of 2026-07-28."""
    name = page.rpartition("/")[2]
    return Source(f"2026-07-28 {name}, {section}", f"{SITE}/{MODERN}/{page}#{_anchor(section)}")


def old_core(page: str, section: str) -> Source:
    """A section of a page of 2025-11-25."""
    name = page.rpartition("/")[2]
    return Source(f"2025-11-25 {name}, {section}", f"{SITE}/{LEGACY}/{page}#{_anchor(section)}")


def ours(why: str) -> Source:
    """A rule that no specification has, and why it is one."""
    return Source(f"ours: {why}")


def _anchor(section: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", section.lower()).replace(" ", "-")


def only_with_tasks(seen: Seen) -> None:
    """Leave a check out where a server has no tasks in this era.

    Raises:
        Missing: it has none.
    """
    if declared(seen) or seen.uses_tasks():
        return
    asked = seen.survey.asked.get("get unknown")
    if asked is None or asked.code in (None, -32601):
        raise Missing("this server has no tasks in this era", applicable=False)


def declared(seen: Seen) -> bool:
    """Whether the server declares tasks in this era."""
    capabilities = seen.survey.capabilities
    if seen.era == LEGACY:
        return isinstance(capabilities.get("tasks"), dict)
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and "io.modelcontextprotocol/tasks" in extensions


__all__ = ["CHECKS", "Check", "Verdict", "bad", "check", "good"]
