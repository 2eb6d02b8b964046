"""Everything that was seen at one server in one era, for the checks to judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from awhile.probe.exchanges import Exchange, Frame, Json, as_object
from awhile.probe.sessions import capabilities_of
from awhile.probe.views import View

T = TypeVar("T")

MEASURING, SUGGESTED = "measuring", "suggested"
"""The pollers there always are: the one that measures, and the one that keeps to the suggestion."""


class Missing(Exception):
    """Evidence that a check needs was not gathered; says why."""

    def __init__(self, reason: str, *, applicable: bool = True) -> None:
        super().__init__(reason)
        self.applicable = applicable


class Evidence(Generic[T]):
    """One part of the evidence, or the reason why there is none."""

    def __init__(self, reason: str) -> None:
        self.found: T | None = None
        self.reason = reason
        self.applicable = True

    def absent(self, reason: str, *, applicable: bool = True) -> None:
        """Say why there is none."""
        self.reason, self.applicable = reason, applicable

    @property
    def needed(self) -> T:
        """What was found.

        Raises:
            Missing: nothing was.
        """
        if self.found is None:
            raise Missing(self.reason, applicable=self.applicable)
        return self.found


@dataclass(slots=True)
class Survey:
    """What can be asked without calling a tool."""

    greeting: Exchange
    """``server/discover``, or ``initialize``."""
    listing: Exchange | None = None
    """``tools/list``."""
    asked: dict[str, Exchange] = field(default_factory=dict[str, Exchange])

    @property
    def tools(self) -> list[Json]:
        """The tools, as listed on the first page."""
        found: Any = ((self.listing and self.listing.result) or {}).get("tools")
        return (
            [as_object(one) for one in cast("list[Any]", found)] if isinstance(found, list) else []
        )

    @property
    def lists_all(self) -> bool:
        """Whether that page is the whole list."""
        result = self.listing and self.listing.result
        return bool(result) and not result.get("nextCursor")

    @property
    def capabilities(self) -> Json:
        """What the server declares."""
        return capabilities_of(self.greeting)

    def tool(self, name: str) -> Json:
        """A tool by name, `{}` where it is not listed."""
        nothing: Json = {}
        return next((one for one in self.tools if one.get("name") == name), nothing)

    def left_out(self, name: str, arguments: Json) -> list[str]:
        """What a tool needs, as its schema says, and is not among the arguments."""
        required: Any = as_object(self.tool(name).get("inputSchema")).get("required")
        needed = cast("list[Any]", required) if isinstance(required, list) else []
        return [str(one) for one in needed if str(one) not in arguments]

    def support(self, name: str) -> str | None:
        """A tool's ``execution.taskSupport``."""
        found = as_object(self.tool(name).get("execution")).get("taskSupport")
        return found if isinstance(found, str) else None

    def answer(self, name: str) -> Exchange:
        """One of the questions asked.

        Raises:
            Missing: it was not.
        """
        if name not in self.asked:
            raise Missing("it was not asked before a bound was reached")
        return self.asked[name]


@dataclass(slots=True)
class Watched:
    """One run of the tool, followed to its end."""

    created: Exchange
    task: Json
    """The task as the creating answer had it."""
    pollers: dict[str, float] = field(default_factory=dict[str, float])
    """The interval each of them kept, in milliseconds."""
    views: dict[str, list[View]] = field(default_factory=dict[str, list[View]])
    first_look: Exchange | None = None
    """``tasks/get`` as soon as the id was known."""
    lost: Exchange | None = None
    """A look that found no task while it should have been there."""
    listened: Exchange | None = None
    pushed: list[View] = field(default_factory=list[View])
    """The tasks in ``notifications/tasks`` (or ``…/status``)."""
    waited: Exchange | None = None
    """``tasks/result``, asked while the work went on."""
    results: list[Exchange] = field(default_factory=list[Exchange])
    """``tasks/result``, asked after the end."""
    listed: Exchange | None = None
    after: list[View] = field(default_factory=list[View])
    """Looks at the ended task."""
    late_cancel: Exchange | None = None
    """``tasks/cancel`` after the end."""
    update: Exchange | None = None
    """An answer to a question that was never asked, while one was open."""

    @property
    def first(self) -> View:
        """The task as it was created, as a view."""
        at_ms = self.created.answered_at_ms or self.created.sent_at_ms
        return View(at_ms, self.task, self.created.number)

    @property
    def measured(self) -> list[View]:
        """What the measuring poller saw, the creating answer first."""
        return [self.first, *self.views.get(MEASURING, ())]

    @property
    def ended(self) -> View | None:
        """The first view with an ending, None if it was never seen."""
        return next((view for view in self.measured if view.ended), None)

    @property
    def asks(self) -> View | None:
        """The first look that found a question. The creating answer may say that there is one, and
        carries none (tasks: CreateTaskResult)."""
        looks = self.views.get(MEASURING, ())
        return next((view for view in looks if view.status == "input_required"), None)

    @property
    def seen(self) -> list[View]:
        """Every view of every poller, and after the end, in order."""
        found = [view for views in self.views.values() for view in views]
        return sorted([self.first, *found, *self.after], key=lambda view: view.at_ms)


