"""How a task ends: its last words, its result, and whether both stay."""

from __future__ import annotations

import json
from datetime import datetime

from awhile.probe.checks.registry import Verdict, bad, check, core, good, old_tasks, ours, tasks
from awhile.probe.checks.waiting import steps_of
from awhile.probe.dialects import LEGACY, RELATED_TASK
from awhile.probe.exchanges import Exchange, as_object
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import Missing, Seen, Watched
from awhile.probe.views import View, ids_in

GRAIN_SECONDS = 2.0
"""Times may be told in whole seconds, and clocks set a little meanwhile."""


def _ended(seen: Seen) -> tuple[Watched, View]:
    watched = seen.watched.needed
    end = watched.ended
    if end is None:
        if watched.asks is not None:
            raise Missing("the tool asks, and nobody answers here", applicable=False)
        raise Missing("the run did not end within the bound")
    return watched, end


@check(
    "message-describes-the-end",
    "The message of an ended task is about its end.",
    fault=Grade.MISLEADS,
    advice="Change status and message in one write, or clear the message: 'step 4 of 5' beside "
    "'completed' is believed.",
    modern=tasks("Tasks"),
    legacy=old_tasks("Task"),
)
def message_describes_the_end(seen: Seen) -> Verdict:
    watched, end = _ended(seen)
    last = watched.after[-1] if watched.after else end
    stale = last.message is not None and last.message in steps_of(watched)
    words = f"{last.status!r} beside the message {last.message!r}."
    if last.message is None:
        words = f"{last.status!r}, without a message."
    if stale:
        return bad(words, end, last, message=last.message)
    return good(words, last, message=last.message)


@check(
    "ending-stays",
    "An ended task does not change any more.",
    fault=Grade.LOSES_WORK,
    advice="Decide every ending by one compare-and-set; a later cancel, or a later result, "
    "changes nothing.",
    modern=tasks("Task Status"),
    legacy=old_tasks("Task Status Lifecycle"),
)
def ending_stays(seen: Seen) -> Verdict:
    watched, end = _ended(seen)
    for view in watched.after:
        if view.status != end.status:
            return bad(f"It was {end.status!r}, and then {view.status!r}.", end, view)
    if not watched.after:
        raise Missing("it was not looked at again")
    cancel = watched.late_cancel
    return good(f"It stayed {end.status!r}, also when cancelled.", end, watched.after[-1], cancel)


@check(
    "late-cancel-refused",
    "A cancel of an ended task is refused (-32602).",
    fault=Grade.DIFFERS,
    advice="Answer -32602, so that whoever cancelled learns that it had ended.",
    legacy=old_tasks("Task Cancellation"),
)
def late_cancel_refused(seen: Seen) -> Verdict:
    watched, _ = _ended(seen)
    asked = watched.late_cancel
    if asked is None:
        raise Missing("it was not cancelled after its end")
    if asked.code == -32602:
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "result-beside-status",
    "A task carries what belongs to its status, and nothing else.",
    fault=Grade.MISLEADS,
    advice="result with completed only, error with failed only, inputRequests with input_required "
    "only: a client that finds a result uses it.",
    modern=tasks("Response"),
)
def result_beside_status(seen: Seen) -> Verdict:
    belongs = {"completed": "result", "failed": "error", "input_required": "inputRequests"}
    views = seen.views
    ended = [view for view in views if view.ended]
    for view in views:
        right = belongs.get(view.status)
        extra = [name for name in belongs.values() if name != right and name in view.task]
        if extra:
            return bad(f"A task that is {view.status!r} has {', '.join(extra)}.", view)
        created = seen.watched.found and view.exchange == seen.watched.found.created.number
        if right is not None and right not in view.task and not created:
            return bad(f"A task that is {view.status!r} has no {right}.", view)
    return good("It does.", *ended[:1])


@check(
    "result-read-twice",
    "A result can be read again.",
    fault=Grade.LOSES_WORK,
    advice="Keep the result until the ttl has passed, whoever has read it: the first answer may "
    "never have arrived.",
    modern=tasks("Tasks"),
    legacy=old_tasks("Result Retrieval"),
)
def result_read_twice(seen: Seen) -> Verdict:
    watched, end = _ended(seen)
    if seen.era == LEGACY:
        return _read_by_result(watched)
    if not watched.after:
        raise Missing("it was not looked at again")
    looks = [view for view in watched.seen if view.ended]
    texts = {
        json.dumps([view.task.get("result"), view.task.get("error")], sort_keys=True)
        for view in looks
    }
    if len(texts) > 1:
        return bad("It was not the same again.", *looks)
    return good(f"{len(looks)} looks got the same.", end, watched.after[-1])


def _read_by_result(watched: Watched) -> Verdict:
    results = watched.results
    if len(results) < 2:
        raise Missing("it was not read twice")
    texts = {json.dumps([one.result, one.error], sort_keys=True) for one in results}
    if len(texts) > 1:
        return bad(f"First {results[0].seen}; then {results[1].seen}.", *results)
    return good("Read twice, the same.", *results)


