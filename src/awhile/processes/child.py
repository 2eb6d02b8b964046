"""The parent's end: start a child, talk to it, and know when it is gone."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import queue
import signal
import socket
import subprocess
import sys
import threading
from collections import deque
from concurrent.futures import Future
from types import TracebackType
from typing import Literal, Self

import anyio
import anyio.to_thread
from anyio.lowlevel import checkpoint

from awhile.processes.errors import ChildEnded, ProcessError
from awhile.processes.frames import Frames, frame
from awhile.processes.shield import shielded
from awhile.processes.target import MAINS, main_name
from awhile.processes.wire import Wire

__all__ = ["Child", "Ending"]

Ending = Literal["already ended", "ended by SIGTERM", "ended by SIGKILL", "exited"]

_READ_BYTES = 256 * 1024
_LAST_WORDS_BYTES = 8 * 1024
_REAP_SECONDS = 0.004
"""How often a dying child is asked for its status. Asking costs a system call; a thread blocked
in waitpid for every child would have to outlive event loops that come and go."""


class Child:
    """A running child process. Made by `Child.start`; ended by leaving the context or `kill`.

    Not for two tasks at once: one sender and one receiver, and whoever ends it.
    """

    def __init__(self, process: subprocess.Popen[bytes], wire: Wire, words: _LastWords) -> None:
        self._process = process
        self._wire = wire
        self._words = words
        self._frames = Frames()
        self._usable = True

    @classmethod
    async def start(cls, target: str, *arguments: object, echo: bool = False) -> Child:
        """Start a child that runs `target` (`module:qualname`) as `function(link, *arguments)`.

        The child exits when the function returns. Its standard input is empty; what it writes to
        stdout and stderr is kept for `ChildEnded.last_words` and, with `echo`, also written to
        this process's stderr. Arguments must be picklable.

        A failure inside the child, an import that fails included, shows as `ChildEnded` at the
        first `receive`.
        """
        # Packed apart: the child has to know the import path before it can unpack them.
        packed = pickle.dumps(arguments, protocol=pickle.HIGHEST_PROTOCOL)
        first = frame((sys.path, _main_of(packed), target, packed))
        # Shielded: between the fork and the return nobody else knows the child.
        with shielded():
            ours, theirs = socket.socketpair()
            try:
                process, words = await anyio.to_thread.run_sync(_spawn, theirs, echo)
            except BaseException:
                ours.close()
                raise
            finally:
                theirs.close()
            child = cls(process, Wire(ours), words)
        try:
            await child._write(first)
        except ChildEnded:
            pass  # receive() will say so, with the reason
        except BaseException:
            await child.kill()
            raise
        return child

    @property
    def pid(self) -> int:
        """The process id; also its process group's."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether the process is still there. Reaps it when it is not."""
        return self._process.poll() is None

    async def send(self, message: object) -> None:
        """Send one picklable message. Raises `ChildEnded`.

        A send that was cancelled half-way leaves the child unusable: only `kill` it.
        """
        if not self._usable:
            raise ProcessError(f"an earlier send to child {self.pid} was cut off; kill it")
        await checkpoint()  # a cancel that has come by now leaves nothing half-way
        await self._write(frame(message))

    async def receive(self) -> object:
        """The next message from the child. Raises `ChildEnded` once nothing more can come.

        Cancelling a receive loses nothing; the message is there for the next one.
        """
        while (message := self._frames.next()) is None:
            try:
                data = await self._wire.receive(_READ_BYTES)
            except (OSError, anyio.ClosedResourceError):
                data = b""
            if not data:
                # The wire is closed, so the child is ending or has closed it on purpose; a child
                # that cannot be talked to is of no use either way.
                await self._reap(1.0)
                await self.kill()
                raise self._ended()
            self._frames.add(data)
        return message[0]

    async def kill(self) -> None:
        """End the child and everything in its process group now; returns once it is reaped."""
        with shielded():
            self._signal(signal.SIGKILL)
            await self._reap(math.inf)
            self._wire.close()

    async def terminate(self, grace_seconds: float) -> Ending:
        """Ask the child to end (SIGTERM), kill it after `grace_seconds`; say what it took.

        Returns once the process has been reaped.
        """
        if not self.running:
            self._wire.close()
            return "already ended"
        with shielded():
            self._signal(signal.SIGTERM)
            if await self._reap(grace_seconds):
                # What the child itself started may still be there.
                self._signal(signal.SIGKILL)
                self._wire.close()
                by_signal = self._process.returncode == -signal.SIGTERM
                return "ended by SIGTERM" if by_signal else "exited"
            await self.kill()
            return "ended by SIGKILL"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.kill()

    async def _write(self, data: bytes) -> None:
        try:
            await self._wire.send(data)
        except (OSError, anyio.ClosedResourceError):
            await self._reap(1.0)
            await self.kill()
            raise self._ended() from None
        except BaseException:
            self._usable = False
            raise

    async def _reap(self, seconds: float) -> bool:
        with anyio.move_on_after(seconds):
            while self._process.poll() is None:  # noqa: ASYNC110 - see _REAP_SECONDS
                await anyio.sleep(_REAP_SECONDS)
        return self._process.poll() is not None

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _ended(self) -> ChildEnded:
        code = self._process.returncode
        words = self._words.text()
        return ChildEnded(code, None, words) if code >= 0 else ChildEnded(None, -code, words)


