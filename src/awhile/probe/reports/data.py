"""The report for machines: one JSON object, as ``schema.json`` beside this file describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from awhile.probe.dialects import CLIENT
from awhile.probe.exchanges import Json
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
    eras: Json = {
        era: {
            "served": True,
            "server": report.server_name(era),
            "facts": facts_of(report, era),
            "capabilities": seen.survey.capabilities,
            "tools": [
                {
                    "name": str(tool.get("name")),
                    "task_support": seen.survey.support(str(tool.get("name"))),
                }
                for tool in seen.survey.tools
            ],
            "timelines": [timeline_json(one) for one in timelines_of(seen)],
        }
        for era, seen in report.eras.items()
    }
    eras.update({era: {"served": False, "why": why} for era, why in report.unserved.items()})
    eras = {era: eras[era] for era in ERAS if era in eras}
    found: Json = {
        "format": FORMAT,
        "probe": CLIENT,
        "target": report.target,
        "began": datetime.fromtimestamp(report.began, UTC).isoformat(),
        "took_seconds": round(report.took_seconds, 2),
        "requests": len(report.exchanges),
        "tool": report.tool,
        "arguments": dict(report.arguments),
        "worst": report.worst.value,
        "counts": {grade.value: report.count(grade) for grade in WORST_FIRST},
        "left_running": list(report.left_running),
        "stopped_early": report.stopped_early,
        "eras": eras,
        "findings": [finding_json(one) for one in report.findings],
        "exchanges": {
            str(number): exchange_json(report.exchanges[number - 1], secrets) for number in shown
        },
    }
    # Whatever repeats a secret of the caller, in a message of the server for one, is hidden, too.
    return json.loads(secrets.out_of(json.dumps(found)))


def finding_json(finding: Finding) -> Json:
    """A finding as JSON."""
    return {
        "check": finding.check,
        "era": finding.era,
        "grade": finding.grade.value,
        "title": finding.title,
        "seen": finding.seen,
        "advice": finding.advice,
        "source": {"words": finding.source.words, "url": finding.source.url},
        "exchanges": list(finding.exchanges),
        "measured": dict(finding.measured),
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
