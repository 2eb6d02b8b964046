"""From the settings to whom a server lets in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.errors import SettingsError
from awhile.extras import command_to_add

if TYPE_CHECKING:
    from awhile.cli.settings import Settings
    from awhile.server.authenticating import Authentication


def authentication_of(settings: Settings) -> Authentication | None:
    """Whose tokens callers have to show, as the settings say; None: they show none.

    Raises:
        SettingsError: the settings do not fit together, or what verifies tokens is not installed.
    """
    if settings.token_issuer is None:
        if settings.public_url is not None:
            raise SettingsError(
                f"public_url is {settings.public_url!r}, but nothing says who may call: anybody "
                "could read and stop every task. Name the issuer of their tokens (--token-issuer)."
            )
        return None
    if settings.public_url is None:
        raise SettingsError(
            "token_issuer is given without public_url, so callers could not know what to ask a "
            "token for. Give the URL by which they call this server, such as "
            "--public-url=https://mcp.example.org/mcp."
        )
    must_verify()
    from awhile.identity.issuer import Issuer  # only with its extra
    from awhile.server.authenticating import Authentication

    return Authentication(
        issuer=Issuer(settings.token_issuer),
        public_url=settings.public_url,
        audience=settings.token_audience,
        scopes=settings.token_scopes,
    )


def must_verify() -> None:
    """Refuse to go on where what verifies tokens is not installed.

    Raises:
        SettingsError: it is not; it says what to install.
    """
    try:
        import authlib
        import joserfc
    except ImportError as missing:
        raise SettingsError(
            f"token_issuer is given, and what verifies tokens is not installed ({missing}). "
            f"Install it: {command_to_add('served')}"
        ) from missing
    del authlib, joserfc


__all__ = ["authentication_of", "must_verify"]
