"""One probe of one server: both eras one after the other, within its bounds, and nothing left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import anyio

from awhile.errors import SettingsError, Unreachable
from awhile.probe.dialects import LEGACY, MODERN
from awhile.probe.exchanges import Clock, Exchange, Secrets
from awhile.probe.limits import ENDING_SECONDS, Budget, Limits, Spent
from awhile.probe.measures.evidence import Evidence, Missing, Seen, Survey
from awhile.probe.measures.keeping import keep
from awhile.probe.measures.plainly import call_plainly
from awhile.probe.measures.stopping import stop
from awhile.probe.measures.survey import survey_legacy, survey_modern
from awhile.probe.measures.watching import watch
from awhile.probe.sessions import Log, Session
from awhile.probe.targets import Target, Trial

if TYPE_CHECKING:
    from awhile.probe.measures.evidence import Watched

T = TypeVar("T")

Say = Callable[[str], None]
"""Called with what the probe is about to do."""

ERAS = (MODERN, LEGACY)


class Gathered:
    """All that was gathered at one server."""

    def __init__(
        self, target: Target, trial: Trial | None, limits: Limits, wanted: Sequence[str]
    ) -> None:
        self.target = target
        self.trial = trial
        self.limits = limits
        self.wanted = wanted
        """The eras to look at."""
        self.log = Log(Clock(), Budget(limits), Secrets(target.hidden))
        self.eras: dict[str, Seen] = {}
        self.unserved: dict[str, str] = {}
        """The eras that are not served, each with what was seen."""
        self.left_running: list[str] = []
        """Ids of the probe's own tasks that could not be seen to end."""
        self.stopped_early: str | None = None
        """Which bound ended the probe."""


async def gather(gathered: Gathered, say: Say, stop: anyio.Event | None = None) -> None:
    """Probe the server, until it is done or ``stop`` is set.

    Every task that was made is ended, also when this is stopped, cancelled, or breaks.

    Raises:
        Unreachable: nothing answers there.
        SettingsError: the server has no such tool, or the tool needs more arguments.
    """
    limits = gathered.limits
    try:
        with anyio.move_on_after(limits.seconds) as bounded:
            async with anyio.create_task_group() as beside:
                if stop is not None:
                    beside.start_soon(_when_stopped, gathered, stop, bounded)
                for era in gathered.wanted:
                    await _one_era(gathered, era, bounded, say)
                beside.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise _first(group) from None
    if bounded.cancelled_caught and gathered.stopped_early is None:
        gathered.stopped_early = f"the bound of {limits.seconds:g} s was reached"
    if not gathered.eras and all("cannot be reached" in why for why in gathered.unserved.values()):
        why = next(iter(gathered.unserved.values()), gathered.stopped_early or "nothing was heard")
        raise Unreachable(
            f"{gathered.target.name} does not answer: {why}. Start it, or correct its "
            "address or command."
        )
    _know_the_tool(gathered)


def _know_the_tool(gathered: Gathered) -> None:
    """Refuse a tool that nobody has: with nothing tried, the sheet would be a clean one."""
    surveys = [seen.survey for seen in gathered.eras.values()]
    trial = gathered.trial
    if trial is None or not surveys:
        return
    if all(survey.lists_all and not survey.tool(trial.tool) for survey in surveys):
        names = ", ".join(str(tool.get("name")) for tool in surveys[0].tools[:MOST_NAMES])
        raise SettingsError(
            f"{trial.tool!r} is not among the tools of {gathered.target.name}, so nothing was "
            f"called. Choose one of: {names or 'it lists none'}."
        )


MOST_NAMES = 20
"""The tools that a message names."""


def _first(error: Exception) -> Exception:
    """The one error inside task groups' groups."""
    if not isinstance(error, ExceptionGroup):
        return error
    return _first(cast("ExceptionGroup[Exception]", error).exceptions[0])


async def _when_stopped(gathered: Gathered, stop: anyio.Event, bounded: anyio.CancelScope) -> None:
    await stop.wait()
    gathered.stopped_early = "it was stopped"
    bounded.cancel()


