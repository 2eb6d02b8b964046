"""How a task begins: its answer, its fields, its id, its times."""

from __future__ import annotations

import itertools
import math
import re
from datetime import datetime
from email.utils import parsedate_to_datetime

from awhile.probe.checks.registry import (
    TURNED_AWAY,
    Verdict,
    bad,
    check,
    declared,
    good,
    old_tasks,
    tasks,
)
from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import as_object, short
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import Missing, Seen
from awhile.probe.views import STATUSES

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)")
"""RFC 3339, which ISO 8601 dates on the wire are meant to be."""

FEWEST_BITS = 64
"""What an id has to vary by (source: ours; RFC 9562's random ids have 122)."""

SHORTEST_POLL_MS = 20
SHORTEST_TTL_MS = 10_000
LONGEST_POLL_MS = 10 * 60 * 1000
"""Beyond these a number is more likely one of another unit than meant (source: ours)."""

CLOCKS_APART_SECONDS = 120


@check(
    "task-shape",
    "A call that becomes a task is answered with the task, and nothing of its result.",
    fault=Grade.DIFFERS,
    advice="2026-07-28: the task's fields beside resultType 'task'. 2025-11-25: under 'task'. "
    "Neither carries a result, an error or questions yet.",
    modern=tasks("Task Creation"),
    legacy=old_tasks("Creating Tasks"),
)
def task_shape(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    result = watched.created.result or {}
    created = watched.created
    if seen.era == LEGACY:
        if "task" not in result:
            return bad("The task is not under 'task'.", created)
    elif result.get("resultType") != "task" or "taskId" not in result:
        return bad(f"resultType is {result.get('resultType')!r}.", created)
    early = [name for name in ("result", "error", "inputRequests") if name in watched.task]
    missing = [name for name in ("taskId", "status", "createdAt") if name not in watched.task]
    if early or missing:
        return bad(f"It has {early!r} already, and lacks {missing!r}.", created)
    took = round(created.took_ms or 0)
    return good(f"It is, after {took} ms.", created, took_ms=took)


@check(
    "readable-at-once",
    "A task can be looked at as soon as its id is known.",
    fault=Grade.LOSES_WORK,
    advice="Write the task down before answering with its id.",
    modern=tasks("Task Creation"),
    legacy=old_tasks("Getting Tasks"),
)
def readable_at_once(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    first = watched.first_look
    if first is None:
        raise Missing("it was not looked at before a bound was reached")
    if first.status in TURNED_AWAY:
        raise Missing(f"the first look was turned away, whatever it was for: {first.seen}")
    if first.result is None:
        return bad(f"The first look got {first.seen}.", watched.created, first)
    return good("It could.", watched.created, first)


@check(
    "begins-working",
    "A new task is 'working'.",
    fault=Grade.DIFFERS,
    advice="Answer with the task as it was created, before its work has begun.",
    legacy=old_tasks("Task Status Lifecycle"),
)
def begins_working(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    if watched.first.status != "working":
        return bad(f"It is {watched.first.status!r}.", watched.created)
    return good("It is.", watched.created)


@check(
    "status-words",
    "The status is one of the five there are.",
    fault=Grade.DIFFERS,
    advice="Use working, input_required, completed, failed and cancelled; a client that meets "
    "another word waits for ever, or gives up.",
    modern=tasks("Task Status"),
    legacy=old_tasks("Task Status"),
)
def status_words(seen: Seen) -> Verdict:
    views = seen.views
    wrong = [view for view in views if view.status not in STATUSES]
    if wrong:
        return bad(f"It is {wrong[0].status!r}.", wrong[0])
    words = list(dict.fromkeys(view.status for view in views))
    return good(f"Seen: {', '.join(words)}.", views[0], statuses=words)


@check(
    "field-names",
    "Durations carry this era's names.",
    fault=Grade.DIFFERS,
    advice="2026-07-28: ttlMs and pollIntervalMs. 2025-11-25: ttl and pollInterval. The ttl is "
    "always there, null for unlimited; under another name it is not there for a client.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def field_names(seen: Seen) -> Verdict:
    if seen.era == LEGACY:
        right, foreign = "ttl", {"ttlMs", "pollIntervalMs"}
    else:
        right, foreign = "ttlMs", {"ttl", "pollInterval"}
    names: set[str] = set()
    for view in seen.views:
        names |= set(view.task)
        found = foreign & set(view.task)
        if found:
            return bad(f"It has {sorted(found)!r}.", view)
        if right not in view.task:
            return bad(f"It has no {right!r}.", view)
    durations = sorted(names & {"ttl", "ttlMs", "pollInterval", "pollIntervalMs"})
    return good(f"It has {', '.join(durations)}.", seen.views[0], fields=durations)


def _whole(seen: Seen, names: tuple[str, str], *, least: int, null: bool) -> Verdict:
    found = [(view.task[name], view) for view in seen.views for name in names if name in view.task]
    if not found:
        raise Missing("it does not say", applicable=False)
    numbers: set[int] = set()
    for value, view in found:
        if value is None and null:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            return bad(f"It is {short(value)}.", view)
        numbers.add(value)
    shown = [between(numbers)] if numbers else []
    shown += ["null"] if any(value is None for value, _ in found) else []
    return good(f"It is {', and '.join(shown)}.", found[0][1], values=sorted(numbers))


def between(numbers: set[int] | list[float]) -> str:
    """The least and the greatest of some numbers; the only one."""
    least, most = min(numbers), max(numbers)
    return str(least) if least == most else f"{least} to {most}"


@check(
    "ttl-is-whole",
    "The time to live is a whole number of milliseconds, or null.",
    fault=Grade.DIFFERS,
    advice="Round it; strict clients refuse a task whose ttl is a fraction, a text or negative.",
    modern=tasks("Tasks"),
    legacy=old_tasks("Task"),
)
def ttl_is_whole(seen: Seen) -> Verdict:
    return _whole(seen, ("ttlMs", "ttl"), least=0, null=True)


@check(
    "poll-interval-is-whole",
    "The suggested interval is a whole number of milliseconds.",
    fault=Grade.DIFFERS,
    advice="Round it, and leave it out where there is no suggestion.",
    modern=tasks("Tasks"),
    legacy=old_tasks("Task"),
)
def poll_interval_is_whole(seen: Seen) -> Verdict:
    return _whole(seen, ("pollIntervalMs", "pollInterval"), least=1, null=False)


@check(
    "units",
    "Durations are milliseconds.",
    fault=Grade.MISLEADS,
    advice="Multiply by a thousand: a client that is told 2 where 2000 is meant asks five hundred "
    "times a second, or gives a task up while it works.",
    modern=tasks("Tasks"),
    legacy=old_tasks("Task"),
)
def units(seen: Seen) -> Verdict:
    views = seen.views
    polls = sorted({view.poll_ms for view in views if view.poll_ms is not None})
    lives = sorted({view.ttl_ms for view in views if view.ttl_ms is not None})
    if polls and polls[0] < SHORTEST_POLL_MS:
        return bad(f"The suggested interval is {polls[0]:g}: seconds, it seems.", views[0])
    if polls and polls[-1] > LONGEST_POLL_MS:
        return bad(f"The suggested interval is {polls[-1]:g}: microseconds, it seems.", views[0])
    if lives and lives[0] < SHORTEST_TTL_MS:
        return bad(f"The time to live is {lives[0]:g}: seconds, it seems.", views[0])
    told = {"interval": polls, "ttl": lives}
    words = [f"{name} {between(numbers)} ms" for name, numbers in told.items() if numbers]
    return good(", ".join(words) or "No duration was told.", views[0], polls=polls, lives=lives)


@check(
    "instants-have-a-zone",
    "createdAt and lastUpdatedAt are instants of RFC 3339, with a zone.",
    fault=Grade.DIFFERS,
    advice="Write times in UTC with a Z; without a zone each client reads its own.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def instants_have_a_zone(seen: Seen) -> Verdict:
    for view in seen.views:
        for name in ("createdAt", "lastUpdatedAt"):
            value = view.task.get(name)
            if not isinstance(value, str) or not INSTANT.fullmatch(value):
                return bad(f"{name} is {value!r}.", view)
    first = seen.views[0]
    return good(f"They are, for one {first.task['createdAt']}.", first)


@check(
    "clock",
    "createdAt is the time of the call.",
    fault=Grade.MISLEADS,
    advice="Write times in UTC, from a clock that is set: deadlines are reckoned from createdAt.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def clock(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    said, date = watched.task.get("createdAt"), watched.created.reply_headers.get("date")
    if date is None:
        raise Missing("the answer has no Date to compare with", applicable=False)
    try:
        created = datetime.fromisoformat(str(said))
        apart = abs((created - parsedate_to_datetime(date)).total_seconds())
    except (ValueError, TypeError):
        raise Missing("createdAt cannot be read") from None
    if apart > CLOCKS_APART_SECONDS:
        return bad(f"It is {said}, and the answer came at {date}.", watched.created)
    return good("It is.", watched.created)


@check(
    "ids-unguessable",
    "Task ids cannot be guessed.",
    fault=Grade.LOSES_WORK,
    advice="Make ids of at least 128 random bits (uuid4, secrets.token_hex(16)): who has the id "
    "may read the result.",
    modern=tasks("Security Considerations"),
    legacy=old_tasks("Task Isolation and Access Control"),
)
def ids_unguessable(seen: Seen) -> Verdict:
    seen.watched.needed  # noqa: B018 - says why there are none
    ids = list(dict.fromkeys(seen.ids))
    varying = [part for part in _varying(ids) if part]
    letters = set("".join(varying))
    bits = max(map(len, varying), default=0) * math.log2(max(_alphabet(letters), 2))
    created = seen.watched.needed.created
    told = round(bits)
    if bits < FEWEST_BITS:
        return bad(
            f"{len(ids)} of them, {', '.join(map(repr, ids[:3]))}, differ by some {told} bits.",
            created,
            bits=told,
        )
    return good(f"They differ by {told} bits or so.", created, bits=told)


def _varying(ids: list[str]) -> list[str]:
    """The ids without what they all begin and end with."""
    if len(ids) < 2:
        return ids
    start = _shared(ids)
    end = _shared([one[start:][::-1] for one in ids])
    return [one[start : len(one) - end] for one in ids]


def _shared(words: list[str]) -> int:
    """How many letters all of them begin with."""
    columns = zip(*words, strict=False)  # as long as the shortest
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def _alphabet(letters: set[str]) -> int:
    known = ("0123456789", "0123456789abcdef", "0123456789abcdefghijklmnopqrstuvwxyz")
    plain = {letter.lower() for letter in letters} - set("-_:.")
    for one in known:
        if plain <= set(one):
            return len(one) if {letter.lower() for letter in letters} == letters else 2 * len(one)
    return 64


@check(
    "no-task-unasked",
    "A caller that takes no tasks never gets one.",
    fault=Grade.LOSES_WORK,
    advice="Look at what this very request declares; a client that knows no tasks takes the handle "
    "for the result, and the result is never collected.",
    modern=tasks("Capability Negotiation"),
    legacy=old_tasks("Creating Tasks"),
)
def no_task_unasked(seen: Seen) -> Verdict:
    call = seen.plain.needed.call
    result = call.result or {}
    if "taskId" in result or "taskId" in as_object(result.get("task")):
        return bad("It got a task.", call)
    if not call.answer:
        raise Missing(f"it was not answered within the bound ({call.ending})")
    return good("It got no task.", call)


@check(
    "required-tool-refused",
    "A tool that runs only as a task refuses other calls with the era's own error.",
    fault=Grade.DIFFERS,
    advice="2025-11-25: a JSON-RPC error -32601, not a result whose text says so. 2026-07-28: "
    "-32021 naming the extension, so that clients know what to declare.",
    modern=tasks("Capability Negotiation"),
    legacy=old_tasks("Tool-Level Negotiation"),
)
def required_tool_refused(seen: Seen) -> Verdict:
    call = seen.plain.needed.call
    tool = seen.tool or ""
    if seen.era != LEGACY:
        if call.error is None:
            raise Missing("it runs without a task, too", applicable=False)
        required = as_object(as_object(call.error.get("data")).get("requiredCapabilities"))
        named = "io.modelcontextprotocol/tasks" in as_object(required.get("extensions"))
        if call.code == -32021 and named:
            return good(f"It got {call.seen}.", call)
        return bad(f"It got {call.seen}.", call)
    if seen.survey.support(tool) != "required":
        raise Missing(f"{tool!r} is not declared 'required'", applicable=False)
    if call.code in (-32601, -32600):
        return good(f"It got {call.seen}.", call)
    inside = ""
    if call.result is not None and "-32601" in str(call.result):
        inside = ", an isError result carrying -32601"
    return bad(f"It got {call.seen}{inside}.", call, is_error=(call.result or {}).get("isError"))


@check(
    "unasked-task-refused",
    "A tool that never runs as a task refuses params.task (-32601).",
    fault=Grade.DIFFERS,
    advice="Answer -32601 before the tool runs.",
    legacy=old_tasks("Tool-Level Negotiation"),
)
def unasked_task_refused(seen: Seen) -> Verdict:
    if not declared(seen):
        raise Missing("this server declares no tasks, and may ignore it", applicable=False)
    if seen.survey.support(seen.tool or "") not in (None, "forbidden") or seen.watched.found:
        raise Missing("this tool runs as a task", applicable=False)
    tried = [one for one in seen.exchanges if "task" in as_object(one.request.get("params"))]
    if not tried:
        raise Missing("no tool was called with params.task", applicable=False)
    if tried[0].code == -32601:
        return good(f"It got {tried[0].seen}.", tried[0])
    return bad(f"It got {tried[0].seen}.", tried[0])