@dataclass(slots=True)
class Stopped:
    """One run of the tool that was cancelled."""

    created: Exchange
    task: Json
    before: list[View]
    cancel: Exchange
    after: list[View] = field(default_factory=list[View])
    """Every look since the cancel."""
    again: Exchange | None = None
    """A second ``tasks/cancel`` after the ending."""
    gone: Exchange | None = None
    """A look that found no task any more."""
    watched_ms: float = 0.0
    """How long it was looked at after the ending."""
    witness: tuple[str, str] | None = None
    """What the witness said once the ending was seen, and at the end."""

    @property
    def asked(self) -> bool:
        """Whether a question was open when it was cancelled."""
        return bool(self.before) and self.before[-1].status == "input_required"

    @property
    def ending(self) -> View | None:
        """The first view with an ending."""
        return next((view for view in self.after if view.ended), None)


@dataclass(slots=True)
class Plain:
    """The tool called by a caller that takes no tasks."""

    call: Exchange
    token: str
    left: Exchange | None = None
    """A call whose stream was dropped."""
    witness: tuple[str, str] | None = None
    """What the witness said right after the drop, and somewhat later."""


@dataclass(slots=True)
class Kept:
    """A living task seen from other connections, by other people, and asked for wrongly."""

    created: Exchange
    task_id: str
    wrong: dict[str, Exchange] = field(default_factory=dict[str, Exchange])
    returned: Exchange | None = None
    """``tasks/get`` on a new connection, after every old one was dropped."""
    others: dict[str, tuple[Exchange, Exchange]] = field(
        default_factory=dict[str, tuple[Exchange, Exchange]]
    )
    """By method: what somebody else was answered, and what they are answered for an unknown id."""
    other: Exchange | None = None
    """``tools/list`` by somebody else: whether they are let in at all."""
    others_list: Exchange | None = None
    owner: Exchange | None = None
    """``tasks/get`` by its owner, after the others' attempts."""


@dataclass(slots=True)
class Seen:
    """All evidence of one era."""

    era: str
    over_http: bool
    on_loopback: bool
    authorised: bool
    survey: Survey
    exchanges: list[Exchange]
    """All of this era."""
    tool: str | None = None
    watched: Evidence[Watched] = field(default_factory=lambda: Evidence[Watched](NO_TOOL))
    stopped: Evidence[Stopped] = field(default_factory=lambda: Evidence[Stopped](NO_TOOL))
    plain: Evidence[Plain] = field(default_factory=lambda: Evidence[Plain](NO_TOOL))
    kept: Evidence[Kept] = field(default_factory=lambda: Evidence[Kept](NO_TOOL))

    @property
    def ids(self) -> list[str]:
        """Every task id the server has given out."""
        parts = (self.watched.found, self.stopped.found, self.kept.found)
        return [
            str(one.task_id if isinstance(one, Kept) else one.task.get("taskId"))
            for one in parts
            if one is not None
        ]

    @property
    def views(self) -> list[View]:
        """Every look at a task.

        Raises:
            Missing: there was none.
        """
        found: list[View] = []
        if self.watched.found:
            found += self.watched.found.seen
        if self.stopped.found:
            found += [*self.stopped.found.before, *self.stopped.found.after]
        if not found:
            raise Missing(self.watched.reason, applicable=self.watched.applicable)
        return found

    def uses_tasks(self) -> bool:
        """Whether anything of tasks was met in this era."""
        return any(part.found for part in (self.watched, self.stopped, self.kept))

    def frames(self) -> list[tuple[Exchange, Frame]]:
        """Everything that came, with the exchange it came in."""
        return [(exchange, frame) for exchange in self.exchanges for frame in exchange.frames]


NO_TOOL = "no tool was called: name one with --tool, and say --safe-to-run"

__all__ = [
    "MEASURING",
    "NO_TOOL",
    "SUGGESTED",
    "Evidence",
    "Kept",
    "Missing",
    "Plain",
    "Seen",
    "Stopped",
    "Survey",
    "Watched",
]
