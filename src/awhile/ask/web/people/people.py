"""A desk for each person who is here, and none for anybody else."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

import anyio
import httpx2
from starlette.routing import Router

from awhile.ask.web.desk import Desk
from awhile.ask.web.exchange import Refused
from awhile.ask.web.people.provider import SignedOut
from awhile.ask.web.people.sessions import Session
from awhile.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Generator

    from anyio.abc import TaskGroup, TaskStatus
    from starlette.types import ASGIApp

    from awhile.ask.web.people.sessions import Sessions

log = logging.getLogger(__name__)

T = TypeVar("T")

MOST_PEOPLE = 500
"""How many desks there may be at once; each lists its person's runs once a second."""

IDLE_SECONDS = 120.0
"""How long after the last browser has gone a desk is kept: whoever comes back finds all at once."""

STOP_SECONDS = 3.0
"""How long a sign-out waits for the server to take that runs are to stop."""

LOOK_SECONDS = 1.0
"""How often it is looked who has left, and which sessions have ended."""


MOST_STREAMS = 100
"""How many event streams one person may have open: one in each browser where they are signed in
(`MOST_SESSIONS`), and another while it is made anew."""

MOST_FILES = 10
"""How many files one person may have on their way: a browser opens six connections at most, and
each workbook is made as a whole."""

RETRY_AFTER_SECONDS = 5
"""When whoever is refused because of such a bound may try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasting:
    """A kind of answer that lasts.

    Attributes:
        most: how many of them one person may have at once.
        too_many: what whoever wants another is told.
        whole: whether it is whole wherever it ends.
    """

    most: int
    too_many: str
    whole: bool


STREAM = Lasting(
    most=MOST_STREAMS,
    too_many="You have the page open too often. Close it in other browsers, then try again.",
    whole=True,
)
FILE = Lasting(
    most=MOST_FILES,
    too_many=f"{MOST_FILES} files are on their way to you. Wait for one or leave it, then try "
    "again.",
    whole=False,
)


class NoToken(httpx2.ConnectError):
    """Nothing shows the server who asks, so nothing was sent."""


class OwnToken(httpx2.Auth):
    """Shows the MCP server the token of one person, from whichever of their sessions has one."""

    def __init__(self, sessions: Sessions, person: tuple[str, str]) -> None:
        self._sessions = sessions
        self._person = person

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """With the token; once more with a newer one, if that is refused."""
        token = await self._token()
        request.headers["authorization"] = f"Bearer {token}"
        answer = yield request
        if answer.status_code == HTTPStatus.UNAUTHORIZED:
            newer = await self._token(refused=token)
            if newer != token:
                request.headers["authorization"] = f"Bearer {newer}"
                yield request

    async def _token(self, *, refused: str | None = None) -> str:
        away: Unreachable | None = None
        for session in self._sessions.of_person(self._person):
            try:
                return await session.access_token(refused=refused)
            except SignedOut:
                continue
            except Unreachable as why:
                away = why
        raise NoToken("signed out" if away is None else str(away))


class Seat:
    """A person's desk, and who is using it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.app: ASGIApp = Router(desk.routes(), redirect_slashes=False)
        self.scope = anyio.CancelScope()
        self.ready = anyio.Event()
        self.gone = anyio.Event()
        self._uses: list[tuple[Session, Lasting | None]] = []
        self._used_at = anyio.current_time()

    @contextmanager
    def used(self, session: Session, lasting: Lasting | None = None) -> Generator[None]:
        """Somebody who is signed in there uses it for as long as the block.

        Raises:
            Refused: they have as many answers of that kind as they may.
        """
        if lasting is not None and self._have(lasting) >= lasting.most:
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "too_many", lasting.too_many)
        use = (session, lasting)
        self._uses.append(use)
        try:
            yield
        finally:
            self._uses.remove(use)
            self._used_at = anyio.current_time()

    def _have(self, lasting: Lasting) -> int:
        return sum(kind == lasting for _, kind in self._uses)

    @property
    def users(self) -> list[Session]:
        """Where somebody waits for an answer of it, or follows it; once for each time."""
        return [session for session, _ in self._uses]

    @property
    def idle_seconds(self) -> float:
        """How long nobody has used it, nor waits for anything to be done when they are gone."""
        waits = any(run.stop_when_left and run.live for run in self.desk.board.runs())
        if self._uses or waits:
            return 0.0
        return anyio.current_time() - self._used_at


