"""What happened when, as lanes: the data behind every drawing, and without one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from awhile.probe.checks.waiting import steps_of, steps_seen
from awhile.probe.exchanges import Json, short
from awhile.probe.measures.evidence import MEASURING, SUGGESTED, Plain, Seen, Stopped, Watched
from awhile.probe.measures.watching import seconds_of
from awhile.probe.views import View


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasted."""

    from_ms: float
    to_ms: float
    words: str
    kind: str
    """A status word, or ``waiting``."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened."""

    at_ms: float
    words: str
    kind: str
    """``look``, ``push``, ``progress``, ``cancel``, ``answer``, ``end``."""


@dataclass(frozen=True, slots=True)
class Lane:
    """One line of a drawing."""

    name: str
    note: str = ""
    """What is to be known of the whole lane, in a few words."""
    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """One run; times are milliseconds since the call was sent."""

    title: str
    era: str
    length_ms: float
    lanes: tuple[Lane, ...]


def timelines_of(seen: Seen) -> list[Timeline]:
    """Everything that can be drawn of one era."""
    found: list[Timeline] = []
    if seen.watched.found is not None:
        found.append(_watched(seen.era, seen.watched.found))
    if seen.stopped.found is not None:
        found.append(_stopped(seen.era, seen.stopped.found))
    if seen.plain.found is not None and seen.plain.found.call.notes("notifications/progress"):
        found.append(_plain(seen.era, seen.plain.found))
    return found


def as_json(timeline: Timeline) -> Json:
    """A timeline as JSON."""
    return {
        "title": timeline.title,
        "length_ms": round(timeline.length_ms, 1),
        "lanes": [
            {
                "name": lane.name,
                "note": lane.note,
                "spans": [
                    {
                        "from_ms": round(span.from_ms, 1),
                        "to_ms": round(span.to_ms, 1),
                        "words": span.words,
                        "kind": span.kind,
                    }
                    for span in lane.spans
                ],
                "marks": [
                    {"at_ms": round(mark.at_ms, 1), "words": mark.words, "kind": mark.kind}
                    for mark in lane.marks
                ],
            }
            for lane in timeline.lanes
        ],
    }


def _words(view: View) -> str:
    return short(view.message if view.message is not None else view.status, 60)


def _spans(views: Sequence[View], zero: float, end: float) -> tuple[Span, ...]:
    """How the task stood, from one look at a change to the next."""
    spans: list[Span] = []
    for view in views:
        at = view.at_ms - zero
        if spans and spans[-1].words == _words(view) and spans[-1].kind == view.status:
            continue
        if spans:
            before = spans.pop()
            spans.append(Span(before.from_ms, at, before.words, before.kind))
        spans.append(Span(at, end, _words(view), view.status))
    return tuple(spans)


def _marks(views: Iterable[View], zero: float, kind: str) -> tuple[Mark, ...]:
    return tuple(
        Mark(view.at_ms - zero, _words(view), "end" if view.ended else kind) for view in views
    )


def _watched(era: str, watched: Watched) -> Timeline:
    zero = watched.created.sent_at_ms
    last = watched.measured[-1].at_ms - zero
    length = last * 1.08 + 100
    lanes = [Lane("the task", "", _spans(watched.measured, zero, length))]
    steps = steps_of(watched)
    for name, every in watched.pollers.items():
        if name == MEASURING:
            continue
        told = steps_seen(watched, name)
        words = f"every {seconds_of(every)}"
        if name == SUGGESTED:
            words += ", as suggested"
        note = f"{len(told)} of {len(steps)} steps" if len(steps) > 1 else ""
        views = [view for view in watched.views[name] if view.at_ms - zero <= length]
        lanes.append(Lane(words, note, (), _marks(views, zero, "look")))
    if watched.pushed:
        pushes = f"{len(watched.pushed)} pushes"
        lanes.append(Lane("listening", pushes, (), _marks(watched.pushed, zero, "push")))
    waited = watched.waited
    if waited is not None and waited.answered_at_ms is not None:
        span = Span(waited.sent_at_ms - zero, waited.answered_at_ms - zero, "waiting", "waiting")
        lanes.append(Lane("tasks/result", "", (span,)))
    return Timeline("A run, followed to its end", era, length, tuple(lanes))


def _stopped(era: str, stopped: Stopped) -> Timeline:
    zero = stopped.created.sent_at_ms
    views = [*stopped.before, *stopped.after]
    last = (views[-1].at_ms if views else stopped.cancel.sent_at_ms) - zero
    length = last * 1.05 + 100
    cancel = stopped.cancel
    marks = [Mark(cancel.sent_at_ms - zero, "cancel sent", "cancel")]
    if cancel.answered_at_ms is not None:
        marks.append(Mark(cancel.answered_at_ms - zero, "answered", "answer"))
    ending = stopped.ending
    note = "it did not end"
    if ending is not None:
        marks.append(Mark(ending.at_ms - zero, f"seen {ending.status}", "end"))
        note = f"{ending.status} after {seconds_of(ending.at_ms - cancel.sent_at_ms)}"
    lanes = [
        Lane("the task", "", _spans(views, zero, length)),
        Lane("the cancel", note, (), tuple(marks)),
    ]
    if stopped.witness is not None and ending is not None:
        first, second = stopped.witness
        words = "nothing moves" if first == second else f"{short(first, 24)} → {short(second, 24)}"
        kind = "cancelled" if first == second else "failed"
        span = Span(ending.at_ms - zero, length, words, kind)
        lanes.append(Lane("the witness", "", (span,)))
    return Timeline("A run, cancelled", era, length, tuple(lanes))


def _plain(era: str, plain: Plain) -> Timeline:
    call = plain.call
    zero = call.sent_at_ms
    notes = call.notes("notifications/progress")
    answered = call.answered_at_ms
    last = max([answered or 0.0, *(frame.at_ms for frame in notes)]) - zero
    length = last * 1.08 + 100
    marks = [
        Mark(
            frame.at_ms - zero,
            short(frame.params.get("message") or frame.params.get("progress"), 40),
            "progress",
        )
        for frame in notes
    ]
    lanes = [Lane("progress", f"{len(notes)} notifications", (), tuple(marks))]
    if answered is not None:
        span = Span(0, answered - zero, "the call", "waiting")
        lanes.append(Lane("the answer", "", (span,), (Mark(answered - zero, "answered", "end"),)))
    return Timeline("A call that takes no tasks", era, length, tuple(lanes))


__all__ = ["Lane", "Mark", "Span", "Timeline", "as_json", "timelines_of"]
