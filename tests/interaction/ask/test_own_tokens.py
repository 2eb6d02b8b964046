"""Each person's own token, renewed in time and never twice; each person's own desk, and no more of
them than there are people. Source: issue 7, "Several people"; ours."""

from __future__ import annotations

import errno
import math
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest

from awhile.ask.web.desk import Desk
from awhile.ask.web.exchange import Refused
from awhile.ask.web.people.people import OwnToken, People
from awhile.ask.web.people.provider import Person, Provider, SignedOut, Tokens
from awhile.ask.web.people.sessions import AGAIN_SECONDS, REFUSED_SECONDS, Session, Sessions
from awhile.errors import Unreachable
from awhile.identity.issuer import Issuer
from tests.interaction.issuing import Issuing, issuing
from tests.interaction.server.peer import PATIENCE_SECONDS, until
from tests.machine.web.backend import served

pytestmark = pytest.mark.anyio

ADA = Person(issuer="https://login.example.org", subject="ada", name="Ada")
EVE = Person(issuer="https://login.example.org", subject="eve", name="Eve")
NOWHERE = "http://127.0.0.1:9/mcp"
LIFE = 100.0


@dataclass
class Kept:
    """The sessions of a page, at a clock moved by hand, and the provider that renews tokens."""

    issuer: Issuing
    sessions: Sessions
    now: float

    async def signed_in(self, person: Person = ADA, *, refresh: str | None = "r0") -> Session:
        """Somebody who has signed in just now."""
        who = f"{person.subject}-0"
        tokens = Tokens(access=who, refresh=refresh, made_at=self.now, ends_at=self.now + LIFE)
        session = self.sessions.of(await self.sessions.begin(person, tokens))
        assert session is not None
        return session

    def will_renew(self, access: str, refresh: str | None = None) -> None:
        """What the provider answers next."""
        reply: dict[str, Any] = {"access_token": access, "token_type": "Bearer", "expires_in": LIFE}
        self.issuer.replies.append(reply | ({"refresh_token": refresh} if refresh else {}))

    def will_refuse(self, error: str) -> None:
        self.issuer.replies.append({"error": error})

    @property
    def renewals(self) -> list[str]:
        """By which refresh token each renewal was asked for."""
        return [one["refresh_token"] for one in self.issuer.forms if one["at"] == "/token"]


@asynccontextmanager
async def kept(folder: Path) -> AsyncGenerator[Kept]:
    async with issuing() as issuer:
        found: Kept

        def clock() -> float:
            return found.now

        provider = Provider(
            Issuer(issuer.url, clock=clock),
            client_id="page",
            client_secret="s3cret",  # noqa: S106
            page_url="https://ask.example.org",
            resource="https://mcp.example.org/mcp",
            scopes=(),
            clock=clock,
        )
        sessions = Sessions(folder, ("k" * 32,), provider, lasts_seconds=1e9, clock=clock)
        found = Kept(issuer, sessions, time.time())
        await sessions.load()
        yield found


async def test_a_token_is_renewed_before_its_end_and_once_for_all_who_wait(tmp_path: Path) -> None:
    async with kept(tmp_path) as page:
        ada = await page.signed_in()
        assert await ada.access_token() == "ada-0"
        page.now += LIFE * 0.8
        page.will_renew("ada-1", "r1")
        found: list[str] = []

        async def ask() -> None:
            found.append(await ada.access_token())

        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                tasks.start_soon(ask)
        assert found == ["ada-1"] * 8
        assert page.renewals == ["r0"]
        assert page.issuer.forms[0]["resource"] == "https://mcp.example.org/mcp"


