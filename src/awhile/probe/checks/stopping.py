"""What a cancel does, and what is seen to move after it."""

from __future__ import annotations

from awhile.probe.checks.registry import (
    A_SECOND_CALLER,
    A_WITNESS,
    AN_ASKING_TOOL,
    TURNED_AWAY,
    Verdict,
    bad,
    check,
    core,
    good,
    old_tasks,
    ours,
    tasks,
)
from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import Exchange, Json, as_object
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import Kept, Missing, Seen, Stopped
from awhile.probe.measures.watching import NO_KEY
from awhile.probe.views import View, ids_in


def _cancelled(seen: Seen) -> Stopped:
    """The run that was cancelled while it was under way.

    Raises:
        Missing: there is none.
    """
    stopped = seen.stopped.needed
    first = stopped.after[0] if stopped.after else None
    refused = stopped.cancel.result is None
    if stopped.before and stopped.before[-1].ended:
        raise Missing("the tool is too quick to be cancelled", applicable=False)
    if refused and first is not None and first.ended and first.status != "cancelled":
        # It had ended between the last look and the cancel, which is rightly refused then.
        raise Missing("the tool is too quick to be cancelled", applicable=False)
    return stopped


@check(
    "cancel-acknowledged",
    "A cancel is answered as its era asks.",
    fault=Grade.DIFFERS,
    advice="2026-07-28: an empty result. 2025-11-25: the whole task, 'cancelled' already.",
    modern=tasks("Task Cancellation"),
    legacy=old_tasks("Task Cancellation"),
)
def cancel_acknowledged(seen: Seen) -> Verdict:
    stopped = _cancelled(seen)
    cancel = stopped.cancel
    took = round(cancel.took_ms or 0)
    if cancel.result is None:
        return bad(f"It got {cancel.seen}.", cancel)
    if seen.era == LEGACY:
        if cancel.result.get("status") != "cancelled":
            return bad(f"Its status is {cancel.result.get('status')!r}.", cancel)
        return good(f"'cancelled', after {took} ms.", cancel, took_ms=took)
    extra = set(cancel.result) - {"resultType", "_meta"}
    if extra:
        return bad(f"It has {', '.join(sorted(extra))}.", cancel)
    return good(f"Acknowledged after {took} ms.", cancel, took_ms=took)


def _after(stopped: Stopped, view: View) -> float:
    return (view.at_ms - stopped.cancel.sent_at_ms) / 1000


EARLY, UNTOUCHED = 0.5, 0.7
"""Cancelled before the one part of its natural time, and ended after the other, a run counts as not
shortened (source: ours; times of two runs differ)."""


def _ends(stopped: Stopped, natural_ms: float | None = None) -> Verdict:
    cancel, ending = stopped.cancel, stopped.ending
    if ending is not None:
        whole = ending.at_ms - stopped.created.sent_at_ms
        early = cancel.sent_at_ms - stopped.created.sent_at_ms
        if (
            natural_ms is not None
            and ending.status == "completed"
            and early < natural_ms * EARLY
            and whole >= natural_ms * UNTOUCHED
        ):
            return bad(
                f"It ran to its end, {_after(stopped, ending):.1f} s later, as if nothing had been "
                "asked.",
                cancel,
                ending,
                grade=Grade.DIFFERS,
            )
        seconds = _after(stopped, ending)
        words = f"{ending.status!r}, {seconds:.2f} s after the cancel."
        return good(words, cancel, ending, seconds=round(seconds, 3), status=ending.status)
    if stopped.gone is not None:
        return good("It is not kept any more.", cancel, stopped.gone)
    last = stopped.after[-1] if stopped.after else None
    if last is None:
        raise Missing("it was not looked at after the cancel")
    return bad(f"Still {last.status!r} {_after(stopped, last):.1f} s later.", cancel, last)


@check(
    "cancel-ends-the-task",
    "A cancelled task comes to an end.",
    fault=Grade.LOSES_WORK,
    advice="Carry the cancel to whatever does the work; if it cannot be stopped, say so in the "
    "message, and end the task when it has returned.",
    modern=ours("the extension leaves the decision to the server; nobody wants the work any more"),
    legacy=old_tasks("Task Cancellation"),
)
def cancel_ends_the_task(seen: Seen) -> Verdict:
    stopped = _cancelled(seen)
    if stopped.asked:
        raise Missing("it waited for an answer; see cancel-while-asking", applicable=False)
    watched = seen.watched.found
    end = None if watched is None else watched.ended
    natural = end.at_ms - watched.created.sent_at_ms if watched and end else None
    return _ends(stopped, natural)


