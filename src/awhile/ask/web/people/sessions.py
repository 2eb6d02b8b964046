"""Who is signed in, in which browser: kept on disk, so that a restart signs nobody out.

A browser holds a signed name and nothing else. What it stands for (the person, and the tokens that
the MCP server is shown) is a sealed file here, found by a digest of that name, so that whoever
reads the folder can neither be anybody nor take a token.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from awhile.ask.web.people.provider import Person, Provider, SignedOut, Tokens
from awhile.ask.web.people.sealing import Seal
from awhile.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

log = logging.getLogger(__name__)

NAME_BYTES = 32

REFUSED_SECONDS = 30.0
"""How soon, after the server has refused a token and a newer one was got, another is got."""

AGAIN_SECONDS = 2.0
"""How soon a provider that did not renew a token is asked again."""

SEEN_SECONDS = 60.0
"""How often it is written down that somebody is still here."""


class Session:
    """One browser in which one person is signed in."""

    def __init__(
        self, sessions: Sessions, digest: str, *, person: Person, tokens: Tokens, ends_at: float
    ) -> None:
        self.digest = digest
        self.person = person
        self.tokens = tokens
        self.ends_at = ends_at
        self.seen_at = 0.0
        """When it was last used; Unix seconds, as the end."""
        self.written_seen_at = 0.0
        self.leaving = False
        """Whether it is being ended."""
        self.ended = anyio.Event()
        self._sessions = sessions
        self._renewing = anyio.Lock()
        self._again_at = self._refused_until = float("-inf")

    @property
    def over(self) -> bool:
        """Whether it has ended: signed out, too old, or the provider gives no more tokens."""
        return self.ended.is_set()

    async def access_token(self, *, refused: str | None = None) -> str:
        """What shows the server who asks, renewed in time; never twice at the same time.

        Args:
            refused: a token that the server has just refused.

        Raises:
            SignedOut: there is none any more; the session has ended.
            Unreachable: the provider does not answer, and the token before holds no more.
        """
        if self._is_good(refused):
            return self.tokens.access
        async with self._renewing:
            if self.over:
                raise SignedOut("This sign-in has ended; sign in again.")
            if self._is_good(refused):  # another request has renewed it meanwhile
                return self.tokens.access
            # A provider gives each refresh token's successor once: whoever leaves must not lose it.
            with anyio.CancelScope(shield=True):
                await self._renew(refused)
            return self.tokens.access

    def _is_good(self, refused: str | None) -> bool:
        if self.over:
            return False
        now = self._sessions.clock()
        if self.tokens.access == refused:
            return now < self._refused_until  # it was got just now, and is refused all the same
        return not self.tokens.is_due(now) or (
            now < self._again_at and not self.tokens.is_over(now)
        )

    async def forget(self) -> None:
        """Have the provider forget the tokens of a session that has ended, also those that were on
        their way by then."""
        async with self._renewing:
            await self._sessions.provider.revoke(self.tokens)

    async def _renew(self, refused: str | None) -> None:
        now = self._sessions.clock()
        before = self.tokens
        usable = before.access != refused and not before.is_over(now)
        try:
            if now < self._again_at:
                raise Unreachable("The provider was asked just now.")
            self.tokens = await self._sessions.provider.renewed(before)
        except Unreachable as away:
            if now >= self._again_at:
                log.warning("A token was not renewed: %s", away)
                self._again_at = now + AGAIN_SECONDS
            if not usable:
                raise
        except SignedOut:
            if usable and before.refresh is None:  # it was given none; the token holds to its end
                return
            await self._sessions.end(self)
            raise
        else:
            if refused is not None:
                self._refused_until = now + REFUSED_SECONDS
            await self._sessions.keep(self)


class Sessions:
    """All of them.

    Args:
        folder: where they are kept, made on the way.
        keys: secrets that seal and sign them (`Seal`).
        provider: what gives their tokens.
        lasts_seconds: how long after the sign-in each ends.
        clock: Unix seconds.
    """

    def __init__(
        self,
        folder: Path,
        keys: Sequence[str],
        provider: Provider,
        *,
        lasts_seconds: float,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.provider = provider
        self.clock = clock
        self.lasts_seconds = lasts_seconds
        self._folder = folder
        self._names = Seal("session", keys)
        self._files = Seal("session file", keys)
        self._by_digest: dict[str, Session] = {}
        self._writing = anyio.Lock()

    async def load(self) -> None:
        """Read those of before. What cannot be read, or has ended, is deleted; so is what another
        provider gave: its tokens are none of this one's (MCP 2026-07-28, Authorization)."""
        found = await anyio.to_thread.run_sync(self._read_all)
        for digest, kept in found.items():
            session = self._opened(digest, kept)
            known = session is not None and session.person.issuer == self.provider.issuer
            if session is None or not known or session.ends_at <= self.clock():
                await anyio.to_thread.run_sync(self._file(digest).unlink, True)
            else:
                self._by_digest[digest] = session

    async def begin(self, person: Person, tokens: Tokens) -> str:
        """Sign somebody in; what their browser is to hold."""
        name = secrets.token_urlsafe(NAME_BYTES)
        now = self.clock()
        session = Session(
            self, _digest(name), person=person, tokens=tokens, ends_at=now + self.lasts_seconds
        )
        session.seen_at = now
        self._by_digest[session.digest] = session
        await self.keep(session)
        return self._names.signed(name)

    def of(self, held: str) -> Session | None:
        """The session that a browser holds; None if it has ended, or never was."""
        name = self._names.verified(held)
        session = None if name is None else self._by_digest.get(_digest(name))
        if session is None or session.over or session.ends_at <= self.clock():
            return None
        self.seen(session)
        return session

    def of_person(self, key: tuple[str, str]) -> list[Session]:
        """Those of one person, the last used first."""
        theirs = [one for one in self._by_digest.values() if one.person.key == key]
        return sorted(theirs, key=lambda one: one.seen_at, reverse=True)

    def seen(self, session: Session) -> None:
        """Take that it is used now."""
        session.seen_at = self.clock()

    def all(self) -> list[Session]:
        """Every one that goes on."""
        return list(self._by_digest.values())

    async def end(self, session: Session) -> None:
        """Sign out: from now on the browser holds nothing."""
        session.ended.set()
        self._by_digest.pop(session.digest, None)
        with anyio.CancelScope(shield=True):
            async with self._writing:
                file = self._file(session.digest)
                try:
                    await anyio.to_thread.run_sync(file.unlink, True)
                except OSError as why:
                    log.error(
                        "A session has ended and is still on the disk (%s). Delete %s, or a "
                        "restart of the page takes it for one that goes on.",
                        why,
                        file,
                    )

    async def sweep(self) -> list[Session]:
        """Those that are too old, for whoever ends them; of the others it is written down who is
        still here."""
        now = self.clock()
        old: list[Session] = []
        for session in self.all():
            if session.ends_at <= now:
                if not session.leaving:
                    old.append(session)
            elif session.seen_at > session.written_seen_at + SEEN_SECONDS:
                await self.keep(session)
        return old

    async def keep(self, session: Session) -> None:
        """Write a session down as it is now."""
        async with self._writing:
            if session.over:
                return
            session.written_seen_at = session.seen_at
            sealed = self._files.sealed(
                {
                    "person": asdict(session.person),
                    "tokens": asdict(session.tokens),
                    "ends_at": session.ends_at,
                    "seen_at": session.seen_at,
                }
            )
            with anyio.CancelScope(shield=True):
                try:
                    await anyio.to_thread.run_sync(self._write, session.digest, sealed)
                except OSError as why:  # it goes on, but for a restart
                    log.error(
                        "A session is not kept over a restart of the page (%s). Check that %s "
                        "can be written to.",
                        why,
                        self._folder,
                    )

    def _opened(self, digest: str, sealed: str) -> Session | None:
        kept: dict[str, Any] | None = self._files.opened(sealed)
        if kept is None:
            return None
        try:
            session = Session(
                self,
                digest,
                person=Person(**kept["person"]),
                tokens=Tokens(**kept["tokens"]),
                ends_at=kept["ends_at"],
            )
            session.seen_at = session.written_seen_at = kept["seen_at"]
        except (KeyError, TypeError):  # of another version
            return None
        return session

    def _file(self, digest: str) -> Path:
        return self._folder / f"{digest}.session"

    def _read_all(self) -> dict[str, str]:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return {
            one.stem: one.read_text("ascii", "replace") for one in self._folder.glob("*.session")
        }

    def _write(self, digest: str, sealed: str) -> None:
        draft = self._file(digest).with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_text(sealed, encoding="ascii")
        draft.replace(self._file(digest))


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()


__all__ = ["Session", "Sessions"]
