"""From a server to findings: measure it, then judge what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio

from awhile.probe.checks import CHECKS
from awhile.probe.dialects import LEGACY, VENDOR
from awhile.probe.exchanges import Exchange, Secrets, as_object
from awhile.probe.grades import WORST_FIRST, Finding, Grade
from awhile.probe.limits import Limits
from awhile.probe.measures.evidence import Seen
from awhile.probe.measures.plan import ERAS, Gathered, Say, gather
from awhile.probe.targets import Target, Trial


@dataclass(frozen=True, slots=True)
class Report:
    """All that was found at one server."""

    target: str
    """Its address, or its command."""
    began: float
    """When, in seconds since 1970."""
    took_seconds: float
    tool: str | None
    arguments: Mapping[str, Any]
    eras: Mapping[str, Seen]
    """What was seen in each era that is served."""
    unserved: Mapping[str, str]
    """The other eras, each with the reason."""
    findings: Sequence[Finding]
    """Worst first."""
    exchanges: Sequence[Exchange]
    """Everything that went over the wire; ``exchanges[n - 1]`` is number n."""
    secrets: Secrets
    left_running: Sequence[str]
    """Ids of tasks the probe made and could not see end."""
    stopped_early: str | None
    """Which bound ended it, if one did."""

    @property
    def worst(self) -> Grade:
        """The worst grade there is; `Grade.CONFORMS` for a clean sheet."""
        return max(
            (one.grade for one in self.findings),
            key=lambda grade: grade.severity,
            default=Grade.CONFORMS,
        )

    @property
    def faults(self) -> list[Finding]:
        """Everything that is not as it should be, worst first."""
        return [one for one in self.findings if one.grade.severity]

    def count(self, grade: Grade) -> int:
        """How many findings have a grade."""
        return sum(one.grade is grade for one in self.findings)

    def server_name(self, era: str) -> str | None:
        """How the server names itself, with its version."""
        greeting = self.eras[era].survey.greeting.result or {}
        info = as_object(
            greeting.get("serverInfo")
            if era == LEGACY
            else as_object(greeting.get("_meta")).get(f"{VENDOR}/serverInfo")
        )
        named = [str(info[key]) for key in ("name", "version") if key in info]
        return " ".join(named) or None


async def probe(
    target: Target,
    trial: Trial | None = None,
    limits: Limits | None = None,
    *,
    eras: Sequence[str] = ERAS,
    say: Say = lambda _line: None,
    stop: anyio.Event | None = None,
) -> Report:
    """Measure a server, and judge what was seen.

    Without a trial no tool is called. Every task that was made is cancelled and seen to end, also
    when this is cancelled.

    Args:
        target: the server.
        trial: a tool that may be called several times and cancelled.
        limits: the bounds of requests and time.
        eras: the protocol revisions to look at.
        say: called with what is about to be done.
        stop: set it to end early; the report then has what was found until then.

    Raises:
        Unreachable: nothing answers there.
        SettingsError: the server has no such tool, or the tool needs more arguments.
    """
    gathered = Gathered(target, trial, limits or Limits(), eras)
    await gather(gathered, say, stop)
    return judge(gathered)


def judge(gathered: Gathered) -> Report:
    """The findings in what was gathered; pure."""
    findings = [
        check.finding(seen)
        for era, seen in gathered.eras.items()
        for check in CHECKS.values()
        if era in check.sources
    ]
    order = {grade: place for place, grade in enumerate(WORST_FIRST)}
    findings.sort(key=lambda one: order[one.grade])
    trial = gathered.trial
    return Report(
        target=gathered.target.name,
        began=gathered.log.clock.began,
        took_seconds=gathered.log.clock.now_ms() / 1000,
        tool=trial.tool if trial else None,
        arguments=trial.arguments if trial else {},
        eras=gathered.eras,
        unserved=gathered.unserved,
        findings=findings,
        exchanges=gathered.log.exchanges,
        secrets=gathered.log.secrets,
        left_running=gathered.left_running,
        stopped_early=gathered.stopped_early,
    )


__all__ = ["Report", "judge", "probe"]
