"""What a server declares, and whether it is so."""

from __future__ import annotations

from awhile.probe.checks.registry import (
    NOTHING,
    Verdict,
    bad,
    check,
    core,
    declared,
    good,
    old_tasks,
    only_with_tasks,
    tasks,
)
from awhile.probe.dialects import MODERN
from awhile.probe.exchanges import as_object, short
from awhile.probe.grades import Grade
from awhile.probe.measures.evidence import Missing, Seen

SUPPORT = frozenset({"required", "optional", "forbidden"})


@check(
    "discovery-answers",
    "server/discover tells the versions and the capabilities.",
    fault=Grade.DIFFERS,
    advice="Serve server/discover with supportedVersions and capabilities; every server must.",
    needs=NOTHING,
    modern=core("server/discover", "Response"),
)
def discovery_answers(seen: Seen) -> Verdict:
    greeting = seen.survey.greeting
    result = greeting.result
    if result is None:
        return bad(f"It serves 2026-07-28, but server/discover got {greeting.seen}.", greeting)
    versions = result.get("supportedVersions")
    if not isinstance(versions, list) or MODERN not in versions:
        return bad(f"supportedVersions is {short(versions)}.", greeting)
    return good("It answers, and names 2026-07-28.", greeting)


@check(
    "tasks-declared",
    "A server that has tasks declares them.",
    fault=Grade.DIFFERS,
    advice="Declare what is served: capabilities.extensions['io.modelcontextprotocol/tasks'] in "
    "2026-07-28, capabilities.tasks in 2025-11-25; clients look there and nowhere else.",
    needs=NOTHING,
    modern=tasks("Capability Negotiation"),
    legacy=old_tasks("Capabilities"),
)
def tasks_declared(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    greeting = seen.survey.greeting
    if declared(seen):
        return good("It declares them.", greeting)
    asked = seen.survey.asked.get("get unknown")
    return bad("It serves tasks/get, and declares no tasks.", greeting, asked)


@check(
    "one-declaration",
    "2026-07-28 has no capabilities.tasks.",
    fault=Grade.DIFFERS,
    advice="Leave capabilities.tasks out of server/discover: it belongs to 2025-11-25, and a "
    "client that finds both cannot know which shapes come.",
    needs=NOTHING,
    modern=tasks("Capability Negotiation"),
)
def one_declaration(seen: Seen) -> Verdict:
    greeting = seen.survey.greeting
    if "tasks" in seen.survey.capabilities:
        return bad("server/discover has capabilities.tasks.", greeting)
    return good("Tasks are an extension there, and nothing else.", greeting)


@check(
    "task-support-words",
    "A tool's taskSupport is required, optional or forbidden, and declared with the capability.",
    fault=Grade.DIFFERS,
    advice="Give execution.taskSupport one of the three words, and declare "
    "capabilities.tasks.requests.tools.call: without it clients must not ask for tasks.",
    needs=NOTHING,
    legacy=old_tasks("Tool-Level Negotiation"),
)
def task_support_words(seen: Seen) -> Verdict:
    survey = seen.survey
    found = {
        str(tool.get("name")): as_object(tool.get("execution")).get("taskSupport")
        for tool in survey.tools
    }
    given = {name: word for name, word in found.items() if word is not None}
    if not given:
        raise Missing("no tool says anything about tasks", applicable=False)
    wrong = {name: word for name, word in given.items() if str(word) not in SUPPORT}
    if wrong:
        return bad(f"taskSupport is {wrong!r}.", survey.listing, support=found)
    requests = as_object(as_object(survey.capabilities.get("tasks")).get("requests"))
    can = [name for name, word in given.items() if word != "forbidden"]
    if can and "call" not in as_object(requests.get("tools")):
        return bad(
            f"{can!r} can be tasks, and capabilities.tasks.requests.tools.call is missing.",
            survey.greeting,
            survey.listing,
            support=found,
        )
    words = ", ".join(f"{name}: {word}" for name, word in given.items())
    return good(words, survey.listing, support=found)


@check(
    "list-as-declared",
    "tasks/list works if and only if it is declared.",
    fault=Grade.DIFFERS,
    advice="Declare capabilities.tasks.list exactly where tasks/list is served.",
    needs=NOTHING,
    legacy=old_tasks("Capability Negotiation"),
)
def list_as_declared(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    asked = seen.survey.answer("list")
    said = "list" in as_object(seen.survey.capabilities.get("tasks"))
    works = asked.result is not None
    words = "declared" if said else "not declared"
    if said == works:
        return good(f"It is {words}, and {'works' if works else 'is refused'}.", asked)
    return bad(f"It is {words}, and got {asked.seen}.", seen.survey.greeting, asked)


@check(
    "list-for-known-callers",
    "Tasks are listed only where callers can be told apart.",
    fault=Grade.DIFFERS,
    advice="Do not declare capabilities.tasks.list for callers without credentials: each of them "
    "is shown the tasks of all the others.",
    needs=NOTHING,
    legacy=old_tasks("Task Isolation and Access Control"),
)
def list_for_known_callers(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    if seen.authorised or not seen.over_http or seen.on_loopback:
        raise Missing("callers can be told apart here, or there is only one", applicable=False)
    if "list" not in as_object(seen.survey.capabilities.get("tasks")):
        return good("It is not declared for a caller without credentials.", seen.survey.greeting)
    return bad(
        "It is declared for a caller who brought no credentials.",
        seen.survey.greeting,
        seen.survey.asked.get("list"),
    )


@check(
    "removed-methods-gone",
    "tasks/list and tasks/result are unknown methods in 2026-07-28.",
    fault=Grade.DIFFERS,
    advice="Answer the methods of 2025-11-25 with -32601 there; results are in tasks/get.",
    needs=NOTHING,
    modern=core("basic/transports/streamable-http", "Protocol Version Header"),
)
def removed_methods_gone(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    asked = [seen.survey.answer("list"), seen.survey.answer("result")]
    wrong = [one for one in asked if one.code != -32601]
    if wrong:
        return bad(f"{wrong[0].request['method']} got {wrong[0].seen}.", *wrong)
    return good("Both are refused with -32601.", *asked)


@check(
    "unknown-method-refused",
    "A method nobody has is -32601, over HTTP with 404.",
    fault=Grade.DIFFERS,
    advice="Answer unknown methods with -32601 and HTTP 404, by which clients tell eras apart.",
    needs=NOTHING,
    modern=core("basic/transports/streamable-http", "Protocol Version Header"),
)
def unknown_method_refused(seen: Seen) -> Verdict:
    asked = seen.survey.answer("no method")
    if asked.code == -32601 and asked.status in (404, None):
        return good(f"It got {asked.seen}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "unknown-version-refused",
    "A version nobody has is refused with the versions there are (-32022, over HTTP with 400).",
    fault=Grade.DIFFERS,
    advice="Answer with -32022, HTTP 400 and data.supported: it is all a client has to go on with.",
    needs=NOTHING,
    modern=core("basic/versioning", "Protocol Version Negotiation"),
)
def unknown_version_refused(seen: Seen) -> Verdict:
    asked = seen.survey.answer("old version")
    supported = as_object((asked.error or {}).get("data")).get("supported")
    if asked.code == -32022 and asked.status in (400, None) and supported:
        return good(f"It got -32022, and the versions {supported!r}.", asked)
    return bad(f"It got {asked.seen}.", asked)


@check(
    "cancel-as-declared",
    "tasks/cancel works if and only if it is declared.",
    fault=Grade.DIFFERS,
    advice="Declare capabilities.tasks.cancel exactly where tasks/cancel is served.",
    needs=NOTHING,
    legacy=old_tasks("Capability Negotiation"),
)
def cancel_as_declared(seen: Seen) -> Verdict:
    only_with_tasks(seen)
    asked = seen.survey.answer("cancel unknown")
    said = "cancel" in as_object(seen.survey.capabilities.get("tasks"))
    served = asked.code != -32601
    if said == served:
        return good(f"It is {'' if said else 'not '}declared, and so it is.", asked)
    words = "declared, and not served" if said else "served, and not declared"
    return bad(f"It is {words}: it got {asked.seen}.", seen.survey.greeting, asked)
