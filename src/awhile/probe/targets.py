"""Whom to probe, and with what: a server, and perhaps a tool of it that may be called."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import anyio

from awhile.concealed import secrets_of, shown_command
from awhile.errors import SettingsError
from awhile.probe.dialects import LEGACY, Legacy, Modern
from awhile.probe.http import HttpChannel
from awhile.probe.sessions import Log, Session
from awhile.probe.stdio import StdioChannel

Witness = Callable[[], Awaitable[str]]
"""Something that changes while the work really goes on, looked at from beside the server: the
length of a log, a counter, an engine's own list of queries. Only whether it changes matters."""

CONNECT_SECONDS = 5.0

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
HEADER_VALUE = re.compile(r"[\t -~]*")
"""Source: RFC 9110, "Field Names" and "Field Values"; without the octets beyond ASCII."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server: by URL (Streamable HTTP), or by the command that starts it (stdio).

    Raises:
        SettingsError: neither is given, or both, or what is given cannot be used.
    """

    url: str | None = None
    command: tuple[str, ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sent with every request; their values are in no report."""
    second_headers: Mapping[str, str] | None = None
    """Those of somebody else, to see what they are shown of the first one's tasks."""

    def __post_init__(self) -> None:
        if (self.url is None) == (not self.command):
            raise SettingsError(
                f"url is {self.url!r} and command is {shown_command(self.command)!r}, so it is "
                "not clear which server to probe. Give one of the two."
            )
        if self.url is not None and urlsplit(self.url).scheme not in ("http", "https"):
            raise SettingsError(
                f"{self.url!r} is no http or https address, so there is nothing to probe. Give "
                "the server's MCP endpoint, for example http://127.0.0.1:8000/mcp."
            )
        if self.url is not None and not _has_a_place(self.url):
            raise SettingsError(
                f"{self.name!r} has no host, or a port that is none, so there is nothing to probe. "
                "Write it as http://127.0.0.1:8000/mcp."
            )
        for name, value in (*self.headers.items(), *(self.second_headers or {}).items()):
            if not HEADER_NAME.fullmatch(name) or not HEADER_VALUE.fullmatch(value):
                # The value is not repeated: it may well be a secret.
                raise SettingsError(
                    f"The header {name!r} cannot be sent: its name or its value has letters that "
                    "HTTP has no place for. Write both in printable ASCII."
                )

    @property
    def name(self) -> str:
        """How reports call it; without user, password and query of the URL, and without what in
        a command looks like a secret."""
        if self.url is None:
            return shown_command(self.command)
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def on_loopback(self) -> bool:
        """Whether only programs of this machine reach it."""
        host = urlsplit(self.url or "").hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def hidden(self) -> tuple[str, ...]:
        """Everything that no report may show."""
        parts = urlsplit(self.url or "")
        in_the_url = (parts.password or "", *(value for _, value in parse_qsl(parts.query)))
        of_headers = (*self.headers.values(), *(self.second_headers or {}).values())
        return (*of_headers, *in_the_url, *secrets_of(self.command))

    @asynccontextmanager
    async def session(
        self, era: str, log: Log, *, headers: Mapping[str, str] | None = None
    ) -> AsyncGenerator[Session]:
        """A caller on a connection of its own; in 2025-11-25 greeted already.

        Raises:
            Unreachable: the command cannot be started.
        """
        given = self.headers if headers is None else headers
        dialect = Legacy() if era == LEGACY else Modern()
        if self.url is None:
            async with StdioChannel.started(self.command, log.clock) as child:
                session = Session(child, dialect, log, {})
                if era == LEGACY:
                    await session.handshake()
                yield session
            return
        channel = HttpChannel(
            self.url,
            log.clock,
            connect_seconds=CONNECT_SECONDS,
            through_proxies=not self.on_loopback,
        )
        session = Session(channel, dialect, log, given)
        try:
            if era == LEGACY:
                await session.handshake()
            yield session
        finally:
            with anyio.move_on_after(CONNECT_SECONDS, shield=True):
                if isinstance(dialect, Legacy) and dialect.session is not None:
                    await channel.delete({**dialect.headers("", {}), **given})
                await channel.aclose()


def _has_a_place(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number, or too great a one
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A tool that may be called, several times, with the same arguments, and cancelled."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    witness: Witness | None = None


__all__ = ["Target", "Trial", "Witness"]