class People:
    """Who is here. `run` it for as long as the page is served."""

    def __init__(
        self,
        sessions: Sessions,
        make_desk: Callable[[httpx2.Auth], Desk],
        *,
        most: int = MOST_PEOPLE,
        idle_seconds: float = IDLE_SECONDS,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._sessions = sessions
        self._make_desk = make_desk
        self._most = most
        self._idle_seconds = idle_seconds
        self._look_seconds = look_seconds
        self._seats: dict[tuple[str, str], Seat] = {}
        self._tasks: TaskGroup

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Keep the desks until cancelled. Whoever was here just before a restart still is."""
        await self._sessions.load()
        async with anyio.create_task_group() as self._tasks:
            since = self._sessions.clock() - self._idle_seconds
            for session in self._sessions.all():
                if session.seen_at > since:
                    await self.seat_of(session)
            task_status.started()
            while True:
                await anyio.sleep(self._look_seconds)
                for session in await self._sessions.sweep():
                    self._tasks.start_soon(_alone, self.sign_out, session)
                for person, seat in list(self._seats.items()):
                    for session in seat.users:  # a stream is one long request
                        self._sessions.seen(session)
                    nobodys = not seat.users and not self._sessions.of_person(person)
                    if nobodys or seat.idle_seconds > self._idle_seconds:
                        seat.scope.cancel()

    async def seat_of(self, session: Session) -> Seat:
        """The desk of whoever is signed in there, made where there is none.

        Raises:
            Refused: there are too many people here.
        """
        person = session.person.key
        seat = self._seats.get(person)
        if seat is None or seat.scope.cancel_called:
            if seat is not None:
                await seat.gone.wait()
                return await self.seat_of(session)
            await self._make_room()
            seat = self._seats.get(person)
        if seat is None:
            seat = Seat(self._make_desk(OwnToken(self._sessions, person)))
            self._seats[person] = seat
            self._tasks.start_soon(self._hold, person, seat)
        with seat.used(session):  # or it would be cleared for somebody else before it has been used
            await seat.ready.wait()
        return seat

    async def sign_out(self, session: Session) -> None:
        """End a session, also at the provider; the person's last one is their leaving."""
        session.leaving = True
        seat = self._seats.get(session.person.key)
        if seat is not None and self._sessions.of_person(session.person.key) == [session]:
            with anyio.move_on_after(STOP_SECONDS):
                await seat.desk.follower.stop_what_was_left()
        await self._sessions.end(session)
        self._tasks.start_soon(_alone, Session.forget, session)

    def __len__(self) -> int:
        return len(self._seats)

    def has_room(self, session: Session) -> bool:
        """Whether whoever is signed in there has a desk, or could be given one now."""
        return (
            session.person.key in self._seats
            or self._longest_idle() is not None
            or (len(self._seats) < self._most)
        )

    async def _make_room(self) -> None:
        while len(self._seats) >= self._most:
            longest = self._longest_idle()
            if longest is None:
                raise Refused(
                    503, "full", "Too many people are here at the moment; try again later."
                )
            longest.scope.cancel()
            await longest.gone.wait()

    def _longest_idle(self) -> Seat | None:
        """Whose desk is cleared first for somebody else; None if all are in use."""
        longest = max(self._seats.values(), key=lambda seat: seat.idle_seconds, default=None)
        return None if longest is None or longest.idle_seconds == 0 else longest

    async def _hold(self, person: tuple[str, str], seat: Seat) -> None:
        try:
            with seat.scope:
                async with seat.desk.at_work():
                    seat.ready.set()
                    await anyio.sleep_forever()
        except Exception:
            # One person's connection broke: the others' go on, and theirs is made anew.
            log.exception("A person's connection to the server broke.")
        finally:
            self._seats.pop(person, None)
            seat.ready.set()
            seat.gone.set()


async def _alone(act: Callable[[T], Awaitable[None]], of: T) -> None:
    """Do it; whatever goes wrong with one session leaves all others as they are."""
    try:
        await act(of)
    except Exception:
        log.exception("A session was not ended in order.")


__all__ = [
    "FILE",
    "IDLE_SECONDS",
    "MOST_FILES",
    "MOST_PEOPLE",
    "MOST_STREAMS",
    "RETRY_AFTER_SECONDS",
    "STREAM",
    "Lasting",
    "OwnToken",
    "People",
    "Seat",
]
