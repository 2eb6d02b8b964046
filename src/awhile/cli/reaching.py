"""Reaching any MCP server that is named: by its URL, or by the command that starts it."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp import StdioServerParameters

from awhile.cli.credentials import NOTHING, Credentials
from awhile.cli.keyboard import at_a_terminal
from awhile.cli.screen import say
from awhile.client import Ledger, connect
from awhile.errors import Unreachable

if TYPE_CHECKING:
    from awhile.cli.settings import Settings
    from awhile.client import RemoteServer

LAST_WORDS_SECONDS = 0.5
"""How long it is listened to what a server that has ended had to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server: by its URL, or by the command that starts it."""

    url: str | None = None
    command: tuple[str, ...] = ()
    credentials: Credentials = NOTHING


@asynccontextmanager
async def opened(
    place: Place, settings: Settings, *, quiet: bool = False
) -> AsyncGenerator[RemoteServer]:
    """The server, to call tools at. Its tasks are noted down where they can be come back to."""
    async with AsyncExitStack() as stack:
        answers = at_a_terminal()
        if place.url is not None:
            ledger = await anyio.to_thread.run_sync(Ledger, settings.ledger)
            stack.callback(ledger.close)
            connecting = connect(
                place.url,
                ledger=ledger,
                answers_forms=answers,
                headers=place.credentials.headers or None,
            )
        else:
            command, *rest = place.command
            # What is typed runs as if it were typed at the prompt: with all of the environment.
            server = StdioServerParameters(command=command, args=rest, env=dict(os.environ))
            stderr = await stack.enter_async_context(_told_by_the_server(quiet))
            connecting = connect(server, ledger=None, answers_forms=answers, stderr=stderr)
        with place.credentials.explained():
            yield await stack.enter_async_context(connecting)


@asynccontextmanager
async def _told_by_the_server(quiet: bool) -> AsyncGenerator[Any]:
    """A file whose lines are said at this terminal, made visible, and never into a live line.

    With ``quiet`` only those of a server that cannot be reached.
    """
    reading, writing = os.pipe()
    kept: list[str] = []
    tell = kept.append if quiet else _tell
    ended = anyio.Event()

    async def listen() -> None:
        rest = b""
        while data := await _read(reading):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                tell(line.decode(errors="replace"))
        if rest:
            tell(rest.decode(errors="replace"))
        ended.set()

    try:
        async with anyio.create_task_group() as beside:
            beside.start_soon(listen)
            with os.fdopen(writing, "w") as file:
                try:
                    yield file
                except Unreachable:
                    file.close()
                    with anyio.move_on_after(LAST_WORDS_SECONDS):
                        await ended.wait()
                    for line in kept:
                        _tell(line)
                    raise
            beside.cancel_scope.cancel()
    finally:
        os.close(reading)


async def _read(descriptor: int) -> bytes:
    await anyio.wait_readable(descriptor)
    return os.read(descriptor, 65_536)


def _tell(line: str) -> None:
    say(line, aside=True)


__all__ = ["Place", "opened"]
