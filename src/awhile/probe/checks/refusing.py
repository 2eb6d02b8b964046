"""What a server says to the wrong uses, and with which HTTP status."""

from __future__ import annotations

from awhile.probe.checks.registry import (
    NOTHING,
    Verdict,
    bad,
    check,
    core,
    good,
    old_tasks,
    only_with_tasks,
    tasks,
)
from awhile.probe.dialects import TASKS
from awhile.probe.exchanges import Exchange, as_object
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import Missing, Seen

INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021


def _unknown(seen: Seen, name: str) -> Verdict:
    only_with_tasks(seen)
    asked = seen.survey.answer(f"{name} unknown")
    if asked.code == -32601:
        raise Missing("it is not served", applicable=False)
    if asked.code == INVALID_PARAMS:
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "unknown-get-refused",
    "A look at a task that never was is refused (-32602).",
    fault=Grade.DIFFERS,
    advice="Answer tasks/get of an unknown id with -32602; clients take that, and nothing else, "
    "for 'no such task any more'.",
    needs=NOTHING,
    modern=tasks("Protocol Errors"),
    legacy=old_tasks("Protocol Errors"),
)
def unknown_get_refused(seen: Seen) -> Verdict:
    return _unknown(seen, "get")


@check(
    "unknown-cancel-refused",
    "A cancel of a task that never was is refused (-32602).",
    fault=Grade.MISLEADS,
    advice="Look the task up before acknowledging; an acknowledged cancel is taken for a stop.",
    needs=NOTHING,
    modern=tasks("Protocol Errors"),
    legacy=old_tasks("Protocol Errors"),
)
def unknown_cancel_refused(seen: Seen) -> Verdict:
    return _unknown(seen, "cancel")


@check(
    "unknown-update-refused",
    "An answer to a task that never was is refused (-32602).",
    fault=Grade.MISLEADS,
    advice="Look the task up before acknowledging; whoever answered believes that they were heard.",
    needs=NOTHING,
    modern=tasks("Protocol Errors"),
)
def unknown_update_refused(seen: Seen) -> Verdict:
    return _unknown(seen, "update")


@check(
    "unknown-result-refused",
    "The result of a task that never was is refused (-32602).",
    fault=Grade.DIFFERS,
    advice="Answer tasks/result of an unknown id with -32602 at once, and do not wait.",
    needs=NOTHING,
    legacy=old_tasks("Protocol Errors"),
)
def unknown_result_refused(seen: Seen) -> Verdict:
    return _unknown(seen, "result")


