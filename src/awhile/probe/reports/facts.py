"""What a server is, in each era, in a few labelled words: no judgement, but what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.probe.checks.registry import declared
from awhile.probe.dialects import LEGACY
from awhile.probe.exchanges import as_object, short
from awhile.probe.measures.evidence import Missing, Seen
from awhile.probe.measures.watching import seconds_of

if TYPE_CHECKING:
    from awhile.probe.probing import Report

DURATIONS = ("ttlMs", "ttl", "pollIntervalMs", "pollInterval")


def facts_of(report: Report, era: str) -> dict[str, str]:
    """Label to words, in the order of the reports."""
    seen = report.eras[era]
    found = {
        "server": report.server_name(era) or "does not say its name",
        "declares": _declares(seen),
        "tools": _tools(seen),
        "methods": _methods(seen),
    }
    if seen.tool is not None:
        found["becomes a task by"] = _signal(seen)
        found.update(_of_the_run(seen))
    return found


def _declares(seen: Seen) -> str:
    if not declared(seen):
        return "no tasks"
    if seen.era != LEGACY:
        return "the extension io.modelcontextprotocol/tasks"
    tasks = as_object(seen.survey.capabilities.get("tasks"))
    parts = [name for name in ("list", "cancel") if name in tasks]
    requests = as_object(tasks.get("requests"))
    parts += [f"{one}/{two}" for one, inner in requests.items() for two in as_object(inner)]
    return f"capabilities.tasks: {', '.join(parts) or 'nothing'}"


def _tools(seen: Seen) -> str:
    tools = seen.survey.tools
    if not tools:
        return "none listed"
    names = [str(tool.get("name")) for tool in tools]
    supports = [seen.survey.support(name) for name in names]
    shown = [
        name if support is None else f"{name} ({support})"
        for name, support in zip(names, supports, strict=True)
    ]
    return ", ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


def _methods(seen: Seen) -> str:
    """Those of tasks that are served."""
    asked = {
        "tasks/get": "get unknown",
        "tasks/update": "update unknown",
        "tasks/cancel": "cancel unknown",
        "tasks/result": "result" if seen.era != LEGACY else "result unknown",
        "tasks/list": "list",
        "subscriptions/listen": "listen",
    }
    served: list[str] = []
    for method, name in asked.items():
        exchange = seen.survey.asked.get(name)
        if exchange is not None and exchange.code != -32601 and exchange.frames:
            served.append(method)
    return ", ".join(served) or "none of tasks"


def _signal(seen: Seen) -> str:
    if seen.watched.found is None:
        return f"nothing that was tried: {seen.watched.reason}"
    if seen.era == LEGACY:
        return "params.task"
    return "declaring the extension on the request"


def _of_the_run(seen: Seen) -> dict[str, str]:
    watched = seen.watched.found
    if watched is None:
        return {}
    try:
        views = seen.views
    except Missing:
        return {}
    told: dict[str, str] = {}
    for name in DURATIONS:
        words = [short(view.task[name], 40) for view in views if name in view.task]
        if words:
            told[name] = ", ".join(list(dict.fromkeys(words))[:4])
    found = {"durations": "; ".join(f"{name} {words}" for name, words in told.items()) or "none"}
    end = watched.ended
    if end is not None:
        took = seconds_of(end.at_ms - watched.created.sent_at_ms)
        found["a run"] = f"{end.status} after {took}"
    elif watched.asks is not None:
        found["a run"] = "asks, and waits for the answer"
    if watched.pushed:
        found["pushes"] = f"{len(watched.pushed)} in that run"
    return found


__all__ = ["facts_of"]
