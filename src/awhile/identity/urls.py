"""Addresses that people and tokens are sent to."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from awhile.errors import SettingsError


def checked_url(setting: str, url: str) -> SplitResult:
    """The parts of an address that a secret may be sent to: https, or http on this machine.

    Raises:
        SettingsError: it is none.
    """
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError as wrong:
        raise SettingsError(
            f"{setting} is {url!r}, which is no URL ({wrong}). Write https://host/path."
        ) from None
    if not parts.hostname or parts.username is not None or parts.query or parts.fragment:
        raise SettingsError(
            f"{setting} is {url!r}, which names no host, or has a user, a query or a fragment in "
            "it. Write https://host/path."
        )
    if not is_private(url):
        raise SettingsError(
            f"{setting} is {url!r}: anybody on the way could read or change what is sent there. "
            "Use an https URL (http is taken for this very machine alone)."
        )
    return parts


def is_private(url: str) -> bool:
    """Whether nobody on the way can read or change what is sent there. It may have a query."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return False
    here = parts.scheme == "http" and on_this_machine(parts.hostname or "")
    return parts.scheme == "https" or here


def on_this_machine(host: str) -> bool:
    """Whether a name or address means this very machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def through_proxies(url: str) -> bool:
    """Whether the way there may lead through the proxies that variables name (``HTTP_PROXY``).

    Not to this very machine: a proxy would look for it on its own, and read all that is sent, a
    token included. Many have ``HTTP_PROXY`` and no ``NO_PROXY``.
    """
    try:
        return not on_this_machine(urlsplit(url).hostname or "")
    except ValueError:  # no URL, as whoever connects will say
        return True


def origin_of(parts: SplitResult) -> str:
    """What browsers call the place: scheme, host, and the port unless it is the usual one."""
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}"


__all__ = ["checked_url", "is_private", "on_this_machine", "origin_of", "through_proxies"]
