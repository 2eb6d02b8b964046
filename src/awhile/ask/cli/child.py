"""The MCP server as a child process of a command, ending with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
from anyio.streams.buffered import BufferedByteReceiveStream

from awhile.cli.ends import FAILED, AlreadySaid
from awhile.cli.entries import as_text
from awhile.cli.screen import say
from awhile.cli.settings import ENTRIES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.abc import Process

    from awhile.cli.settings import Effective

NOT_THE_SERVERS = frozenset(
    {"database", "page_port", "open_browser", "server_url", "server_token_from", "ledger"}
)
"""Settings that ``awhile serve`` has no use for, or is not given by flags."""
LONGEST_LINE = 4096
STOP_SECONDS = 8.0
"""How long the server gets to stop what it runs; then it is killed."""
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 10.0
STEADY_SECONDS = 60.0
"""A server that ran this long is restarted as soon as the first time."""


class ServerNotStarted(AlreadySaid):
    """The server ended before it served; it has said why on standard error."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(
            f"The server could not be started: it {ended_words(exit_code)}.",
            exit_code=exit_code if exit_code > 0 else FAILED,
        )


class ServerChild:
    """``awhile serve`` as a child process.

    It is in a session of its own, so that Ctrl-C reaches only its parent, and ends when its
    standard input closes, so also when its parent is killed.
    """

    def __init__(self, effective: Effective, *, port: int) -> None:
        """Settings given as flags are handed on; it reads variables and the file itself."""
        database = effective.settings.database
        # As a variable: whoever lists processes reads their flags, and a URL may hold a password.
        urls = [each for each in database or () if "://" in each]
        self._variables = {ENTRIES["database"].variable: urls[0]} if urls else {}
        self._flags = [
            f"{entry.flag}={as_text(getattr(effective.settings, name))}"
            for name, entry in ENTRIES.items()
            if name not in NOT_THE_SERVERS
            and name != "port"
            and effective.origins[name] == f"the flag {entry.flag}"
        ]
        if not urls:  # of files there may be more than a variable holds
            self._flags += [f"{ENTRIES['database'].flag}={each}" for each in database or ()]
        self._port = port
        self._process: Process | None = None
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Start it; stop it when the block is left.

        Raises:
            ServerNotStarted: it ended before it served.
        """
        try:
            await self._start()
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await self.stop()

    async def keep_running(self) -> None:
        """Start it again whenever it ends, at the same address; never returns."""
        pause = FIRST_PAUSE_SECONDS
        while True:
            since = anyio.current_time()
            exit_code = await self._ended()
            steady = anyio.current_time() - since > STEADY_SECONDS
            pause = FIRST_PAUSE_SECONDS if steady else pause
            say(f"The MCP server {ended_words(exit_code)}; starting it again in {pause:g} s.")
            await anyio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            try:
                await self._start()
            except ServerNotStarted:
                continue

    async def stop(self) -> None:
        """Stop it in an orderly way; kill it if that takes too long. Returns once it is gone."""
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        with anyio.move_on_after(STOP_SECONDS):
            await process.wait()
        if process.returncode is None:
            process.kill()
        await process.aclose()

    async def _start(self) -> None:
        command = [sys.executable, "-m", "awhile.cli.main", "serve", "--until-stdin-closes"]
        self._process = await anyio.open_process(
            [*command, f"--port={self._port}", *self._flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            start_new_session=True,
            env={**os.environ, **self._variables},
        )
        assert self._process.stdout is not None
        said = BufferedByteReceiveStream(self._process.stdout)
        try:
            self.url = (await said.receive_until(b"\n", LONGEST_LINE)).decode()
        except anyio.IncompleteRead:
            raise ServerNotStarted(await self._process.wait()) from None
        self._port = urlsplit(self.url).port or self._port

    async def _ended(self) -> int:
        assert self._process is not None
        return await self._process.wait()


def ended_words(exit_code: int) -> str:
    """How a process ended, to follow its name."""
    if exit_code < 0:
        return f"was ended by {signal.Signals(-exit_code).name}"
    return f"ended with exit code {exit_code}"


__all__ = ["ServerChild", "ServerNotStarted", "ended_words"]
