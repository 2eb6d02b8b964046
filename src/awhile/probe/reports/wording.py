"""Sentences that every report shares."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from awhile.probe.exchanges import Json
from awhile.probe.grades import WORST_FIRST, Grade
from awhile.visible import visible

LONGEST_SHOWN = 2_400
"""Letters of one frame in a report for people; the JSON has more."""

MOST_FRAMES = 8

PLURALS = {
    Grade.LOSES_WORK: "lose work",
    Grade.MISLEADS: "mislead",
    Grade.DIFFERS: "differ",
    Grade.CONFORMS: "conform",
    Grade.NOT_APPLICABLE: "do not apply",
    Grade.NOT_TRIED: "were not tried",
}

SINGULARS = {
    Grade.NOT_APPLICABLE: "does not apply",
    Grade.NOT_TRIED: "was not tried",
}


def as_text(words: str) -> str:
    """The same as the text of an HTML element or attribute."""
    return escape(visible(words))


def counted(report: Json, *grades: Grade) -> str:
    """How many of some grades there are: "1 misleads, 2 differ"."""
    parts: list[str] = []
    for grade in grades or WORST_FIRST:
        count = report["counts"][grade.value]
        if count:
            words = SINGULARS.get(grade, grade.value) if count == 1 else PLURALS[grade]
            parts.append(f"{count} {words}")
    return ", ".join(parts)


def verdict(report: Json) -> str:
    """The whole in one sentence."""
    faults = counted(report, Grade.LOSES_WORK, Grade.MISLEADS, Grade.DIFFERS)
    if not report["findings"]:
        return (
            "Nothing could be checked: neither 2026-07-28 nor 2025-11-25 is served to this caller."
        )
    words = f"To fix: {faults}."
    if not faults:
        words = "A clean sheet: everything that was tried is as it should be."
    if report["tool"] is None:
        return words
    shapes = [one for one in report["findings"] if one["check"] == "task-shape"]
    untried = [one["era"] for one in shapes if one["grade"] == Grade.NOT_TRIED]
    if {one["grade"] for one in shapes} <= {Grade.NOT_TRIED, Grade.NOT_APPLICABLE}:
        words += f" But no call of {report['tool']} became a task."
    elif untried:
        words += f" But no call of {report['tool']} became a task in {' and '.join(untried)}."
    return words


def under_way(report: Json) -> str:
    """What it took, and what it left."""
    words = f"{report['requests']} requests in {report['took_seconds']:.1f} s"
    if report["tool"] is None:
        words += ", no tool called"
    else:
        words += f", tool {report['tool']} called with {json.dumps(report['arguments'])}"
    if report["left_running"]:
        words += f". STILL RUNNING: {', '.join(report['left_running'])}"
    elif report["tool"] is not None:
        words += ", and every task of it has ended"
    if report["stopped_early"]:
        words += f". It ended early: {report['stopped_early']}"
    return f"{words}."


def exchange_lines(exchange: Json) -> list[str]:
    """A captured exchange as text."""
    request, answer = exchange["request"], exchange["answer"]
    sent = exchange["sent_at_ms"]
    lines = [f"→ {request['verb']}, {sent / 1000:.3f} s after the probe began"]
    lines += [f"  {name}: {visible(value)}" for name, value in request["headers"].items()]
    if request["message"]:
        lines += _indented(request["message"])
    status = answer["http_status"]
    lines.append(f"← {'' if status is None else f'HTTP {status}, '}{answer['ending']}")
    lines += [f"  {name}: {visible(value)}" for name, value in answer["headers"].items()]
    frames = answer["frames"]
    for frame in frames[:MOST_FRAMES]:
        lines.append(f"  +{frame['at_ms'] - sent:.0f} ms{_kind(frame)}")
        lines += _indented(_parsed(frame["text"]))
    if len(frames) > MOST_FRAMES:
        lines.append(f"  … and {len(frames) - MOST_FRAMES} more")
    return lines


def _kind(frame: Json) -> str:
    return "" if frame["kind"] == "message" else f" ({frame['kind']})"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _indented(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
    if len(text) > LONGEST_SHOWN:
        text = f"{text[:LONGEST_SHOWN]}… ({len(text) - LONGEST_SHOWN} letters more)"
    return [f"  {visible(line)}" for line in text.split("\n")]


__all__ = ["as_text", "counted", "exchange_lines", "under_way", "verdict"]
