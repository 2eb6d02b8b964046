"""Signing in at an OpenID Connect provider, and the access tokens that come of it.

By Authlib: the authorization code flow with PKCE, state and nonce. Sources: OpenID Connect Core
1.0, OAuth 2.1, RFC 8707 (``resource``), RFC 9207 (``iss``), RFC 7009 (revocation), RP-Initiated
Logout 1.0, and what MCP 2026-07-28 asks of a client ("Authorization").
"""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import httpx2
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc.errors import JoseError

from awhile.ask.web.people.sealing import signature
from awhile.client.http import way_to
from awhile.errors import AwhileError, Unreachable
from awhile.identity.issuer import Issuer, TokenRefused
from awhile.identity.urls import is_private
from awhile.visible import visible

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

log = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
"""How long the provider may take for one answer."""

LEEWAY_SECONDS = 60
"""How far the provider's clock may be from ours. An ID token is read once, as the provider hands it
over, and counts only with the code and the nonce of this sign-in: leeway gives nobody more time,
and too little locks out everybody of a machine whose clock is badly set. So it is twice that for
access tokens, which are shown again and again (`awhile.identity.access`). Source: ours."""

EARLY_SECONDS = 60.0
"""How long before its end an access token is renewed, or a quarter of its life if that is less."""

KIND = "refresh_token"
"""What is revoked (RFC 7009, 2.1)."""

LONGEST_NAME = 80


