"""A timeline as inline SVG: without script, readable without colour, told to screen readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.probe.reports.wording import as_text

if TYPE_CHECKING:
    from awhile.probe.exchanges import Json

WIDTH = 920
LEFT = 8
"""Where time begins; the lanes' names stand above them, so that a narrow screen shows both."""
RIGHT = 24
TOP = 8
LANE = 62
RAIL = 37
"""Where in a lane its rail is."""
AXIS = 26
LETTER = 6.6
"""The width of a letter at 12 px, about."""

STATUSES = frozenset({"working", "input_required", "completed", "failed", "cancelled", "waiting"})


def drawn(timeline: Json, id_: str) -> str:
    """One timeline (see `timelines.as_json`) as an ``<svg>``."""
    lanes = timeline["lanes"]
    length = max(timeline["length_ms"], 1)
    height = TOP + LANE * len(lanes) + AXIS

    def x(at_ms: float) -> float:
        inside = min(max(at_ms, 0), length)
        return round(LEFT + inside / length * (WIDTH - LEFT - RIGHT), 1)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
        f'aria-labelledby="{id_}-t {id_}-d">',
        f'<title id="{id_}-t">{as_text(timeline["title"])}</title>',
        f'<desc id="{id_}-d">{as_text(told(timeline))}</desc>',
    ]
    bottom = TOP + LANE * len(lanes)
    for at in _ticks(length):
        parts.append(f'<line class="tick" x1="{x(at)}" x2="{x(at)}" y1="{TOP}" y2="{bottom}"/>')
        parts.append(f'<text class="time" x="{x(at)}" y="{bottom + 17}">{at / 1000:g} s</text>')
    for place, lane in enumerate(lanes):
        parts += _lane(lane, TOP + LANE * place, x)
    parts.append("</svg>")
    return "".join(parts)


def _lane(lane: Json, y: float, x: Scale) -> list[str]:
    middle = y + RAIL
    note = f'<tspan class="note" dx="8">{as_text(lane["note"])}</tspan>' if lane["note"] else ""
    parts = [
        f'<line class="rail" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{middle}" y2="{middle}"/>',
        f'<text class="lane" x="0" y="{y + 13}">{as_text(lane["name"])}{note}</text>',
    ]
    for span in lane["spans"]:
        start, end = x(span["from_ms"]), x(span["to_ms"])
        wide = max(end - start - 2, 2)
        kind = span["kind"] if span["kind"] in STATUSES else "other"
        parts.append(
            f"<g><title>{as_text(span['words'])} ({span['from_ms']:.0f} to "
            f"{span['to_ms']:.0f} ms)</title>"
            f'<rect class="span {kind}" x="{start}" y="{middle - 13}" width="{wide:.1f}" '
            f'height="26" rx="4"/>'
        )
        words = _cut(span["words"], wide - 12)
        if words:
            parts.append(
                f'<text class="words" x="{start + 6}" y="{middle + 4}">{as_text(words)}</text>'
            )
        parts.append("</g>")
    parts += _marks(lane["marks"], middle, x)
    return parts


def _marks(marks: list[Json], middle: float, x: Scale) -> list[str]:
    parts: list[str] = []
    free = float(LEFT)
    last = ""
    for mark in marks:
        at = x(mark["at_ms"])
        title = f"<title>{as_text(mark['words'])} ({mark['at_ms']:.0f} ms)</title>"
        parts.append(f'<g class="mark {mark["kind"]}">{title}{_shape(mark["kind"], at, middle)}')
        wide = len(mark["words"]) * LETTER * 0.86
        begins = min(at - wide / 2, WIDTH - wide - 2)
        # Only what is new, and only where it does not run into the words before it.
        if mark["words"] != last and begins >= free:
            parts.append(
                f'<text class="said" x="{begins + wide / 2:.1f}" y="{middle + 19}">'
                f"{as_text(mark['words'])}</text>"
            )
            free = begins + wide + 8
            last = mark["words"]
        parts.append("</g>")
    return parts


def _shape(kind: str, at: float, middle: float) -> str:
    match kind:
        case "end":
            return (
                f'<rect x="{at - 5}" y="{middle - 5}" width="10" height="10" '
                f'transform="rotate(45 {at} {middle})"/>'
            )
        case "cancel":
            return f'<path d="M{at - 5} {middle - 5}l10 10m0 -10l-10 10"/>'
        case "answer":
            return f'<path d="M{at} {middle - 8}v16"/>'
        case _:
            return f'<circle cx="{at}" cy="{middle}" r="4.5"/>'


def _ticks(length: float) -> list[float]:
    for step in (100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000):
        if length / step <= 10:
            return [step * one for one in range(int(length // step) + 1)]
    return [0]


def _cut(words: str, wide: float) -> str:
    letters = int(wide / LETTER)
    if len(words) <= letters:
        return words
    return f"{words[: letters - 1]}…" if letters >= 4 else ""


def told(timeline: Json) -> str:
    """A timeline in words."""
    parts: list[str] = []
    for lane in timeline["lanes"]:
        name = f"{lane['name']} ({lane['note']})" if lane["note"] else lane["name"]
        spans = [f"{span['words']} from {span['from_ms']:.0f} ms" for span in lane["spans"]]
        marks = [f"{mark['words']} at {mark['at_ms']:.0f} ms" for mark in lane["marks"][:40]]
        parts.append(f"{name}: {', '.join([*spans, *marks]) or 'nothing'}.")
    return " ".join(parts)


if TYPE_CHECKING:
    from collections.abc import Callable

    Scale = Callable[[float], float]

__all__ = ["drawn", "told"]