async def _one_era(gathered: Gathered, era: str, bounded: anyio.CancelScope, say: Say) -> None:
    target, log = gathered.target, gathered.log
    say(f"{era}: what it says without a tool being called")
    async with target.session(era, log) as session:
        survey = await (survey_legacy(session) if era == LEGACY else survey_modern(session))
        if isinstance(survey, str):
            gathered.unserved[era] = survey
            return
        exchanges: list[Exchange] = []
        seen = Seen(
            era=era,
            over_http=session.channel.over_http,
            on_loopback=target.on_loopback,
            authorised=session.authorised,
            survey=survey,
            exchanges=exchanges,
        )
        gathered.eras[era] = seen
        if gathered.trial is not None:
            seen.tool = gathered.trial.tool
            try:
                await _trials(gathered, session, seen, survey, say)
            finally:
                seen.exchanges.extend(one for one in log.exchanges if one.era == era)
                if bounded.cancel_called:
                    _out_of_time(seen, gathered.stopped_early or "the bound of time was reached")
                await _end(gathered, session, say)
        else:
            seen.exchanges.extend(one for one in log.exchanges if one.era == era)


async def _trials(
    gathered: Gathered, session: Session, seen: Seen, survey: Survey, say: Say
) -> None:
    trial, limits, target, log = gathered.trial, gathered.limits, gathered.target, gathered.log
    assert trial is not None
    era = seen.era
    if survey.lists_all and not survey.tool(trial.tool):
        for part in (seen.watched, seen.stopped, seen.plain, seen.kept):
            part.absent(f"{trial.tool!r} is not among the server's tools")
        return
    if left_out := survey.left_out(trial.tool, dict(trial.arguments)):
        raise SettingsError(
            f"{trial.tool!r} needs {', '.join(map(repr, left_out))}, so it was not called. Give it "
            "with the arguments, as JSON: --args '{\"…\": …}'."
        )
    say(f"{era}: follow a run of {trial.tool} to its end")
    watched: Watched | None = await _try(
        seen.watched, lambda: watch(session, trial, survey, limits)
    )
    if watched is not None and watched.ended is None:
        await _cancel_now(session, str(watched.task.get("taskId")))
    if seen.watched.found is None:
        for part in (seen.stopped, seen.kept):
            part.absent(seen.watched.reason, applicable=seen.watched.applicable)
    else:
        say(f"{era}: cancel a run")
        await _try(seen.stopped, lambda: stop(session, trial, watched, limits))
        say(f"{era}: come back to a run, and use it wrongly")
        kept = await _try(seen.kept, lambda: keep(target, era, log, trial, limits))
        if kept is not None and session.channel.over_http:
            await _cancel_now(session, kept.task_id)
    say(f"{era}: call it without taking tasks")
    await _try(seen.plain, lambda: call_plainly(session, trial, limits))


async def _try(part: Evidence[T], measure: Callable[[], Awaitable[T]]) -> T | None:
    """Gather one part, or keep why it is missing."""
    part.absent("it was not come to")
    try:
        part.found = await measure()
    except Missing as why:
        part.absent(str(why), applicable=why.applicable)
    except Spent as why:
        part.absent(str(why))
    except ExceptionGroup as group:
        spent, others = group.split(Spent)
        if others is not None or spent is None:
            raise
        part.absent("the bound on requests was reached")
    return part.found


async def _cancel_now(session: Session, task_id: str) -> None:
    """Ask at once for what is needed no more to stop; that it ends is seen at the end."""
    try:
        await session.ask("tasks/cancel", {"taskId": task_id}, "end a task the probe made")
    except Spent:
        return


def _out_of_time(seen: Seen, reason: str) -> None:
    for part in (seen.watched, seen.stopped, seen.plain, seen.kept):
        if part.found is None and part.applicable:
            part.absent(reason)


async def _end(gathered: Gathered, session: Session, say: Say) -> None:
    with anyio.CancelScope(shield=True, deadline=anyio.current_time() + 2 * ENDING_SECONDS):
        if any(not made.ended for made in gathered.log.made.values()):
            say(f"{session.era}: end what is still running")
        gathered.left_running += await session.end_all()
        gathered.log.budget.ending = False


__all__ = ["ERAS", "Gathered", "Say", "gather"]