class SignInFailed(AwhileError):
    """Nobody was signed in. The message is for the person, and holds nothing of theirs.

    Attributes:
        code: what the provider calls the reason (RFC 6749, 5.2), where it gave one.
    """

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class SignedOut(AwhileError):
    """The provider gives no more tokens: whoever it was has to sign in again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who somebody is: the same person at the same provider, in whatever browser."""

    issuer: str
    subject: str
    name: str
    """What to call them; for people alone."""

    @property
    def key(self) -> tuple[str, str]:
        """What tells them from all others."""
        return self.issuer, self.subject

    @property
    def digest(self) -> str:
        """The same for a browser, which need not know it."""
        return hashlib.sha256("\n".join(self.key).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens:
    """What shows the MCP server who asks. Never sent to a browser, never logged."""

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    made_at: float
    """Unix seconds, as the next."""
    ends_at: float | None
    """None: the provider does not say."""

    def is_due(self, now: float) -> bool:
        """Whether it is time to renew it."""
        if self.ends_at is None:
            return False
        return now >= self.ends_at - min(EARLY_SECONDS, (self.ends_at - self.made_at) / 4)

    def is_over(self, now: float) -> bool:
        """Whether the server takes it no more."""
        return self.ends_at is not None and now >= self.ends_at


@dataclass(frozen=True, slots=True)
class Begun:
    """A sign-in that was begun: what proves, at its end, that it is the same one.

    All of it comes from one secret, which the browser that began it keeps, sealed.
    """

    secret: str = field(repr=False)

    @property
    def state(self) -> str:
        """That the answer is to what this browser asked (RFC 6749, 10.12)."""
        return signature(self.secret.encode(), "state")

    @property
    def nonce(self) -> str:
        """That the ID token was made for it (OpenID Connect Core, 3.1.2.1)."""
        return signature(self.secret.encode(), "nonce")

    @property
    def verifier(self) -> str:
        """That whoever brings the code asked for it (RFC 7636)."""
        return signature(self.secret.encode(), "verifier")


class Provider:
    """The provider, as one client of it.

    Args:
        issuer: who it is.
        client_id: as what the page is registered there.
        client_secret: None for a client without one; PKCE protects it.
        page_url: the page's own origin; ``/signed-in`` below it has to be registered there.
        resource: the MCP server that access tokens are for.
        scopes: what is asked for.
        clock: Unix seconds.
    """

    def __init__(
        self,
        issuer: Issuer,
        *,
        client_id: str,
        client_secret: str | None,
        page_url: str,
        resource: str,
        scopes: Sequence[str],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._client_secret = client_secret
        self._page_url = page_url
        # An audience that is no URI has no resource indicator (RFC 8707, 2).
        self._resource = {"resource": resource} if urlsplit(resource).scheme else {}
        self._clock = clock
        self._scope = " ".join(dict.fromkeys(["openid", *scopes]))

    @property
    def issuer(self) -> str:
        """Its name."""
        return self._issuer.url

    async def begin(self) -> tuple[str, Begun]:
        """Where to send the browser, and what to remember.

        Raises:
            Unreachable: the provider does not answer.
            SettingsError: what answers goes by another name.
            SignInFailed: it cannot be signed in at safely.
        """
        metadata = await self._issuer.metadata()
        if "S256" not in metadata.get("code_challenge_methods_supported", ()):
            # MCP 2026-07-28, Authorization Code Protection: then a client has to refuse.
            log.error(
                "The provider does not say that it takes PKCE, so nobody can sign in. Turn it on "
                "there: its metadata has to name S256 in code_challenge_methods_supported."
            )
            raise SignInFailed(
                "The sign-in service lacks a protection that is needed (PKCE). Tell whoever runs "
                "this page."
            )
        begun = Begun(secrets.token_urlsafe(32))
        endpoint = _endpoint(metadata, "authorization")
        async with self._client(metadata, endpoint) as client:
            url, _ = client.create_authorization_url(
                endpoint,
                state=begun.state,
                nonce=begun.nonce,
                code_verifier=begun.verifier,
                **self._resource,
            )
        return url, begun

    async def finish(self, begun: Begun, answer: Mapping[str, str]) -> tuple[Person, Tokens]:
        """Who has signed in, by the query that the provider sent the browser back with.

        Raises:
            Unreachable: the provider does not answer.
            SignInFailed: it did not sign anybody in, or cannot be believed.
        """
        metadata = await self._issuer.metadata()
        self._check_sender(metadata, answer)
        if "error" in answer or "code" not in answer:
            log.info("A sign-in ended with %r.", answer.get("error"))
            raise SignInFailed("The sign-in was not completed.")
        endpoint = _endpoint(metadata, "token")
        async with self._client(metadata, endpoint) as client, _told():
            found = await client.fetch_token(
                endpoint,
                grant_type="authorization_code",
                code=answer["code"],
                code_verifier=begun.verifier,
                **self._resource,
            )
        tokens = self._tokens_in(found)
        return await self._person_in(found, begun.nonce), tokens

    async def renewed(self, tokens: Tokens) -> Tokens:
        """Newer tokens for the same person.

        Raises:
            Unreachable: the provider does not answer; the tokens before may still hold.
            SignedOut: it gives no more.
        """
        if tokens.refresh is None:
            raise SignedOut("There is nothing to renew the token by.")
        metadata = await self._issuer.metadata()
        endpoint = _endpoint(metadata, "token")
        try:
            async with self._client(metadata, endpoint) as client, _told():
                found = await client.refresh_token(
                    endpoint, refresh_token=tokens.refresh, **self._resource
                )
        except SignInFailed as no:
            if no.code == "invalid_grant":
                raise SignedOut("The provider gives no more tokens.") from no
            # Of this client, or of this moment: nobody is signed out for that.
            raise Unreachable(f"The provider renews no token now ({no.code}).") from no
        return self._tokens_in(found, before=tokens)

    async def revoke(self, tokens: Tokens) -> None:
        """Have the provider forget tokens, where it does that; it is not insisted on."""
        if tokens.refresh is None:
            return
        try:
            metadata = await self._issuer.metadata()
            if metadata.get("revocation_endpoint") is not None:
                endpoint = _endpoint(metadata, "revocation")
                async with self._client(metadata, endpoint) as client, _told():
                    await client.revoke_token(endpoint, token=tokens.refresh, token_type_hint=KIND)
        except (AwhileError, OSError) as why:
            log.warning("A refresh token was not revoked: %s", why)

    async def sign_out_url(self) -> str | None:
        """Where a browser is signed out of the provider itself; None if that is not offered.

        Without an ``id_token_hint``, which would put a token into an address: the provider asks
        the person instead.
        """
        try:
            endpoint = (await self._issuer.metadata()).get("end_session_endpoint")
        except AwhileError:
            return None
        if not endpoint:
            return None
        back = {
            "client_id": self._client_id,
            "post_logout_redirect_uri": f"{self._page_url}/signed-out",
        }
        return str(httpx2.URL(str(endpoint)).copy_merge_params(back))

    def _client(self, metadata: Mapping[str, Any], endpoint: str) -> AsyncOAuth2Client:
        supported = metadata.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        method = "none"
        if self._client_secret is not None:
            basic = "client_secret_basic" in supported
            method = "client_secret_basic" if basic else "client_secret_post"
        return AsyncOAuth2Client(
            self._client_id,
            self._client_secret,
            token_endpoint_auth_method=method,
            revocation_endpoint_auth_method=method,
            scope=self._scope,
            redirect_uri=f"{self._page_url}/signed-in",
            code_challenge_method="S256",
            timeout=ANSWER_SECONDS,
            **way_to(endpoint),
        )

    def _check_sender(self, metadata: Mapping[str, Any], answer: Mapping[str, str]) -> None:
        """Whether it is the provider that we asked which answers (RFC 9207, 2.4)."""
        sender = answer.get("iss")
        if sender is None:
            wrong = metadata.get("authorization_response_iss_parameter_supported") is True
        else:
            wrong = sender != self._issuer.url
        if wrong:
            log.warning("An answer to a sign-in came from the issuer %r.", sender)
            raise SignInFailed("The answer did not come from the sign-in service that was asked.")

    async def _person_in(self, found: Mapping[str, Any], nonce: str) -> Person:
        try:
            read = await self._issuer.read(str(found.get("id_token", "")))
            claims = CodeIDToken(
                read.claims,
                read.header,
                {
                    "iss": {"essential": True, "value": self._issuer.url},
                    "aud": {"essential": True, "value": self._client_id},
                    "sub": {"essential": True},
                },
                {
                    "nonce": nonce,
                    "client_id": self._client_id,
                    "access_token": found["access_token"],
                },
            )
            claims.validate(leeway=LEEWAY_SECONDS)
        except (TokenRefused, JoseError) as no:
            log.error("The provider's word on who has signed in does not hold: %s", no)
            raise SignInFailed("The sign-in service's answer cannot be believed.") from no
        said = (read.claims.get(one) for one in ("name", "preferred_username", "email", "sub"))
        name = next(str(one) for one in said if one)
        return Person(
            issuer=self._issuer.url,
            subject=str(read.claims["sub"]),
            name=visible(name)[:LONGEST_NAME],
        )

    def _tokens_in(self, found: Mapping[str, Any], before: Tokens | None = None) -> Tokens:
        now = self._clock()
        kept = None if before is None else before.refresh
        try:
            lasts = found.get("expires_in")
            return Tokens(
                access=str(found["access_token"]),
                refresh=cast("str | None", found.get("refresh_token")) or kept,
                made_at=now,
                ends_at=None if lasts is None else now + float(lasts),
            )
        except (KeyError, TypeError, ValueError) as broken:
            raise Unreachable(f"The provider's answer has no token in it: {broken!r}.") from broken


def _endpoint(metadata: Mapping[str, Any], name: str) -> str:
    address = metadata.get(f"{name}_endpoint")
    if not isinstance(address, str):
        raise Unreachable(
            f"The provider does not name its {name} endpoint. Check that token_issuer is an OpenID "
            "Connect provider."
        )
    if not is_private(address):
        raise Unreachable(
            f"The provider's {name} endpoint is {address!r}: anybody on the way could read what is "
            "sent there. It has to be an https URL (behind a proxy, tell the provider so)."
        )
    return address


@asynccontextmanager
async def _told() -> AsyncGenerator[None]:
    """A request to the provider: what goes wrong with it, in our words and without a secret."""
    try:
        yield
    except AuthlibBaseError as no:  # its answer, which is an error by RFC 6749
        log.warning("The provider refused a request: %r", no.error)
        raise SignInFailed("The sign-in service refused the request.", code=no.error) from None
    except httpx2.HTTPStatusError as no:
        raise Unreachable(f"The provider answers with HTTP {no.response.status_code}.") from None
    except (httpx2.HTTPError, ValueError) as no:
        raise Unreachable(f"The provider gives no answer: {type(no).__name__}.") from None


__all__ = ["Begun", "Person", "Provider", "SignInFailed", "SignedOut", "Tokens"]
