"""What whoever waits is shown: by looking, by listening, and by progress notifications."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from awhile.probe.checks.registry import (
    Verdict,
    bad,
    check,
    core,
    good,
    old_core,
    old_tasks,
    ours,
    tasks,
)
from awhile.probe.dialects import SUBSCRIPTION
from awhile.probe.exchanges import Exchange, Frame, as_object
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import MEASURING, SUGGESTED, Missing, Seen, Watched
from awhile.probe.measures.watching import seconds_of
from awhile.probe.views import View

GRAIN_MS = 1100
"""Times may be told in whole seconds; closer together than that, they may be the same."""

BUSIEST_PER_SECOND = 40
"""More progress notifications than that are a flood (source: ours)."""


def steps_of(watched: Watched) -> list[str]:
    """Every message that was shown while the work went on, in order."""
    views = sorted([*watched.measured, *watched.pushed], key=lambda view: view.at_ms)
    words = [view.message for view in views if not view.ended and view.message is not None]
    return list(dict.fromkeys(words))


def steps_seen(watched: Watched, poller: str) -> list[str]:
    """Those of them that one poller was told, whether as they were current or afterwards."""
    views = [watched.first, *watched.views.get(poller, ())]
    return [step for step in steps_of(watched) if any(view.tells(step) for view in views)]


def _steps(watched: Watched) -> list[str]:
    if watched.ended is None and watched.asks is None:
        raise Missing("the run did not end within the bound")
    steps = steps_of(watched)
    if len(steps) < 2:
        raise Missing("its message did not change while it worked", applicable=False)
    return steps


@check(
    "steps-seen-as-suggested",
    "Who looks as often as suggested learns of every step.",
    fault=Grade.MISLEADS,
    advice="Suggest an interval shorter than a step takes, or tell the recent steps along with "
    "the current one.",
    modern=ours("pollIntervalMs is all a client knows of how often to look"),
    legacy=ours("pollInterval is all a client knows of how often to look"),
)
def steps_seen_as_suggested(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    steps = _steps(watched)
    told = steps_seen(watched, SUGGESTED)
    every = seconds_of(watched.pollers[SUGGESTED])
    words = f"Every {every}: {len(told)} of {len(steps)} steps."
    if told == steps:
        return good(words, *watched.views[SUGGESTED][-1:], steps=steps, told=told)
    lost = ", ".join(step for step in steps if step not in told)
    return bad(f"{words} Never seen: {lost}.", *watched.views[SUGGESTED], steps=steps, told=told)


@check(
    "steps-seen-by-slower",
    "Who looks less often learns of every step, too.",
    fault=Grade.DIFFERS,
    advice="Tell the recent steps along with the current one: nobody has to look as often as "
    "suggested, and a laptop sleeps.",
    modern=ours("looking less often is allowed, and what happened should not depend on it"),
    legacy=ours("looking less often is allowed, and what happened should not depend on it"),
)
def steps_seen_by_slower(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    steps = _steps(watched)
    slower = {name: steps_seen(watched, name) for name in watched.pollers}
    del slower[MEASURING], slower[SUGGESTED]
    words = " ".join(
        f"{name.capitalize()}: {len(told)} of {len(steps)} ({', '.join(told)})."
        if told != steps
        else f"{name.capitalize()}: all {len(steps)}."
        for name, told in slower.items()
    )
    shown = [view for name in slower for view in watched.views[name]]
    if all(told == steps for told in slower.values()):
        return good(words, *shown[-1:], steps=steps, pollers=slower)
    return bad(words, *shown, steps=steps, pollers=slower)


@check(
    "updates-move-the-time",
    "lastUpdatedAt moves when the task changes.",
    fault=Grade.MISLEADS,
    advice="Set lastUpdatedAt in the write that changes status or message; it is how a client "
    "tells slow work from dead work.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def updates_move_the_time(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    views = watched.measured
    last = next((view for view in reversed(views) if view.moment != views[0].moment), None)
    if last is None or last.at_ms - views[0].at_ms < GRAIN_MS:
        raise Missing("it did not change, or too soon to tell")
    times = [view.task.get("lastUpdatedAt") for view in (views[0], last)]
    if times[0] == times[1]:
        words = f"From {views[0].status!r} to {last.status!r} it stayed {times[0]}."
        return bad(words, views[0], last)
    return good("It did.", views[0], last)


@check(
    "looking-is-no-update",
    "Looking at a task does not update it.",
    fault=Grade.MISLEADS,
    advice="Keep lastUpdatedAt with the task, and do not make it up while answering.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def looking_is_no_update(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    after = watched.after
    pairs = list(pairwise(after))
    moved = [(one, two) for one, two in pairs if _only_the_time_differs(one, two)]
    if moved:
        one, two = moved[0]
        times = f"{one.task.get('lastUpdatedAt')}, {two.task.get('lastUpdatedAt')}"
        return bad(f"The ended task was updated at {times}, and nothing else.", one, two)
    if pairs:
        return good("An ended task keeps the time of its end.", *pairs[-1])
    views = watched.measured
    still = [(one, two) for one, two in pairwise(views) if one.moment == two.moment]
    if len(still) < 4:
        raise Missing("it was not looked at often enough")
    if all(_only_the_time_differs(one, two) for one, two in still):
        return bad("Each look moved lastUpdatedAt.", *still[0])
    return good("Looks that saw nothing new saw the same time.", *still[0])


def _only_the_time_differs(one: View, two: View) -> bool:
    # What a server suggests depends on how busy it is, not on the task.
    ignored = {"lastUpdatedAt", "_meta", "pollIntervalMs", "pollInterval"}
    before = {key: value for key, value in one.task.items() if key not in ignored}
    after = {key: value for key, value in two.task.items() if key not in ignored}
    return before == after and one.task.get("lastUpdatedAt") != two.task.get("lastUpdatedAt")


def _listened(seen: Seen) -> tuple[Watched, Exchange, Frame]:
    """The listen stream and its acknowledgement of the task."""
    watched = seen.watched.needed
    listened = watched.listened
    if listened is None or listened.code is not None:
        why = "" if listened is None else f": it got {listened.seen}"
        raise Missing(f"this server pushes nothing{why}", applicable=False)
    acknowledged = next(iter(listened.notes("notifications/subscriptions/acknowledged")), None)
    if acknowledged is None:
        raise Missing(f"the listen stream was not acknowledged: {listened.seen}")
    agreed: Any = as_object(acknowledged.params.get("notifications")).get("taskIds")
    if not isinstance(agreed, list) or watched.task.get("taskId") not in agreed:
        raise Missing("it agreed to push nothing of this task", applicable=False)
    return watched, listened, acknowledged


@check(
    "listen-acknowledged-first",
    "A listen stream begins with its acknowledgement, and every message carries its id.",
    fault=Grade.DIFFERS,
    advice="Send notifications/subscriptions/acknowledged first, and put the listen request's id "
    "into _meta of everything after it.",
    modern=core("basic/patterns/subscriptions", "Acknowledgment"),
)
def listen_acknowledged_first(seen: Seen) -> Verdict:
    watched, listened, acknowledged = _listened(seen)
    messages = [frame for frame in listened.frames if frame.message is not None]
    if messages[0] is not acknowledged:
        return bad(f"It begins with {messages[0].method!r}.", listened)
    for frame in messages:
        if frame.method is None:
            continue
        tied = as_object(frame.params.get("_meta")).get(SUBSCRIPTION)
        if tied != listened.id:
            return bad(f"{frame.method} carries the subscription {tied!r}.", listened)
    took = round(acknowledged.at_ms - listened.sent_at_ms)
    return good(f"It does, after {took} ms.", listened, took_ms=took, task=watched.first.task_id)


@check(
    "listen-tells-the-end",
    "Who listens to a task is told of its end.",
    fault=Grade.LOSES_WORK,
    advice="Push every ending that was agreed to; a client that is promised news stops looking.",
    modern=tasks("Task Status Notifications"),
)
def listen_tells_the_end(seen: Seen) -> Verdict:
    watched, listened, _ = _listened(seen)
    end = watched.ended
    if end is None:
        raise Missing("the run did not end within the bound")
    told = next((view for view in watched.pushed if view.ended), None)
    if told is None:
        return bad("Its end was never pushed.", listened, end)
    sooner = round(end.at_ms - told.at_ms)
    every = seconds_of(watched.pollers[MEASURING])
    words = (
        f"Pushed {sooner} ms before a look every {every} saw it."
        if sooner >= 0
        else f"Pushed {-sooner} ms after a look every {every} saw it."
    )
    return good(words, listened, end, sooner_ms=sooner, pushes=len(watched.pushed))


@check(
    "pushed-task-is-whole",
    "What is pushed is the task as tasks/get shows it.",
    fault=Grade.DIFFERS,
    advice="Push the whole task, its result included: a listener need not look again.",
    modern=tasks("Task Status Notifications"),
)
def pushed_task_is_whole(seen: Seen) -> Verdict:
    watched, listened, _ = _listened(seen)
    told = next((view for view in watched.pushed if view.ended), None)
    if told is None or not watched.after:
        raise Missing("no ending was pushed, or the ended task was not looked at")
    looked = watched.after[0]
    names = ("taskId", "status", "statusMessage", "lastUpdatedAt", "ttlMs", "result", "error")
    differing = [name for name in names if told.task.get(name) != looked.task.get(name)]
    if differing:
        return bad(f"{', '.join(differing)} differ.", listened, looked)
    return good("It is.", listened, looked)


@check(
    "no-progress-on-listen",
    "No progress and no log messages come on a listen stream.",
    fault=Grade.DIFFERS,
    advice="Tell a task's progress by its statusMessage.",
    modern=tasks("Task Status Notifications"),
)
def no_progress_on_listen(seen: Seen) -> Verdict:
    _, listened, _ = _listened(seen)
    for method in ("notifications/progress", "notifications/message"):
        if listened.notes(method):
            return bad(f"{method} came.", listened)
    return good("None came.", listened)


def _told(seen: Seen) -> dict[str, list[tuple[Exchange, Frame]]]:
    """The progress of everything that gave a token, by token, in the order it came.

    In 2025-11-25 a task's progress may come on any stream.
    """
    found: dict[str, list[tuple[Exchange, Frame]]] = {}
    for exchange, frame in sorted(seen.frames(), key=lambda one: one[1].at_ms):
        token = frame.params.get("progressToken")
        if frame.method == "notifications/progress" and isinstance(token, str):
            found.setdefault(token, []).append((exchange, frame))
    if not found:
        raise Missing("no progress came, neither for a call nor for a task", applicable=False)
    return found


def _progress(seen: Seen) -> tuple[Exchange, list[Frame]]:
    plain = seen.plain.needed
    frames = [
        frame
        for frame in plain.call.notes("notifications/progress")
        if frame.params.get("progressToken") == plain.token
    ]
    if not frames:
        raise Missing("a call that takes no tasks got no progress", applicable=False)
    return plain.call, frames


@check(
    "progress-rises",
    "Progress rises with each notification.",
    fault=Grade.DIFFERS,
    advice="Send a notification only when its number is greater than the last one sent.",
    modern=core("basic/patterns/progress", "Progress Flow"),
    legacy=old_core("basic/utilities/progress", "Progress Flow"),
)
def progress_rises(seen: Seen) -> Verdict:
    if seen.plain.found is None and seen.watched.found is None:
        raise Missing(seen.plain.reason, applicable=seen.plain.applicable)
    told: list[str] = []
    for notes in _told(seen).values():
        values: list[Any] = [frame.params.get("progress") for _, frame in notes]
        for one, two in pairwise(values):
            numbers = isinstance(one, int | float) and isinstance(two, int | float)
            if not numbers or two <= one:
                words = f"{one!r} was followed by {two!r}."
                return bad(words, notes[0][0], notes[-1][0], progress=values)
        told.append(f"{len(values)} notifications, {values[0]} to {values[-1]}")
    return good(f"{'; '.join(told)}.", *(notes[-1][0] for notes in _told(seen).values()))


@check(
    "progress-stops",
    "No progress comes after the answer.",
    fault=Grade.DIFFERS,
    advice="Stop the reporter before answering.",
    modern=core("basic/patterns/progress", "Implementation Notes"),
    legacy=old_core("basic/utilities/progress", "Implementation Notes"),
)
def progress_stops(seen: Seen) -> Verdict:
    call, frames = _progress(seen)
    answered = call.answered_at_ms
    if answered is None:
        raise Missing("the call was not answered within the bound")
    late = [frame for frame in frames if call.frames.index(frame) > _place(call)]
    if late:
        return bad(f"{len(late)} came after it.", call)
    return good("None did.", call)


def _place(call: Exchange) -> int:
    frame = call.answer_frame
    return len(call.frames) if frame is None else call.frames.index(frame)


@check(
    "progress-is-paced",
    "Progress comes no faster than anybody can look.",
    fault=Grade.DIFFERS,
    advice="Send some ten notifications a second at most, and always the last one.",
    modern=core("basic/patterns/progress", "Implementation Notes"),
    legacy=old_core("basic/utilities/progress", "Implementation Notes"),
)
def progress_is_paced(seen: Seen) -> Verdict:
    call, frames = _progress(seen)
    gaps = [two.at_ms - one.at_ms for one, two in pairwise(frames)]
    if not gaps:
        return good("One notification.", call)
    middle = round(sorted(gaps)[len(gaps) // 2])
    second = 1000.0
    busiest = max(
        sum(1 for other in frames if 0 <= other.at_ms - frame.at_ms < second) for frame in frames
    )
    words = f"At most {busiest} in a second, typically one every {middle} ms."
    if busiest > BUSIEST_PER_SECOND:
        return bad(words, call, busiest=busiest, typical_gap_ms=middle)
    return good(words, call, busiest=busiest, typical_gap_ms=middle)


@check(
    "progress-only-if-asked",
    "Progress goes only to whoever gave a token.",
    fault=Grade.DIFFERS,
    advice="Send none to a request without progressToken; strict clients drop a server that does.",
    modern=core("basic/patterns/progress", "Behavior Requirements"),
    legacy=old_core("basic/utilities/progress", "Behavior Requirements"),
)
def progress_only_if_asked(seen: Seen) -> Verdict:
    if seen.plain.found is None and seen.watched.found is None:
        raise Missing(seen.plain.reason)
    given = [
        as_object(as_object(one.request.get("params")).get("_meta")).get("progressToken")
        for one in seen.exchanges
    ]
    for exchange, frame in seen.frames():
        if frame.method == "notifications/progress":
            token = frame.params.get("progressToken")
            if token is None or token not in given:
                return bad(f"Progress of {token!r} came, which nobody gave.", exchange)
    return good("No other came.", seen.plain.found.call if seen.plain.found else None)
