"""What a server says without any tool being called: its era, its declarations, its refusals."""

from __future__ import annotations

from contextlib import suppress

import anyio

from awhile.probe.dialects import LEGACY, MODERN, VENDOR
from awhile.probe.exchanges import Exchange, Json
from awhile.probe.limits import Spent
from awhile.probe.measures.evidence import Survey
from awhile.probe.sessions import Session, unknown_id

MODERN_ERRORS = frozenset({-32020, -32021, -32022})
"""What only a server of 2026-07-28 or later answers with."""

LISTEN_SECONDS = 1.5
"""How long a listen stream may take to be acknowledged."""


def serves_modern(greeting: Exchange, listing: Exchange | None) -> bool:
    """Whether it speaks 2026-07-28. Source: versioning, "Backward Compatibility"."""
    if greeting.result is not None:
        supported = greeting.result.get("supportedVersions")
        return not isinstance(supported, list) or MODERN in supported
    if greeting.code in MODERN_ERRORS:
        return greeting.code != -32022
    return listing is not None and listing.result is not None and "resultType" in listing.result


def serves_legacy(greeting: Exchange) -> bool:
    """Whether it speaks 2025-11-25, and no older revision instead."""
    return greeting.result is not None and greeting.result.get("protocolVersion") == LEGACY


def _hint(greeting: Exchange) -> str:
    """What to try, where it is rather the address or the caller than the server."""
    match greeting.status:
        case 401 | 403:
            return ". Say who asks, with --token or --header"
        case 404 | 405 if not greeting.answer:
            return ". Check the path of the address; often it is /mcp"
        case 301 | 302 | 303 | 307 | 308:
            return ". Give the address it redirects to, if you trust it with your headers"
        case _:
            return ""


async def survey_modern(session: Session) -> Survey | str:
    """Ask everything of 2026-07-28, or say why it is not served."""
    greeting = await session.ask("server/discover", {}, "find out whether 2026-07-28 is served")
    if greeting.status is None and greeting.ending.startswith(("Connect", "the child")):
        return f"the server cannot be reached: {greeting.ending}"
    survey = Survey(greeting)
    if greeting.result is None:
        survey.listing = await session.ask("tools/list", {}, "try 2026-07-28 without discovery")
    if not serves_modern(greeting, survey.listing):
        return f"server/discover got {greeting.seen}{_hint(greeting)}"
    if survey.listing is None or survey.listing.result is None:
        survey.listing = await session.ask("tools/list", {}, "see the tools")
    with suppress(Spent):  # what was not asked is known to be missing
        await _ask_modern(session, survey.asked)
    return survey


async def _ask_modern(session: Session, asked: dict[str, Exchange]) -> None:
    def target(**more: Json) -> Json:
        return {"taskId": unknown_id(), **more}

    answers: Json = {"inputResponses": {}}
    for name, more in (("get", {}), ("update", answers), ("cancel", {})):
        method = f"tasks/{name}"
        asked[f"{name} unknown"] = await session.ask(
            method, target(**more), f"{method} of an id that was never given out"
        )
        asked[f"{name} undeclared"] = await session.ask(
            method, target(**more), f"{method} without declaring the extension", declared=False
        )
    session.log.no_such_task[session.era] = asked["get unknown"].code
    asked["result"] = await session.ask("tasks/result", target(), "a method of 2025-11-25")
    asked["list"] = await session.ask("tasks/list", {}, "a method of 2025-11-25")
    asked["no method"] = await session.ask("awhile/no-such-method", {}, "a method nobody has")
    asked["listen undeclared"] = await _listen(session, declared=False)
    asked["listen"] = await _listen(session, declared=True)
    if session.channel.over_http:
        get = "tasks/get"
        asked["nameless"] = await session.ask(
            get, target(), "tasks/get without Mcp-Name", headers={"mcp-name": None}
        )
        asked["misnamed"] = await session.ask(
            get, target(), "tasks/get with another Mcp-Name", headers={"mcp-name": "another"}
        )
        asked["misrouted"] = await session.ask(
            "tools/list", {}, "another Mcp-Method", headers={"mcp-method": "tasks/get"}
        )
    foreign = {f"{VENDOR}/protocolVersion": "1900-01-01"}
    asked["old version"] = await session.ask(
        "tools/list",
        {"_meta": foreign},
        "a version nobody has",
        headers={"mcp-protocol-version": "1900-01-01"},
    )


async def _listen(session: Session, *, declared: bool) -> Exchange:
    wanted: Json = {"notifications": {"taskIds": [unknown_id()]}}
    how = "" if declared else " without declaring the extension"
    prepared = session.prepare(
        "subscriptions/listen", wanted, f"listen to a task{how}", declared=declared
    )
    with anyio.move_on_after(LISTEN_SECONDS):
        async with session.opened(prepared) as frames:
            async for frame in frames:
                if frame.message is not None:
                    break
    return prepared.exchange


async def survey_legacy(session: Session) -> Survey | str:
    """Ask everything of 2025-11-25, or say why it is not served. The handshake has been made."""
    greeting = next(
        one
        for one in session.log.exchanges[::-1]
        if one.era == LEGACY and one.request.get("method") == "initialize"
    )
    if greeting.status is None and greeting.ending.startswith(("Connect", "the child")):
        return f"the server cannot be reached: {greeting.ending}"
    if not serves_legacy(greeting):
        return f"initialize got {greeting.seen}{_hint(greeting)}"
    survey = Survey(greeting)
    with suppress(Spent):
        survey.listing = await session.ask("tools/list", {}, "see the tools")
        asked = survey.asked
        for name in ("get", "result", "cancel"):
            method = f"tasks/{name}"
            asked[f"{name} unknown"] = await session.ask(
                method, {"taskId": unknown_id()}, f"{method} of an id that was never given out"
            )
        session.log.no_such_task[session.era] = asked["get unknown"].code
        asked["list"] = await session.ask("tasks/list", {}, "list the tasks")
        asked["unknown cursor"] = await session.ask(
            "tasks/list", {"cursor": unknown_id()}, "list from a cursor never given out"
        )
    return survey


__all__ = ["serves_legacy", "serves_modern", "survey_legacy", "survey_modern"]