async def test_what_a_provider_gives_once_is_kept_although_whoever_asked_has_left(
    tmp_path: Path,
) -> None:
    """A refresh token that was changed for another, and lost, signs its person out."""
    async with kept(tmp_path) as page:
        person = replace(ADA, issuer=page.issuer.url)
        ada = await page.signed_in(person)
        page.now += LIFE * 0.9
        page.will_renew("ada-1", "r1")
        async with anyio.create_task_group() as asking:
            asking.start_soon(ada.access_token)
            await anyio.wait_all_tasks_blocked()
            asking.cancel_scope.cancel()
        assert page.renewals == ["r0"]
        again = Sessions(tmp_path, ("k" * 32,), page.sessions.provider, lasts_seconds=1e9)
        await again.load()
        (session,) = again.of_person(person.key)
        assert (session.tokens.access, session.tokens.refresh) == ("ada-1", "r1")


async def test_a_provider_that_is_away_signs_nobody_out(tmp_path: Path) -> None:
    async with kept(tmp_path) as page:
        ada = await page.signed_in()
        page.issuer.answers = False
        page.now += LIFE * 0.9
        assert await ada.access_token() == "ada-0"  # it holds still
        page.now += LIFE
        for _ in range(3):
            with pytest.raises(Unreachable):
                await ada.access_token()
        page.issuer.answers = True
        page.now += AGAIN_SECONDS
        page.will_refuse("invalid_client")  # the page's own fault, and not Ada's
        with pytest.raises(Unreachable):
            await ada.access_token()
        page.now += AGAIN_SECONDS
        page.will_renew("ada-1")
        assert await ada.access_token() == "ada-1"
        assert not ada.over


async def test_a_session_whose_tokens_are_renewed_no_more_is_over(tmp_path: Path) -> None:
    async with kept(tmp_path) as page:
        ada = await page.signed_in()
        page.now += LIFE
        page.will_refuse("invalid_grant")
        with pytest.raises(SignedOut):
            await ada.access_token()
        assert ada.over
        assert page.sessions.of_person(ADA.key) == []
        again = Sessions(tmp_path, ("k" * 32,), page.sessions.provider, lasts_seconds=1e9)
        await again.load()
        assert again.all() == []


async def test_without_a_refresh_token_the_session_lasts_as_long_as_the_token(
    tmp_path: Path,
) -> None:
    async with kept(tmp_path) as page:
        ada = await page.signed_in(refresh=None)
        page.now += LIFE * 0.9
        assert await ada.access_token() == "ada-0"
        page.now += LIFE
        with pytest.raises(SignedOut):
            await ada.access_token()
        assert page.renewals == []


