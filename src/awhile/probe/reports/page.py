"""The report as one HTML file: nothing is loaded or run, and nothing of a server is markup."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

from awhile.probe.grades import MEANINGS, WORST_FIRST, Grade
from awhile.probe.reports.drawing import drawn
from awhile.probe.reports.wording import as_text, counted, exchange_lines, under_way, verdict

if TYPE_CHECKING:
    from awhile.probe.exchanges import Json

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Nothing but this file's own style: if something got through the escaping, it would not run."""

MOST_EXCHANGES = 3
"""How many exchanges of one finding are shown."""

LEGEND = {
    "look": "● a look",
    "push": "○ a push",
    "progress": "● a notification",
    "cancel": "✕ the cancel was sent",
    "answer": "❘ it was answered",
    "end": "◆ the end was seen",
}
"""By the kind of a mark."""


def as_html(report: Json) -> str:
    """A report (see `as_data`), or a comparison (see `compared`), as one HTML document."""
    if "reports" in report:
        first, second = report["reports"]
        title = f"{first['target']} and {second['target']}: how they make callers wait"
        body = "".join(_comparison(report))
    else:
        title = f"{report['target']}: how it makes its callers wait"
        body = "".join(_report(report))
    style = files("awhile.probe.reports").joinpath("style.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{as_text(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{as_text(title)}</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}</body>\n</html>\n"
    )


def _report(report: Json) -> Iterable[str]:
    yield "<header>"
    began = as_text(report["began"][:19].replace("T", " "))
    yield f'<p class="kicker">awhile probe · {began} UTC</p>'
    yield f"<h1>{as_text(report['target'])}</h1>"
    yield f'<p class="verdict">{as_text(verdict(report))}</p>'
    yield _counts(report)
    yield f'<p class="soft">{as_text(under_way(report))}</p></header>\n<main>\n'
    faults = [one for one in report["findings"] if Grade(one["grade"]).severity]
    if faults:
        yield "<h2>What to fix</h2>\n"
        for one in faults:
            yield _fault(one, report["exchanges"])
    for era, facts in report["eras"].items():
        yield _era(era, facts, "r")
    yield _others(report)
    yield f"</main>\n{_foot(report)}"


def _counts(report: Json) -> str:
    items = "".join(
        f"<li><b>{report['counts'][grade.value]}</b> {_badge(grade.value)}</li>"
        for grade in WORST_FIRST
        if report["counts"][grade.value]
    )
    return f'<ul class="counts">{items}</ul>' if items else ""


def _badge(grade: str | None) -> str:
    word = "not served" if grade is None else grade
    return f'<span class="grade {word.replace(" ", "-")}">{as_text(word)}</span>'


def _fault(finding: Json, exchanges: Json) -> str:
    return (
        f'<article class="fault {finding["grade"].replace(" ", "-")}">'
        f'<div class="head">{_badge(finding["grade"])}<h3>{as_text(finding["title"])}</h3></div>'
        f"<dl><dt>Seen</dt><dd>{as_text(finding['seen'])}</dd>"
        f"<dt>Do</dt><dd>{as_text(finding['advice'])}</dd>"
        f"<dt>Source</dt><dd>{_source(finding['source'])}</dd>"
        f"<dt>Check</dt><dd><code>{as_text(finding['check'])}</code> in {finding['era']}</dd></dl>"
        f"{_exchanges(finding, exchanges)}</article>\n"
    )


def _source(source: Json) -> str:
    words = as_text(source["words"])
    return f'<a href="{as_text(source["url"])}">{words}</a>' if source["url"] else words


def _exchanges(finding: Json, exchanges: Json) -> str:
    numbers = finding["exchanges"]
    # The first, and those at the end: where something moved, both are needed.
    chosen = numbers if len(numbers) <= MOST_EXCHANGES else [numbers[0], *numbers[-2:]]
    shown = [exchanges[str(number)] for number in chosen if str(number) in exchanges]
    return "".join(
        f"<details><summary>Exchange {one['number']}: {as_text(one['purpose'])}</summary>"
        f'<pre tabindex="0">{chr(10).join(map(as_text, exchange_lines(one)))}</pre></details>'
        for one in shown
    )


