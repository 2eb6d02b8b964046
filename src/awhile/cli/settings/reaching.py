"""How people reach a server: the page, and the commands of the terminal."""

from __future__ import annotations

from dataclasses import dataclass

from awhile.cli.entries import setting
from awhile.cli.kinds import (
    HEADERS,
    KEYS,
    NAMES,
    OPTIONAL_TEXT,
    OPTIONAL_URL,
    SECRETS,
    TEXT,
    TOKEN_SOURCE,
    YES_OR_NO,
    optional,
    seconds,
    whole,
)
from awhile.cli.settings.asking import Asking


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaching(Asking):
    """The settings of the page and of whatever asks a server."""

    page_port: int = setting(
        whole(0, 65_535),
        8765,
        "The port of the page; 0 takes a free one.",
        otherwise="the page could not be opened",
    )
    page_host: str = setting(
        TEXT,
        "127.0.0.1",
        "The address that `awhile page` listens on, for a proxy in front of it.",
        otherwise="the page could not be opened",
    )
    page_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "Where people open the page of `awhile page`, such as https://ask.example.org: https, or "
        "http on this machine.",
        otherwise="nobody could sign in",
        words="none",
    )
    oidc_client_id: str | None = setting(
        OPTIONAL_TEXT,
        None,
        "As what that page is registered at the --token-issuer, where people sign in.",
        otherwise="nobody could sign in",
        words="none",
    )
    oidc_client_secret: str | None = setting(
        optional(SECRETS),
        None,
        "The secret of that client, where it has one; also from the keyring (awhile, "
        "oidc_client_secret). Never shown.",
        otherwise="nobody could sign in",
        words="none",
    )
    oidc_scopes: tuple[str, ...] = setting(
        NAMES,
        ("profile",),
        "What the page asks for beside openid and --token-scopes: profile for a name; many "
        "providers renew tokens only with offline_access.",
        otherwise="it is not known what to ask for",
    )
    session_hours: float = setting(
        seconds(0.001, metavar="HOURS"),
        12.0,
        "How many hours after signing in on the page one has to do so again.",
        otherwise="nobody could stay signed in",
    )
    session_key: str | None = setting(
        optional(KEYS),
        None,
        "What seals on disk who is signed in, and signs what their browsers hold. Never shown.",
        otherwise="whoever reads the disk could be anybody",
        words="one kept in the data folder",
    )
    open_browser: bool = setting(
        YES_OR_NO,
        True,
        "Whether `awhile app` opens the page in a browser, where there is a display.",
        otherwise="it is not known whether to open the page",
    )
    server_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "The MCP server that ask, tasks, attach, cancel and page talk to.",
        otherwise="there would be nothing to talk to",
        words="one running here, else (not for tasks) a new one",
        also=("--url",),
    )
    server_token: str | None = setting(
        optional(SECRETS),
        None,
        "A bearer token for the server at server_url, as it stands beside this (in variables, or "
        "in the file), and for no other server. Never shown.",
        otherwise="the server would not know who asks",
        words="none",
    )
    server_token_from: str | None = setting(
        TOKEN_SOURCE,
        None,
        "Where the bearer token is read from instead: a file, or env:NAME for a variable. As a "
        "flag it is for the server that the command names.",
        otherwise="the server would not know who asks",
        words="none",
        also=("--token-from",),
    )
    server_headers: tuple[tuple[str, str], ...] | None = setting(
        optional(HEADERS),
        None,
        "Headers for that same server, each as Name: value; in a variable, one on each line. Never "
        "shown.",
        otherwise="the server would not know who asks",
        words="none",
    )


__all__ = ["Reaching"]