@check(
    "cancel-while-asking",
    "A task that waits for an answer can be cancelled.",
    fault=Grade.LOSES_WORK,
    advice="End the task and its question together; nobody is going to answer.",
    needs=AN_ASKING_TOOL,
    modern=ours("the extension leaves the decision to the server; nobody will answer any more"),
    legacy=old_tasks("Task Cancellation"),
)
def cancel_while_asking(seen: Seen) -> Verdict:
    stopped = _cancelled(seen)
    if not stopped.asked:
        raise Missing("this tool does not ask", applicable=False)
    return _ends(stopped)


@check(
    "nothing-moves-after-cancelled",
    "'cancelled' means that the work has stopped.",
    fault=Grade.MISLEADS,
    advice="Say 'cancelled' when the work has stopped, and stop the work: carry the cancel into "
    "the function, the thread, the query.",
    modern=ours("a status is a statement of fact; with a witness, it is checked"),
    legacy=old_tasks("Task Cancellation"),
)
def nothing_moves_after_cancelled(seen: Seen) -> Verdict:
    stopped = _cancelled(seen)
    ending = stopped.ending
    if ending is None:
        raise Missing("it did not end")
    if ending.status != "cancelled":
        raise Missing(f"it ended {ending.status!r} before it was stopped", applicable=False)
    later = [view for view in stopped.after if view.at_ms > ending.at_ms]
    moved = next((view for view in later if view.moment != ending.moment), None)
    if moved is not None:
        words = f"Then it was {moved.status!r} ({moved.message!r})."
        return bad(f"{words}", ending, moved)
    if stopped.witness is not None:
        first, last = stopped.witness
        if first != last:
            return bad(
                f"The word came {_after(stopped, ending):.2f} s after the cancel, and the work "
                f"went on: the witness said {first!r}, then {last!r}.",
                stopped.cancel,
                ending,
                witness=[first, last],
            )
        return good("The witness saw nothing move.", ending, *later[-1:], witness=[first, last])
    seconds = stopped.watched_ms / 1000
    return good(
        f"Nothing was seen to move in {seconds:.1f} s, from outside; a witness would know.",
        ending,
        *later[-1:],
    )


@check(
    "cancel-again",
    "A second cancel changes nothing.",
    fault=Grade.DIFFERS,
    advice="2026-07-28: acknowledge it, or refuse it. 2025-11-25: refuse it with -32602.",
    modern=tasks("Task Cancellation"),
    legacy=old_tasks("Task Cancellation"),
)
def cancel_again(seen: Seen) -> Verdict:
    stopped = _cancelled(seen)
    again, ending = stopped.again, stopped.ending
    if again is None or ending is None:
        raise Missing("it did not end")
    last = stopped.after[-1]
    if last.status != ending.status:
        return bad(f"It was {ending.status!r}, and then {last.status!r}.", ending, again, last)
    if seen.era == LEGACY and again.code != -32602:
        return bad(f"It got {again.seen}.", again)
    if again.result is None and again.code != -32602:
        return bad(f"It got {again.seen}.", again)
    return good(f"It got {again.seen}.", again, last)