async def test_a_token_that_the_server_refuses_is_renewed_and_not_again_and_again(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def server(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["authorization"])
        return httpx2.Response(401 if len(seen) != 2 else 200)

    async with kept(tmp_path) as page:
        await page.signed_in()
        auth = OwnToken(page.sessions, ADA.key)
        transport = httpx2.MockTransport(server)
        async with httpx2.AsyncClient(auth=auth, transport=transport) as client:
            page.will_renew("ada-1", "r1")
            assert (await client.get("http://server/")).status_code == 200
            assert seen == ["Bearer ada-0", "Bearer ada-1"]
            for _ in range(3):
                assert (await client.get("http://server/")).status_code == 401
            assert page.renewals == ["r0"]
            page.now += REFUSED_SECONDS
            page.will_renew("ada-2")
            await client.get("http://server/")
            assert page.renewals == ["r0", "r1"]


async def test_each_is_shown_as_themselves_from_whichever_browser_is_signed_in(
    tmp_path: Path,
) -> None:
    seen: list[str] = []

    def server(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers["authorization"])
        return httpx2.Response(200)

    async with kept(tmp_path) as page:
        first = await page.signed_in()
        second = await page.signed_in()
        second.tokens = Tokens(access="ada-b", refresh=None, made_at=page.now, ends_at=math.inf)
        await page.signed_in(EVE)
        transport = httpx2.MockTransport(server)
        for person in (ADA, EVE):
            auth = OwnToken(page.sessions, person.key)
            async with httpx2.AsyncClient(auth=auth, transport=transport) as client:
                await client.get("http://server/")
        assert seen[1] == "Bearer eve-0"
        await page.sessions.end(first if seen[0] == "Bearer ada-0" else second)
        auth = OwnToken(page.sessions, ADA.key)
        async with httpx2.AsyncClient(auth=auth, transport=transport) as client:
            await client.get("http://server/")
            assert {seen[0], seen[2]} == {"Bearer ada-0", "Bearer ada-b"}
            for session in page.sessions.of_person(ADA.key):
                await page.sessions.end(session)
            with pytest.raises(httpx2.ConnectError):
                await client.get("http://server/")
        assert len(seen) == 3  # nothing was sent without a token, nor under Eve's


@asynccontextmanager
async def desks(page: Kept, *, url: str = NOWHERE, **bounds: Any) -> AsyncGenerator[People]:
    people = People(page.sessions, lambda auth: Desk(url, auth), look_seconds=0.02, **bounds)
    async with anyio.create_task_group() as tasks:
        await tasks.start(people.run)
        yield people
        tasks.cancel_scope.cancel()


async def test_one_person_has_one_desk_in_all_browsers_and_nobody_elses(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page) as people:
        first, second = await page.signed_in(), await page.signed_in()
        eve = await page.signed_in(EVE)
        assert await people.seat_of(first) is await people.seat_of(second)
        assert await people.seat_of(eve) is not await people.seat_of(first)
        assert len(people) == 2


async def test_a_desk_is_cleared_once_its_person_has_been_gone_for_a_while(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page, idle_seconds=0.2) as people:
        ada = await page.signed_in()
        seat = await people.seat_of(ada)
        with seat.used(ada), anyio.move_on_after(0.6):
            await seat.gone.wait()
        assert not seat.gone.is_set()  # somebody was there
        with anyio.fail_after(PATIENCE_SECONDS):
            await seat.gone.wait()
        assert len(people) == 0
        assert await people.seat_of(ada) is not seat


async def test_a_desk_is_cleared_when_its_person_has_signed_out_everywhere(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page) as people:
        first, second = await page.signed_in(), await page.signed_in()
        seat = await people.seat_of(first)
        await people.sign_out(first)
        assert await people.seat_of(second) is seat
        await people.sign_out(second)
        with anyio.fail_after(PATIENCE_SECONDS):
            await seat.gone.wait()


async def test_a_full_disk_signs_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with kept(tmp_path) as page, desks(page) as people:
        ada = await page.signed_in()
        monkeypatch.setattr(Path, "write_text", full)
        page.now += LIFE * 0.8
        page.will_renew("ada-1", "r1")
        assert await ada.access_token() == "ada-1"
        assert "No space left on device" in caplog.text
        assert f"{tmp_path} can be written to" in caplog.text
        monkeypatch.setattr(Path, "unlink", full)
        await people.sign_out(ada)
        assert f"Delete {tmp_path}/{ada.digest}.session" in caplog.text
        assert page.sessions.all() == []
        await people.seat_of(await page.signed_in(EVE))


async def test_who_signs_out_has_left_and_what_was_to_stop_then_stops(tmp_path: Path) -> None:
    go = anyio.Event()
    async with (
        kept(tmp_path / "sessions") as page,
        served(f"sqlite:///{tmp_path / 'tasks.sqlite3'}", go) as url,
        desks(page, url=url) as people,
    ):
        first, last = await page.signed_in(), await page.signed_in()
        desk = (await people.seat_of(first)).desk
        left = await desk.follower.start("ask", {"question": "Left?", "request_key": "1"})
        kept_on = await desk.follower.start("ask", {"question": "Kept?", "request_key": "2"})
        await desk.follower.label(left, {"stop_when_left": True})
        await people.sign_out(first)
        run = desk.board.run(left)
        assert run is not None
        assert run.live  # they are here still, in the other browser
        await people.sign_out(last)
        with anyio.fail_after(PATIENCE_SECONDS):
            while (run := desk.board.run(left)) is None or run.cancel_asked_at is None:
                await desk.board.changed()
        other = desk.board.run(kept_on)
        assert other is not None
        assert other.cancel_asked_at is None
        go.set()


async def test_whoever_only_watches_is_seen_to_be_here(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page) as people:
        ada = await page.signed_in()
        with (await people.seat_of(ada)).used(ada):
            page.now += 3600
            await until(lambda: ada.seen_at == page.now, "she is seen")


async def test_whoever_watches_in_one_browser_uses_no_other(tmp_path: Path) -> None:
    """Ours: or the order in which they were used, by which the first one ends, would be lost."""
    async with kept(tmp_path) as page, desks(page) as people:
        watching, left = await page.signed_in(), await page.signed_in()
        with (await people.seat_of(watching)).used(watching):
            page.now += LIFE / 2
            await until(lambda: watching.seen_at == page.now, "she is seen")
            assert left.seen_at < page.now
            assert page.sessions.of_person(ADA.key) == [watching, left]


async def test_there_are_no_more_desks_than_may_be(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page, most=1) as people:
        ada, eve = await page.signed_in(), await page.signed_in(EVE)
        seat = await people.seat_of(ada)
        with seat.used(ada), pytest.raises(Refused, match="Too many people"):
            await people.seat_of(eve)
        await people.seat_of(eve)
        assert seat.gone.is_set()
        assert len(people) == 1


async def test_a_desk_is_not_cleared_while_it_is_being_made(tmp_path: Path) -> None:
    """Ours: whoever waits for it would be given one where nobody answers."""
    async with kept(tmp_path) as page, desks(page, most=1) as people:
        ada, eve = await page.signed_in(), await page.signed_in(EVE)

        async def sit() -> None:
            assert not (await people.seat_of(ada)).scope.cancel_called

        async with anyio.create_task_group() as coming:
            coming.start_soon(sit)
            while not len(people):
                await anyio.lowlevel.checkpoint()
            with pytest.raises(Refused, match="Too many people"):
                await people.seat_of(eve)


async def test_whoever_has_no_place_is_told_so_until_there_is_one(tmp_path: Path) -> None:
    async with kept(tmp_path) as page, desks(page, most=1) as people:
        ada, eve = await page.signed_in(), await page.signed_in(EVE)
        assert people.has_room(eve)
        with (await people.seat_of(ada)).used(ada):
            assert people.has_room(ada)
            assert not people.has_room(eve)
        assert people.has_room(eve)


async def test_tokens_that_arrive_during_a_sign_out_are_forgotten_at_the_provider_too(
    tmp_path: Path,
) -> None:
    """Ours: the refresh token that is asked to be revoked is the last one there was."""
    async with kept(tmp_path) as page, desks(page) as people:
        ada = await page.signed_in()
        page.now += LIFE * 0.9
        page.will_renew("ada-1", "r1")
        page.issuer.slow = anyio.Event()
        async with anyio.create_task_group() as asking:
            asking.start_soon(ada.access_token)
            await until(lambda: page.renewals == ["r0"], "the provider is asked")
            await people.sign_out(ada)
            page.issuer.slow.set()
        await until(lambda: page.issuer.forms[-1]["at"] == "/revoke", "what it gave is revoked")
        assert page.issuer.forms[-1]["token"] == "r1"  # noqa: S105


async def test_whoever_was_here_before_a_restart_still_is(tmp_path: Path) -> None:
    """So that what is to stop when they leave does stop, although they left meanwhile."""
    async with kept(tmp_path) as page:
        await page.signed_in()
        away = await page.signed_in(EVE)
        away.seen_at -= 3600
        await page.sessions.keep(away)
        async with desks(page) as people:
            assert len(people) == 1