class _LastWords(threading.Thread):
    """Drains what a child prints, so that it never blocks on it, and keeps the end."""

    def __init__(self, descriptor: int, echo: bool) -> None:
        super().__init__(name="child output", daemon=True)
        self._descriptor = descriptor
        self._echo = echo
        self._kept: deque[int] = deque(maxlen=_LAST_WORDS_BYTES)

    def run(self) -> None:
        with os.fdopen(self._descriptor, "rb", buffering=0) as output:
            while data := output.read(4096):
                self._kept.extend(data)
                if self._echo:
                    with contextlib.suppress(OSError, ValueError):
                        sys.stderr.buffer.write(data)
                        sys.stderr.buffer.flush()

    def text(self) -> str:
        """What was kept; waits a moment for the last of it after the child's end."""
        self.join(0.2)
        return bytes(self._kept).decode(errors="replace").strip()


class _Spawner(threading.Thread):
    """The one thread that forks.

    Linux delivers a child's parent-death signal when the *thread* that forked it ends, so a
    child started from a pool's thread would be killed with that thread. This one lives as long
    as the process.
    """

    def __init__(self) -> None:
        super().__init__(name="child spawner", daemon=True)
        self.asked: queue.SimpleQueue[tuple[list[str], int, int, Future[subprocess.Popen[bytes]]]]
        self.asked = queue.SimpleQueue()

    def run(self) -> None:
        while True:
            command, wire, output, answer = self.asked.get()
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    # A server on stdio owns our stdout; a child must never write there.
                    stdout=output,
                    stderr=output,
                    pass_fds=[wire],
                    # Ctrl-C in the terminal is the parent's to handle, and a group of its own
                    # lets a kill reach what the child has started.
                    start_new_session=True,
                )
            except BaseException as error:  # noqa: BLE001 - handed to whoever asked
                answer.set_exception(error)
            else:
                answer.set_result(process)


def _main_of(packed: bytes) -> str:
    """The main module, where the arguments need it: importing a script costs what it imports."""
    needs_main = any(name.encode() in packed for name in MAINS)
    return main_name() if needs_main else ""


_spawner: _Spawner | None = None
_spawner_lock = threading.Lock()


def _spawn(wire: socket.socket, echo: bool) -> tuple[subprocess.Popen[bytes], _LastWords]:
    global _spawner
    with _spawner_lock:
        if _spawner is None or not _spawner.is_alive():
            _spawner = _Spawner()
            _spawner.start()
        spawner = _spawner
    reading, writing = os.pipe()
    try:
        answer: Future[subprocess.Popen[bytes]] = Future()
        command = [sys.executable, "-m", "awhile.processes.main"]
        command += [str(wire.fileno()), str(os.getpid())]
        spawner.asked.put((command, wire.fileno(), writing, answer))
        process = answer.result()
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    words = _LastWords(reading, echo)
    words.start()
    return process, words