@check(
    "question-can-be-answered",
    "A task that is input_required carries its questions.",
    fault=Grade.DIFFERS,
    advice="Put every open question under inputRequests, each with its method and parameters.",
    needs=AN_ASKING_TOOL,
    modern=tasks("Response"),
)
def question_can_be_answered(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    view = watched.asks
    if view is None:
        raise Missing("this tool does not ask", applicable=False)
    questions = as_object(view.task.get("inputRequests"))
    if not questions:
        return bad("It has none.", view)
    odd = [key for key, one in questions.items() if "method" not in as_object(one)]
    if odd:
        return bad(f"{odd!r} has no method.", view)
    return good(f"It has {len(questions)}.", view)


@check(
    "unknown-answer-ignored",
    "An answer to a question that was never asked is acknowledged, and changes nothing.",
    fault=Grade.DIFFERS,
    advice="Ignore answers to keys that are not open, and keep the open ones open.",
    needs=AN_ASKING_TOOL,
    modern=tasks("Task Update Requests"),
)
def unknown_answer_ignored(seen: Seen) -> Verdict:
    watched = seen.watched.needed
    if watched.asks is None:
        raise Missing("this tool does not ask", applicable=False)
    update = watched.update
    if update is None or not watched.after:
        raise Missing("it was not tried")
    last = watched.after[-1]
    if update.result is None:
        return bad(f"It got {update.seen}.", update)
    same = last.task.get("inputRequests") == watched.asks.task.get("inputRequests")
    if last.status != "input_required" or not same:
        return bad(f"The task is {last.status!r} after an answer to {NO_KEY!r}.", update, last)
    return good("It was acknowledged, and the question stayed.", update, last)


@check(
    "outlives-its-connection",
    "A task goes on when the connection that made it is gone.",
    fault=Grade.LOSES_WORK,
    advice="Run the work apart from the request, and keep tasks for the server, not for the "
    "session.",
    modern=ours("that is what a task is for"),
    legacy=ours("that is what a task is for"),
)
def outlives_its_connection(seen: Seen) -> Verdict:
    kept = seen.kept.needed
    returned = kept.returned
    if returned is None:
        raise Missing("over stdio the server ends with its connection", applicable=False)
    if returned.status in TURNED_AWAY:
        raise Missing(f"the look on a new connection was turned away: {returned.seen}")
    status = (returned.result or {}).get("status")
    end = seen.watched.found and seen.watched.found.ended
    if end and status == end.status:
        return good(f"On a new connection it was {status!r}.", kept.created, returned)
    if returned.result is None or status in ("failed", "cancelled"):
        words = status if returned.result is not None else returned.seen
        return bad(f"On a new connection: {words}.", kept.created, returned)
    return good(f"On a new connection it was {status!r}.", kept.created, returned)


@check(
    "left-call-stops",
    "A call that takes no tasks stops when its stream is dropped.",
    fault=Grade.LOSES_WORK,
    advice="Watch for the end of the stream, and cancel what it was for; nobody else can stop it.",
    needs=A_WITNESS,
    modern=core("basic/transports/streamable-http", "Cancellation"),
)
def left_call_stops(seen: Seen) -> Verdict:
    plain = seen.plain.needed
    if plain.call.error is not None:
        raise Missing("this tool does not run without a task", applicable=False)
    if plain.left is None or plain.witness is None:
        raise Missing("it takes a witness, and a tool that answers without a task")
    stopped = seen.stopped.found
    if stopped is not None and stopped.witness is not None and len(set(stopped.witness)) > 1:
        raise Missing("cancelled work of this server goes on, and a witness cannot tell them apart")
    first, last = plain.witness
    if first != last:
        return bad(f"It went on: {first!r}, then {last!r}.", plain.left, witness=[first, last])
    return good("The witness saw nothing move.", plain.left, witness=[first, last])


def _shown_to_others(seen: Seen) -> Kept:
    kept = seen.kept.needed
    if not kept.others or kept.other is None:
        raise Missing("no second caller was given (--second-token)")
    if kept.other.result is None:
        raise Missing(f"the second caller is not let in: tools/list got {kept.other.seen}")
    return kept


@check(
    "others-see-nothing",
    "Nobody sees, stops or answers somebody else's task.",
    fault=Grade.LOSES_WORK,
    advice="Bind each task to whoever created it, and compare on every tasks/* request.",
    needs=A_SECOND_CALLER,
    modern=tasks("Security Considerations"),
    legacy=old_tasks("Task Isolation and Access Control"),
)
def others_see_nothing(seen: Seen) -> Verdict:
    kept = _shown_to_others(seen)
    for method, (theirs, _) in kept.others.items():
        if theirs.result is not None:
            return bad(f"{method} by another caller got {theirs.seen}.", theirs, kept.owner)
    found = [] if kept.others_list is None else ids_in(kept.others_list)
    if kept.task_id in found:
        return bad("tasks/list shows it to another caller.", kept.others_list)
    owner = kept.owner
    status = (owner.result or {}).get("status") if owner is not None else None
    return good(
        f"Refused on {', '.join(kept.others)}; its owner sees it as {status!r}.",
        next(iter(kept.others.values()))[0],
        owner,
    )


@check(
    "others-learn-nothing",
    "Somebody else's task reads like one that never was.",
    fault=Grade.DIFFERS,
    advice="Answer both with the same code and the same words; a difference confirms a guess.",
    needs=A_SECOND_CALLER,
    modern=tasks("Security Considerations"),
    legacy=old_tasks("Task Isolation and Access Control"),
)
def others_learn_nothing(seen: Seen) -> Verdict:
    kept = _shown_to_others(seen)
    for method, (theirs, unknown) in kept.others.items():
        if theirs.result is not None:
            raise Missing("they see it; see others-see-nothing", applicable=False)
        if _without_id(theirs) != _without_id(unknown):
            return bad(
                f"{method}: {theirs.seen}, and for an unknown id {unknown.seen}.", theirs, unknown
            )
    theirs, unknown = next(iter(kept.others.values()))
    return good("The answers are the same.", theirs, unknown)


def _without_id(asked: Exchange) -> tuple[int | None, Json]:
    error = dict(asked.error or {})
    named = str(as_object(asked.request.get("params")).get("taskId"))
    text = str(error.get("message", "")).replace(named, "…")
    return asked.status, {"code": error.get("code"), "message": text}
