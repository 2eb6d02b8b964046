"""Who asks: shown to the one server that it is meant for, and to no other.

What is put down in variables or the settings file is for the origin (scheme, host and port) of the
``server_url`` beside it; what comes with the command line, for the server that the command names.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from awhile.cli.kinds import FROM_VARIABLE
from awhile.cli.overseen import shown_url
from awhile.cli.settings.read import CREDENTIALS
from awhile.cli.typed import headers_typed
from awhile.client.http import NOT_ALLOWED
from awhile.errors import ProtocolFailed, RemoteError, SettingsError
from awhile.identity.urls import is_private

if TYPE_CHECKING:
    from collections.abc import Generator

    from awhile.cli.settings import Effective

_PORTS = {"http": 80, "https": 443}

LONGEST_TOKEN = 65_536


class NotAllowed(RemoteError):
    """The server refuses whoever asks; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What one server is shown with every request, and what is kept from it."""

    url: str
    headers: Mapping[str, str]
    kept_back: Mapping[str, str]
    """Settings that are for another server, each with its URL."""

    @contextmanager
    def explained(self) -> Generator[None]:
        """Say what to do where the server refuses whoever asks.

        Raises:
            NotAllowed: it does.
        """
        try:
            yield
        except ProtocolFailed as no:
            data: Any = no.data
            status = cast("dict[str, Any]", data).get(NOT_ALLOWED) if _is_object(data) else None
            if status is None:
                raise
            raise NotAllowed(
                f"The server at {shown_url(self.url)!r} refuses whoever asks (HTTP {status}). "
                f"{self._what_to_do()}"
            ) from no

    def _what_to_do(self) -> str:
        if "authorization" in self.headers:
            return "It may be that the token has expired, or is not enough for this."
        for name, url in self.kept_back.items():
            return (
                f"{name} is for {shown_url(url)!r}, so this one was not shown it. Give the token "
                "of this one: --token-from FILE"
            )
        return "No token was sent. Give one: --token-from FILE"


NOTHING = Credentials("", {}, {})
"""For a server on this machine that nobody has named."""


def credentials_for(effective: Effective, url: str, given: tuple[str, ...] = ()) -> Credentials:
    """What to show the server at this URL.

    Args:
        effective: the settings.
        url: a server that somebody has named.
        given: further headers, ``Name: value``, from the command line.

    Raises:
        SettingsError: who asks would be shown to nobody knows whom, or to everybody on the way.
    """
    settings = effective.settings
    held = [name for name in CREDENTIALS if getattr(settings, name) is not None]
    kept_back: dict[str, str] = {}
    shown: list[str] = []
    for name in held:
        meant = effective.shown_to.get(name, url)
        if meant is None:
            raise SettingsError(
                f"{name} is set (from {effective.origins[name]}), and not which server it is for, "
                f"so it would be shown to whichever is named, here {shown_url(url)!r}. Put "
                "server_url beside it; or unset it, and give --token-from FILE with the command."
            )
        if _origin(meant) == _origin(url):
            shown.append(name)
        else:
            kept_back[name] = meant
    if shown:
        _must_be_private(url, shown[0], effective)
    headers: dict[str, str] = {}
    if "server_headers" in shown:
        headers = {name.lower(): value for name, value in settings.server_headers or ()}
    if token := _token(effective, shown):
        headers["authorization"] = f"Bearer {token}"
    return Credentials(url, {**headers, **headers_typed(given)}, kept_back)


def _token(effective: Effective, shown: list[str]) -> str | None:
    settings = effective.settings
    if "server_token_from" in shown and (comes_by_flag(effective) or "server_token" not in shown):
        return _read(str(settings.server_token_from))
    if settings.server_token is None or "server_token" not in shown:
        return None
    return _bearer(
        settings.server_token, f"server_token (from {effective.origins['server_token']})"
    )


def _read(source: str) -> str:
    """The token of a file or a variable. Its text is in no error: it may well be a secret."""
    if source.startswith(FROM_VARIABLE):
        name = source.removeprefix(FROM_VARIABLE).strip()
        where, text = f"The variable {name!r}", os.environ.get(name, "")
    else:
        where = f"The file {source!r}"
        try:
            with Path(source).open(encoding="utf-8") as file:
                text = file.read(LONGEST_TOKEN)
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise SettingsError(
                f"{where} cannot be read ({why}), so there is no token to show. Correct "
                "--token-from."
            ) from None
    return _bearer(text, where)


def _bearer(text: str, where: str) -> str:
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise SettingsError(
            f"{where} holds no bearer token: one line of letters, digits and signs. Correct it, or "
            "--token-from."
        )
    return token


def _must_be_private(url: str, name: str, effective: Effective) -> None:
    if is_private(url):
        return
    raise SettingsError(
        f"{shown_url(url)!r} is reached without encryption, so everybody on the way could read "
        f"{name} (from {effective.origins[name]}). Use its https address, or a tunnel to this "
        "machine (ssh -L)."
    )


def _origin(url: str) -> tuple[str, str, int | None]:
    """Source: RFC 6454, section 4."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # no address, which is found out when it is reached for
        return "", url, None


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def comes_by_flag(effective: Effective) -> bool:
    """Whether the command line says where a token is."""
    return effective.given("server_token_from") and "server_token_from" not in effective.shown_to


__all__ = ["NOTHING", "Credentials", "NotAllowed", "comes_by_flag", "credentials_for"]
