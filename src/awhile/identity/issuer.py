"""An issuer of tokens: what it says of itself and its keys, fetched when needed and kept a while.

Sources: RFC 8414 (OAuth 2.0 Authorization Server Metadata), OpenID Connect Discovery 1.0, RFC 7517
(keys), RFC 8725 (what to be careful of).
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit

import anyio
import httpx2
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from awhile.errors import AwhileError, SettingsError, Unreachable
from awhile.identity.urls import checked_url, is_private, through_proxies

log = logging.getLogger(__name__)

ANSWER_SECONDS = 5.0
"""How long the issuer may take for one document."""

KEPT_SECONDS = 600.0
"""How long its keys are used before they are fetched anew: how soon a withdrawn one is refused."""

ANEW_SECONDS = 10.0
"""How soon, after one fetch, another: also for a token that no key fits, as strangers send them."""

AGAIN_SECONDS = 1.0
"""How soon an issuer that did not answer is asked again."""

LARGEST_TOKEN = 16 * 1024
"""A token longer than this is refused unread, in characters."""

LARGEST_DOCUMENT = 1024 * 1024
"""A document of the issuer's that is larger than this is not read, in bytes."""

_ASKED = {"accept": "application/json", "accept-encoding": "identity"}

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519",
)  # fmt: skip
"""What a token may be signed by: never ``none``, and never a key that the issuer shares (HS256), or
whoever knows its public key could sign (RFC 8725, 2.1)."""

_UNREADABLE = (JoseError, TypeError, ValueError)
"""What comes of a token that somebody made up (a ``crit`` that is a number is a `TypeError`)."""

_SIGNED = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)


class TokenRefused(AwhileError):
    """A token that does not prove what it should. The message never repeats it."""