@check(
    "no-early-expiry",
    "A task is there until its ttl has passed.",
    fault=Grade.LOSES_WORK,
    advice="Do not drop a task before createdAt plus the ttl that was told, nor while it works.",
    modern=tasks("Tasks"),
    legacy=old_tasks("TTL and Resource Management"),
)
def no_early_expiry(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    lost = watched.lost
    last = watched.seen[-1]
    if lost is None:
        if watched.ended is None:
            raise Missing("the run did not end within the bound")
        after = (last.at_ms - watched.ended.at_ms) / 1000
        return good(f"It was there {after:.1f} s after its end.", last, after_s=round(after, 1))
    age = lost.sent_at_ms - (watched.created.answered_at_ms or 0)
    told = last.ttl_ms
    if told is not None and age >= told:
        return good(f"It was gone after {age:.0f} ms, of a ttl of {told:g}.", lost)
    until = "an unlimited ttl" if told is None else f"a ttl of {told:g} ms"
    return bad(f"It was gone after {age:.0f} ms, of {until}: {lost.seen}.", last, lost)


@check(
    "result-type-complete",
    "Answers to tasks/get, tasks/update and tasks/cancel are resultType 'complete'.",
    fault=Grade.DIFFERS,
    advice="Set resultType 'complete' on them; 'task' is for the answer that creates one.",
    modern=tasks("Response"),
)
def result_type_complete(seen: Seen) -> Verdict:
    seen.watched.needed  # noqa: B018 - says why there are none
    answers: list[Exchange] = [
        one
        for one in seen.exchanges
        if str(one.request.get("method")).startswith("tasks/") and one.result is not None
    ]
    wrong = [one for one in answers if (one.result or {}).get("resultType") != "complete"]
    if wrong:
        word = (wrong[0].result or {}).get("resultType")
        return bad(f"{wrong[0].request['method']} has {word!r}.", wrong[0])
    return good(f"All {len(answers)} are.", *answers[:1])


@check(
    "result-waits",
    "tasks/result waits for the end.",
    fault=Grade.DIFFERS,
    advice="Hold the answer of tasks/result until the task has ended.",
    legacy=old_tasks("Result Retrieval"),
)
def result_waits(seen: Seen) -> Verdict:
    watched, end = _ended(seen)
    waited = watched.waited
    if waited is None or waited.answered_at_ms is None:
        raise Missing("tasks/result was not answered within the bound")
    took = round(waited.answered_at_ms - waited.sent_at_ms)
    last = max((view.at_ms for view in watched.measured if not view.ended), default=end.at_ms)
    if waited.answered_at_ms < last:
        return bad(f"It was answered after {took} ms: {waited.seen}.", waited, end)
    return good(f"It waited {took} ms.", waited, end, took_ms=took)


@check(
    "result-names-its-task",
    "What tasks/result returns is tied to its task.",
    fault=Grade.DIFFERS,
    advice="Put io.modelcontextprotocol/related-task into its _meta.",
    legacy=old_tasks("Related Task Metadata"),
)
def result_names_its_task(seen: Seen) -> Verdict:
    watched, _ = _ended(seen)
    found = [one for one in watched.results if one.result is not None]
    if not found:
        raise Missing("there is no result")
    meta = as_object((found[0].result or {}).get("_meta"))
    named = as_object(meta.get(RELATED_TASK)).get("taskId")
    if named != watched.task.get("taskId"):
        return bad(f"related-task is {named!r}.", found[0])
    return good("It is, by related-task; tasks/get has no result.", found[0])


@check(
    "listed",
    "A task that can be looked at is in tasks/list.",
    fault=Grade.DIFFERS,
    advice="List every task that tasks/get finds for the same caller.",
    legacy=old_tasks("Task Listing"),
)
def listed(seen: Seen) -> Verdict:
    watched, _ = _ended(seen)
    listing = watched.listed
    if listing is None or listing.result is None:
        raise Missing("tasks are not listed here", applicable=False)
    ids = ids_in(listing)
    if watched.task.get("taskId") in ids:
        return good(f"It is, among {len(ids)}.", listing)
    if listing.result.get("nextCursor"):
        raise Missing("it is not on the first page; further pages are not read")
    return bad(f"It is not, among {len(ids)}.", listing)


@check(
    "times-in-order",
    "A task was last updated after it was created, and not in the future.",
    fault=Grade.MISLEADS,
    advice="Take both times from one clock.",
    modern=ours("both are instants of one clock"),
    legacy=ours("both are instants of one clock"),
)
def times_in_order(seen: Seen) -> Verdict:
    parts = (seen.watched.found, seen.stopped.found)
    # A task is no older than the call that made it: its own clock tells what is in the future.
    begins = {str(one.task.get("taskId")): one.created.sent_at_ms for one in parts if one}
    for view in seen.views:
        try:
            created = datetime.fromisoformat(str(view.task.get("createdAt")))
            updated = datetime.fromisoformat(str(view.task.get("lastUpdatedAt")))
            age = (updated - created).total_seconds()
        except (ValueError, TypeError):
            raise Missing("the times cannot be read") from None
        begun = begins.get(view.task_id)
        seen_for = None if begun is None else (view.at_ms - begun) / 1000
        if age < 0 or (seen_for is not None and age > seen_for + GRAIN_SECONDS):
            return bad(f"Created {created}, last updated {updated}.", view)
    return good("It was.", seen.views[-1])


@check(
    "stream-says-no-buffering",
    "A stream tells proxies not to hold it back (X-Accel-Buffering: no).",
    fault=Grade.DIFFERS,
    advice="Send X-Accel-Buffering: no with every event stream; nginx holds events back otherwise.",
    needs="nothing",
    modern=core("basic/transports/streamable-http", "Receiving Messages"),
)
def stream_says_no_buffering(seen: Seen) -> Verdict:
    if not seen.over_http:
        raise Missing("there are no headers over stdio", applicable=False)
    streams = [
        one for one in seen.exchanges if "event-stream" in one.reply_headers.get("content-type", "")
    ]
    if not streams:
        raise Missing("no answer was a stream", applicable=False)
    without = [one for one in streams if one.reply_headers.get("x-accel-buffering") != "no"]
    if without:
        return bad(f"{len(without)} of {len(streams)} streams lack it.", without[0])
    return good(f"All {len(streams)} streams do.", streams[0])
