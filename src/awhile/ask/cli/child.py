"""The MCP server as a child process of a command: it ends with it, unless it is let go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio

from awhile.cli.ends import FAILED, AlreadySaid
from awhile.cli.entries import as_text
from awhile.cli.screen import say
from awhile.cli.settings import ENTRIES
from awhile.cli.signals import LINGER, LINGERS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from awhile.cli.settings import Effective

NOT_THE_SERVERS = frozenset(
    {"database", "page_port", "open_browser", "server_url", "server_token_from", "ledger"}
)
"""Settings that ``awhile serve`` has no use for, or is not given by flags."""
LONGEST_LINE = 4096
LINGER_SECONDS = 60.0
"""How long a server that was let go stays with nothing to do: somebody may be reading what came of
it. It keeps the database open, which nobody can write to meanwhile if it is a DuckDB file."""
LET_GO_SECONDS = 5.0
LEAVE_SECONDS = 2.0
"""How long Ctrl-C, which has ended the server, may take to be heard here."""
LOOK_SECONDS = 0.05
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
    standard input closes, so also when its parent is killed; but not once it was let go.
    """

    def __init__(self, effective: Effective, *, port: int, or_free: bool = False) -> None:
        """Settings given as flags are handed on; it reads variables and the file itself.

        Args:
            effective: all settings.
            port: where it listens; 0 takes a free one.
            or_free: whether a free one will do where that is taken. Once it has been started it
                stays where it is.
        """
        database = effective.settings.database
        # As a variable: whoever lists processes reads their flags, and a URL may hold a password.
        urls = [each for each in database or () if "://" in each]
        self._variables = {ENTRIES["database"].variable: urls[0]} if urls else {}
        self._flags = [
            f"{entry.flag}={as_text(getattr(effective.settings, name))}"
            for name, entry in ENTRIES.items()
            if name not in NOT_THE_SERVERS and name != "port" and effective.by_flag(name)
        ]
        if not urls:  # of files there may be more than a variable holds
            self._flags += [f"{ENTRIES['database'].flag}={each}" for each in database or ()]
        self._port = port
        self._or_free = or_free
        self._process: subprocess.Popen[bytes] | None = None
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

    async def let_go(self) -> bool:
        """Let it go on without this command until it has nothing to do; whether it will."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        assert process.stdin is not None
        said = b""
        with suppress(BrokenPipeError, anyio.IncompleteRead), anyio.move_on_after(LET_GO_SECONDS):
            process.stdin.write(b"%s %g\n" % (LINGER, LINGER_SECONDS))
            said = await self._line()
        if said != LINGERS:
            return False
        self._close_pipes(process)
        process.returncode = 0  # no longer ours to wait for
        self._process = None
        return True

    async def stop(self) -> None:
        """Stop it in an orderly way; kill it if that takes too long. Returns once it is gone."""
        process = self._process
        if process is None:
            return
        if process.poll() is None:
            process.terminate()
        with anyio.move_on_after(STOP_SECONDS):
            await self._ended()
        if process.poll() is None:
            process.kill()
            await self._ended()
        self._close_pipes(process)

    async def _start(self) -> None:
        command = [sys.executable, "-m", "awhile.cli.main", "serve", "--until-stdin-closes"]
        if self._or_free and not self.url:
            command.append("--or-free-port")
        # Not a process of the event loop, which kills those that still run when it is closed.
        self._process = subprocess.Popen(  # noqa: ASYNC220 - it does not wait for it
            [*command, f"--port={self._port}", *self._flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, **self._variables},
        )
        try:
            self.url = (await self._line()).decode().rstrip()
        except anyio.IncompleteRead:
            exit_code = await self._ended()
            if exit_code == -signal.SIGINT:
                # Ctrl-C met it before it had a session of its own; it leaves this command, too.
                await anyio.sleep(LEAVE_SECONDS)
            raise ServerNotStarted(exit_code) from None
        self._port = urlsplit(self.url).port or self._port

    async def _line(self) -> bytes:
        """The next line that it prints.

        Raises:
            anyio.IncompleteRead: it printed none, and its output has ended.
        """
        assert self._process is not None
        assert self._process.stdout is not None
        said = b""
        while not said.endswith(b"\n"):
            await anyio.wait_readable(self._process.stdout)
            part = os.read(self._process.stdout.fileno(), LONGEST_LINE)
            if not part:
                raise anyio.IncompleteRead
            said += part
        return said

    async def _ended(self) -> int:
        assert self._process is not None
        while (code := self._process.poll()) is None:  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(LOOK_SECONDS)
        return code

    @staticmethod
    def _close_pipes(process: subprocess.Popen[bytes]) -> None:
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            pipe.close()


def ended_words(exit_code: int) -> str:
    """How a process ended, to follow its name."""
    if exit_code < 0:
        return f"was ended by {signal.Signals(-exit_code).name}"
    return f"ended with exit code {exit_code}"


__all__ = ["ServerChild", "ServerNotStarted", "ended_words"]