@check(
    "unknown-cursor-refused",
    "A list from a cursor that was never given out is refused (-32602).",
    fault=Grade.DIFFERS,
    advice="Refuse cursors that are not yours, rather than begin anew or end the list.",
    needs=NOTHING,
    legacy=old_tasks("Protocol Errors"),
)
def unknown_cursor_refused(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    if seen.survey.answer("list").result is None:
        raise Missing("tasks are not listed here", applicable=False)
    asked = seen.survey.answer("unknown cursor")
    if asked.code == INVALID_PARAMS:
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "undeclared-refused",
    "A client that does not declare the extension is refused on tasks/* (-32021).",
    fault=Grade.DIFFERS,
    advice="Check the capabilities of that very request before looking the task up, and answer "
    "-32021 with data.requiredCapabilities.",
    needs=NOTHING,
    modern=tasks("Protocol Errors"),
)
def undeclared_refused(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    asked = [seen.survey.answer(f"{name} undeclared") for name in ("get", "update", "cancel")]
    for one in asked:
        if one.code != MISSING_CAPABILITY:
            return bad(f"{one.request['method']} got {one.seen}.", one)
        if not _names_the_extension(one):
            return bad("data.requiredCapabilities does not name the extension.", one)
    return good("All three got -32021, with what is required.", *asked)


@check(
    "listen-undeclared-refused",
    "A client that does not declare the extension is refused to listen to tasks (-32021).",
    fault=Grade.DIFFERS,
    advice="Refuse notifications.taskIds of a client that does not declare the extension.",
    needs=NOTHING,
    modern=tasks("Task Status Notifications"),
)
def listen_undeclared_refused(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    asked = seen.survey.answer("listen undeclared")
    if asked.code == -32601 or seen.survey.answer("listen").code == -32601:
        raise Missing("subscriptions/listen is not served", applicable=False)
    if asked.code == MISSING_CAPABILITY:
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "missing-capability-is-400",
    "-32021 comes with HTTP 400.",
    fault=Grade.DIFFERS,
    advice="Send -32021 with HTTP 400; what stands between reads the status alone.",
    needs=NOTHING,
    modern=core("basic/index", "_meta"),
)
def missing_capability_is_400(seen: Seen) -> Verdict:
    return _status_of(seen, MISSING_CAPABILITY)


@check(
    "header-mismatch-is-400",
    "-32020 comes with HTTP 400.",
    fault=Grade.DIFFERS,
    advice="Send -32020 with HTTP 400; what stands between reads the status alone.",
    needs=NOTHING,
    modern=core("basic/transports/streamable-http", "Server Validation"),
)
def header_mismatch_is_400(seen: Seen) -> Verdict:
    return _status_of(seen, HEADER_MISMATCH)


def _status_of(seen: Seen, code: int) -> Verdict:
    if not seen.over_http:
        raise Missing("there are no statuses over stdio", applicable=False)
    found = [one for one in seen.exchanges if one.code == code]
    if not found:
        raise Missing(f"no answer had the code {code}", applicable=False)
    wrong = [one for one in found if one.status != 400]
    if wrong:
        return bad(f"It came with HTTP {wrong[0].status}.", *wrong[:3])
    return good(f"All {len(found)} came with HTTP 400.", found[0])


def _header(seen: Seen, name: str) -> Verdict:
    """A wrong header at a living task where there was one, else at an unknown one."""
    only_with_tasks(seen)
    if not seen.over_http:
        raise Missing("there are no headers over stdio", applicable=False)
    kept = seen.kept.found
    living = None if kept is None else kept.wrong.get(name)
    asked = living or seen.survey.answer(name)
    if asked.code == HEADER_MISMATCH:
        return good(f"It got {asked.seen}.", asked)
    if living is None and asked.code == INVALID_PARAMS:
        raise Missing("the id was refused first; name a tool, to try it with a living task")
    return bad(f"It got {asked.seen}.", asked)


@check(
    "mcp-name-required",
    "tasks/* without the Mcp-Name header is refused (-32020).",
    fault=Grade.DIFFERS,
    advice="Require Mcp-Name on tasks/get, tasks/update and tasks/cancel: routers go by it, and a "
    "client that forgets it works until the day there are two replicas.",
    needs=NOTHING,
    modern=tasks("Streamable HTTP: Routing Headers"),
)
def mcp_name_required(seen: Seen) -> Verdict:
    return _header(seen, "nameless")


@check(
    "mcp-name-matched",
    "tasks/* with the Mcp-Name of another task is refused (-32020).",
    fault=Grade.DIFFERS,
    advice="Compare Mcp-Name with params.taskId, and refuse what differs.",
    needs=NOTHING,
    modern=core("basic/transports/streamable-http", "Server Validation"),
)
def mcp_name_matched(seen: Seen) -> Verdict:
    return _header(seen, "misnamed")


@check(
    "mcp-method-matched",
    "A request with the Mcp-Method of another is refused (-32020).",
    fault=Grade.DIFFERS,
    advice="Compare Mcp-Method with the body's method, and refuse what differs.",
    needs=NOTHING,
    modern=core("basic/transports/streamable-http", "Server Validation"),
)
def mcp_method_matched(seen: Seen) -> Verdict:
    if not seen.over_http:
        raise Missing("there are no headers over stdio", applicable=False)
    asked = seen.survey.answer("misrouted")
    if asked.code == HEADER_MISMATCH:
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


def _names_the_extension(asked: Exchange) -> bool:
    required = as_object(as_object((asked.error or {}).get("data")).get("requiredCapabilities"))
    return TASKS in as_object(required.get("extensions"))