def _era(era: str, facts: Json, prefix: str) -> str:
    if not facts["served"]:
        return f'<h2>{era}</h2>\n<p class="soft">Not served: {as_text(facts["why"])}</p>\n'
    rows = "".join(
        f"<dt>{as_text(label)}</dt><dd>{as_text(words)}</dd>"
        for label, words in facts["facts"].items()
    )
    parts = [f'<h2>{era}</h2>\n<div class="card"><dl class="facts">{rows}</dl></div>\n']
    for place, timeline in enumerate(facts["timelines"]):
        id_ = f"{prefix}-{era}-{place}"
        label = f"{timeline['title']}, {era}{'' if prefix == 'r' else f', {prefix}'}"
        used = {mark["kind"] for lane in timeline["lanes"] for mark in lane["marks"]}
        legend = "".join(f"<span>{words}</span>" for kind, words in LEGEND.items() if kind in used)
        parts.append(
            f'<div class="card"><h3>{as_text(timeline["title"])}</h3>'
            f'<div class="scroll" tabindex="0" role="region" '
            f'aria-label="{as_text(label)}">{drawn(timeline, id_)}</div>'
            f'<div class="legend" aria-hidden="true">{legend}</div></div>\n'
        )
    return "".join(parts)


def _others(report: Json) -> str:
    parts: list[str] = []
    groups = {
        "As it should be": (Grade.CONFORMS,),
        "Not tried, and what does not apply": (Grade.NOT_TRIED, Grade.NOT_APPLICABLE),
    }
    for title, grades in groups.items():
        found = [one for one in report["findings"] if one["grade"] in grades]
        if not found:
            continue
        rows = "".join(
            f"<tr><td><code>{as_text(one['check'])}</code><br>"
            f'<span class="soft">{one["era"]}</span></td>'
            f"<td>{as_text(one['title'])}<br>"
            f'<span class="soft">{as_text(one["seen"])}</span>'
            f"{_exchanges(one, report['exchanges'])}</td><td>{_source(one['source'])}</td></tr>"
            for one in found
        )
        parts.append(
            f"<h2>{title}</h2>\n<details><summary>{len(found)} checks: "
            f"{as_text(counted(report, *grades))}</summary>\n"
            '<table class="rows"><thead><tr><th>Check</th><th>What was seen</th><th>Source</th>'
            f"</tr></thead><tbody>{rows}</tbody></table></details>\n"
        )
    return "".join(parts)


def _foot(report: Json) -> str:
    meanings = "".join(
        f"<dt>{_badge(grade.value)}</dt><dd>{as_text(words)}</dd>"
        for grade, words in MEANINGS.items()
    )
    return (
        f'<footer><dl class="facts">{meanings}</dl>'
        f"<p>Made by awhile probe {as_text(report['probe']['version'])}. Secrets are hidden; "
        "times are the probe's own clock.</p></footer>\n"
    )


def _comparison(comparison: Json) -> Iterable[str]:
    reports = comparison["reports"]
    yield '<header><p class="kicker">awhile probe, side by side</p>'
    yield "<h1>How two servers make their callers wait</h1></header>\n<main>\n"
    yield '<div class="pair">'
    for letter, report in zip("AB", reports, strict=True):
        yield (
            f'<section class="card"><p class="kicker">{letter}</p>'
            f"<h2>{as_text(report['target'])}</h2>"
            f'<p class="verdict">{as_text(verdict(report))}</p>{_counts(report)}'
            f'<p class="soft">{as_text(under_way(report))}</p></section>'
        )
    yield "</div>\n"
    differing = [one for one in comparison["checks"] if one["change"] != "same"]
    yield "<h2>What is not the same</h2>\n"
    yield _pairs(differing) if differing else "<p>Both came to the same in every check.</p>\n"
    same = [one for one in comparison["checks"] if one["change"] == "same"]
    yield f"<h2>The same</h2>\n<details><summary>{len(same)} checks</summary>"
    yield f"{_pairs(same)}</details>\n"
    for era in dict.fromkeys(era for report in reports for era in report["eras"]):
        for letter, report in zip("AB", reports, strict=True):
            facts = report["eras"].get(era)
            if facts is not None:
                yield f'<section aria-label="{letter}, {era}">'
                yield f'<p class="kicker">{letter} · {as_text(report["target"])}</p>'
                yield f"{_era(era, facts, letter)}</section>"
    yield f"</main>\n{_foot(reports[0])}"


def _pairs(checks: list[Json]) -> str:
    rows = "".join(
        f"<tr><td><code>{as_text(one['check'])}</code><br>"
        f'<span class="soft">{one["era"]}</span></td>'
        + "".join(
            f'<td><span class="soft">{letter}</span> {_badge(grade)}<br>{as_text(seen or "")}</td>'
            for letter, grade, seen in zip("AB", one["grades"], one["seen"], strict=True)
        )
        + "</tr>"
        for one in checks
    )
    return (
        '<table class="rows"><thead><tr><th>Check</th><th>A</th><th>B</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>\n"
    )


__all__ = ["as_html"]