class Issuer:
    """One issuer. Lives on one event loop.

    Args:
        url: its name, exactly as its tokens have it in ``iss``.
        setting: what the setting is called that the name is from.
        clock: seconds, for how old the keys are.

    Raises:
        SettingsError: the name is no https URL (or http on this machine).
    """

    def __init__(
        self,
        url: str,
        *,
        setting: str = "token_issuer",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        checked_url(setting, url)
        self.url = url
        self._setting = setting
        self._clock = clock
        self._fetching = anyio.Lock()
        self._metadata: Mapping[str, Any] | None = None
        self._keys: KeySet | None = None
        self._metadata_until = self._keys_until = self._tried_at = self._failed_at = float("-inf")

    async def metadata(self) -> Mapping[str, Any]:
        """What it says of itself: its endpoints, and what it supports.

        Raises:
            Unreachable: it does not answer.
            SettingsError: what answers goes by another name.
        """
        async with self._fetching:
            return await self._described()

    async def check(self) -> None:
        """Find out at the start whether it is who it is said to be. One that is away may come.

        Raises:
            SettingsError: what answers goes by another name.
        """
        try:
            await self.metadata()
        except Unreachable as away:
            log.warning("%s", away)

    async def read(self, token: str) -> jwt.Token:
        """The header and claims of a token that this issuer has signed. They are not checked.

        Raises:
            TokenRefused: it has not, or it is no token.
            Unreachable: the keys cannot be had.
            SettingsError: what answers goes by another name.
        """
        if len(token) > LARGEST_TOKEN or token.count(".") != 2:
            raise TokenRefused("It is no signed JWT.")
        keys = await self._current_keys()
        try:
            return _read(token, keys)
        except (InvalidKeyIdError, BadSignatureError):
            # A key made since, or one that was changed under its name.
            newer = await self._current_keys(anew=True)
        except _UNREADABLE as no:
            raise TokenRefused(f"It cannot be read: {no}.") from no
        if newer is keys:
            raise TokenRefused("No key of the issuer's fits its signature.")
        try:
            return _read(token, newer)
        except _UNREADABLE as no:
            raise TokenRefused("No key of the issuer's fits its signature.") from no

    async def _current_keys(self, *, anew: bool = False) -> KeySet:
        if not anew and self._keys is not None and self._clock() < self._keys_until:
            return self._keys  # also while they are fetched: strangers make that happen
        async with self._fetching:
            now = self._clock()
            due_at = self._tried_at + ANEW_SECONDS if anew else self._keys_until
            if self._keys is not None and now < due_at:
                return self._keys
            self._tried_at = now
            if self._keys is not None:  # whoever comes meanwhile need not wait
                self._keys_until = max(self._keys_until, now + ANEW_SECONDS)
            try:
                self._keys = await self._fetched_keys()
            except Unreachable as away:
                if self._keys is None:
                    raise
                log.warning("The keys are not fetched anew, those before hold on: %s", away)
            else:
                self._keys_until = now + KEPT_SECONDS
            return self._keys

    async def _fetched_keys(self) -> KeySet:
        address = str((await self._described()).get("jwks_uri"))
        if not is_private(address):
            raise self._away(f"its keys are at {address!r}, where others could change them")
        found = await self._fetch(address)
        if found is None:
            raise self._away(f"there is nothing at {address!r}, where its keys should be")
        try:
            return KeySet.import_key_set(cast("Any", found))
        except (JoseError, KeyError, TypeError, ValueError) as broken:
            raise self._away(f"its keys cannot be read: {broken!r}") from broken

    async def _described(self) -> Mapping[str, Any]:
        if self._metadata is not None and self._clock() < self._metadata_until:
            return self._metadata
        for address in self._addresses():
            found = await self._fetch(address)
            if found is None:
                continue
            if found.get("issuer") != self.url:
                raise SettingsError(
                    f"{self._setting} is {self.url!r}, but the issuer there calls itself "
                    f"{found.get('issuer')!r}, and so do its tokens. Write it exactly so, with or "
                    "without a slash at the end."
                )
            self._metadata, self._metadata_until = found, self._clock() + KEPT_SECONDS
            return found
        raise self._away("it has neither an openid-configuration nor oauth-authorization-server")

    def _addresses(self) -> list[str]:
        parts = urlsplit(self.url)
        root, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        between = [
            f"{root}/.well-known/oauth-authorization-server{path}",
            f"{root}/.well-known/openid-configuration{path}",
        ]
        return list(dict.fromkeys([f"{root}{path}/.well-known/openid-configuration", *between]))

    async def _fetch(self, address: str) -> dict[str, Any] | None:
        """The document there; None if there is none."""
        if self._clock() < self._failed_at + AGAIN_SECONDS:
            raise self._away("it did not answer just now")
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                async with (
                    httpx2.AsyncClient(
                        timeout=ANSWER_SECONDS, trust_env=through_proxies(address)
                    ) as client,
                    client.stream("GET", address, headers=_ASKED) as answer,
                ):
                    if 400 <= answer.status_code < 500:
                        return None
                    if not answer.is_success:
                        raise httpx2.TransportError(f"HTTP {answer.status_code}")
                    found: Any = json.loads(await _whole(answer))
        except (httpx2.HTTPError, RecursionError, TimeoutError, ValueError) as broken:
            self._failed_at = self._clock()
            why = str(broken) or type(broken).__name__
            raise self._away(f"{address!r}: {why}") from broken
        if not isinstance(found, dict):
            raise self._away(f"{address!r} holds no JSON object")
        return cast("dict[str, Any]", found)

    def _away(self, why: str) -> Unreachable:
        return Unreachable(
            f"The issuer {self.url!r} cannot be asked ({why}). Check {self._setting}, and that it "
            "can be reached from here; then try again."
        )


async def _whole(answer: httpx2.Response) -> bytes:
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        if len(body) > LARGEST_DOCUMENT:
            raise ValueError(f"more than {LARGEST_DOCUMENT} bytes")
    return bytes(body)


def _read(token: str, keys: KeySet) -> jwt.Token:
    return jwt.decode(token, keys, registry=_SIGNED)


__all__ = ["ALGORITHMS", "Issuer", "TokenRefused"]
