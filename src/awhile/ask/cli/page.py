"""``awhile page``: the page for several people, who sign in; in front of a server that runs."""

from __future__ import annotations

import secrets
import sys
from typing import TYPE_CHECKING, Annotated

import anyio
import typer

from awhile.ask.cli.installed import must_be_complete
from awhile.cli.authentication import must_verify
from awhile.cli.kept import kept_secret, make_folder
from awhile.cli.logs import set_up_logs
from awhile.cli.screen import say, stopped
from awhile.cli.settings import ENTRIES, Effective, Settings, option, read_settings
from awhile.cli.signals import end_on_sigterm
from awhile.errors import SettingsError
from awhile.extras import in_keyring

if TYPE_CHECKING:
    from awhile.ask.web.people.app import PeoplesPage

must_be_complete()

HOUR_SECONDS = 3600

NEEDED = ("server_url", "page_url", "token_issuer", "oidc_client_id")
"""What has no default."""


def page(
    ctx: typer.Context,
    server_url: Annotated[str | None, option("server_url")] = None,
    page_url: Annotated[str | None, option("page_url")] = None,
    token_issuer: Annotated[str | None, option("token_issuer")] = None,
    oidc_client_id: Annotated[str | None, option("oidc_client_id")] = None,
    oidc_scopes: Annotated[str | None, option("oidc_scopes")] = None,
    token_audience: Annotated[str | None, option("token_audience")] = None,
    token_scopes: Annotated[str | None, option("token_scopes")] = None,
    page_host: Annotated[str | None, option("page_host")] = None,
    page_port: Annotated[str | None, option("page_port")] = None,
    session_hours: Annotated[str | None, option("session_hours")] = None,
    data_folder: Annotated[str | None, option("data_folder")] = None,
    log_format: Annotated[str | None, option("log_format")] = None,
) -> None:
    """Serve the page to several people, who sign in at an OpenID Connect provider.

    Each sees their own runs alone: the server (`awhile serve --token-issuer …`) is shown the token
    of whoever asks. A proxy in front of it brings https; docs/page.md has one.
    """
    effective = read_settings(ctx.params)
    set_up_logs(effective.settings.log_format, None)
    end_on_sigterm()
    try:
        anyio.run(_page, effective)
    except KeyboardInterrupt:
        stopped()


async def _page(effective: Effective) -> None:
    setup = setup_of(effective.settings)
    from awhile.ask.web.people.app import serve_peoples_page  # takes a second to load

    settings = effective.settings

    def ready(url: str) -> None:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        if sys.stdout.isatty():
            where = f"http://{settings.page_host}:{settings.page_port}"
            say(f"Served at {where}. Ctrl-C ends.", aside=True)

    await serve_peoples_page(
        setup, host=settings.page_host, port=settings.page_port, on_ready=ready
    )


def setup_of(settings: Settings) -> PeoplesPage:
    """What is served, as the settings say.

    Raises:
        SettingsError: one is missing, or what signs people in is not installed.
    """
    for name in NEEDED:
        if getattr(settings, name) is None:
            entry = ENTRIES[name]
            raise SettingsError(
                f"{name} is not given, so {entry.otherwise}. Give it by {entry.flag} or "
                f"{entry.variable}: {entry.sentence}"
            )
    must_verify()
    from awhile.ask.web.people.app import PeoplesPage
    from awhile.identity.issuer import Issuer

    make_folder(settings.data_folder)
    keys = settings.session_key or kept_secret(
        settings.data_folder, "session-key", lambda: secrets.token_hex(32)
    )
    return PeoplesPage(
        mcp_url=str(settings.server_url),
        page_url=str(settings.page_url),
        issuer=Issuer(str(settings.token_issuer)),
        client_id=str(settings.oidc_client_id),
        client_secret=settings.oidc_client_secret or in_keyring("oidc_client_secret"),
        resource=settings.token_audience or str(settings.server_url),
        scopes=(*settings.oidc_scopes, *settings.token_scopes),
        folder=settings.data_folder / "sessions",
        keys=tuple(keys.split(",")),
        session_seconds=settings.session_hours * HOUR_SECONDS,
    )


__all__ = ["page"]
