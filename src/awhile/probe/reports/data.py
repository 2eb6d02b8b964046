"""The report for machines: one JSON object, as ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from awhile.probe.dialects import CLIENT
from awhile.probe.exchanges import Json, Secrets
from awhile.probe.exchanges import as_json as exchange_json
from awhile.probe.grades import WORST_FIRST, Finding
from awhile.probe.measures.plan import ERAS
from awhile.probe.reports.facts import facts_of
from awhile.probe.reports.timelines import as_json as timeline_json
from awhile.probe.reports.timelines import timelines_of

if TYPE_CHECKING:
    from awhile.probe.probing import Report

FORMAT = 1
"""Goes up when a reader of the last format would misread this one."""

SCHEMA = "schema.json"
"""The name of the published JSON Schema, in this package."""


def schema() -> Json:
    """The JSON Schema (2020-12) of a report, and of a comparison."""
    return json.loads(files("awhile.probe.reports").joinpath(SCHEMA).read_text("utf-8"))


def as_data(report: Report) -> Json:
    """A report as JSON; the exchanges are those that findings refer to."""
    shown = sorted({number for one in report.findings for number in one.exchanges})
    secrets = report.secrets
    # Hidden where a server's text stands, and nowhere else: a secret may be a word of the report's.
    eras: Json = {
        era: {
            "served": True,
            "server": secrets.out_of_json(report.server_name(era)),
            "facts": secrets.out_of_json(facts_of(report, era), names=False),
            "capabilities": secrets.out_of_json(seen.survey.capabilities),
            "tools": [
                {
                    "name": secrets.out_of(str(tool.get("name"))),
                    "task_support": secrets.out_of_json(seen.survey.support(str(tool.get("name")))),
                }
                for tool in seen.survey.tools
            ],
            "timelines": [
                secrets.out_of_json(timeline_json(one), names=False) for one in timelines_of(seen)
            ],
        }
        for era, seen in report.eras.items()
    }
    eras.update(
        {era: {"served": False, "why": secrets.out_of(why)} for era, why in report.unserved.items()}
    )
    eras = {era: eras[era] for era in ERAS if era in eras}
    return {
        "format": FORMAT,
        "probe": CLIENT,
        "target": secrets.out_of(report.target),
        "began": datetime.fromtimestamp(report.began, UTC).isoformat(),
        "took_seconds": round(report.took_seconds, 2),
        "requests": len(report.exchanges),
        "tool": report.tool,
        "arguments": secrets.out_of_json(dict(report.arguments)),
        "worst": report.worst.value,
        "counts": {grade.value: report.count(grade) for grade in WORST_FIRST},
        "left_running": secrets.out_of_json(report.left_running),
        "stopped_early": report.stopped_early,
        "eras": eras,
        "findings": [finding_json(one, secrets) for one in report.findings],
        "exchanges": {
            str(number): exchange_json(report.exchanges[number - 1], secrets) for number in shown
        },
    }


def finding_json(finding: Finding, secrets: Secrets) -> Json:
    """A finding as JSON, without secrets."""
    return {
        "check": finding.check,
        "era": finding.era,
        "grade": finding.grade.value,
        "title": finding.title,
        "seen": secrets.out_of(finding.seen),
        "advice": finding.advice,
        "source": {"words": finding.source.words, "url": finding.source.url},
        "exchanges": list(finding.exchanges),
        "measured": secrets.out_of_json(dict(finding.measured), names=False),
    }


def findings_by_check(reports: Sequence[Json]) -> list[tuple[str, str, list[Json | None]]]:
    """Each check and era with what each report found, in the order of the first one."""
    keys: dict[tuple[str, str], None] = {}
    found: list[dict[tuple[str, str], Json]] = []
    for report in reports:
        mine = {(one["era"], one["check"]): one for one in report["findings"]}
        keys.update(dict.fromkeys(mine))
        found.append(mine)
    return [(check, era, [mine.get((era, check)) for mine in found]) for era, check in keys]


__all__ = ["FORMAT", "SCHEMA", "as_data", "finding_json", "findings_by_check", "schema"]
