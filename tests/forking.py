"""Real processes of ours that begin quickly: as forks of one that has imported what they import.

A process that runs ``python -m MODULE …`` spends a second of CPU on imports before its first line
of work; a suite that kills dozens of them spends it dozens of times. Here one process, started with
the first that is asked for, imports it once and forks for each. What it forks is a process like
any: with an id, signals, memory, files and an exit code of its own. (The example of a fleet is
started the plain way, and so are the refusals of the commands.)

They end with whoever asked for them, even if that is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]

IMPORTED = (
    "apsw",
    "mcp.server.mcpserver",
    "psycopg_pool",
    "typer",
    "uvicorn.protocols.http.auto",
    "awhile.cli.config",
    "awhile.cli.deploy",
    "awhile.cli.target",
    "awhile.cli.serve",
    "awhile.cli.work",
    "awhile.server.http",
    "awhile.server.working",
    "awhile.stores.postgres",
    "awhile.stores.sqlite",
)
"""Nothing here opens a file, starts a thread or reads the environment."""


class Fork:
    """One process, used as a `subprocess.Popen`. ``stdout``: its standard output, as text."""

    def __init__(self, pid: int, stdout: IO[str], source: _Source) -> None:
        self.pid = pid
        self.stdout = stdout
        self.returncode: int | None = None
        self._source = source

    def poll(self) -> int | None:
        """The exit code, or None while it runs; negative: the signal that ended it."""
        if self.returncode is None:
            self.returncode = self._source.ask({"look": self.pid})["code"]
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """SIGKILL, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def wait(self, seconds: float) -> int:
        """Wait for its end; the exit code.

        Raises:
            TimeoutError: it did not end in time.
        """
        deadline = time.monotonic() + seconds
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"Process {self.pid} has not ended within {seconds:g} s.")
            time.sleep(0.005)
        return code


def start(
    module: str,
    arguments: Sequence[str],
    *,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Fork:
    """Start ``python -m MODULE ARGUMENTS…`` in the project's folder; its errors go to ``log``."""
    source = _source()
    told, tells = os.pipe()
    with log.open("w") as errors:
        try:
            job = {
                "module": module,
                "arguments": list(arguments),
                "environment": dict(os.environ if environment is None else environment),
            }
            pid = source.ask(job, [tells, errors.fileno()])["pid"]
        finally:
            os.close(tells)
    return Fork(pid, os.fdopen(told), source)


class _Source:
    """The process that forks, seen from here."""

    def __init__(self) -> None:
        ours, its = socket.socketpair()
        with its:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.forking", str(its.fileno())],
                cwd=ROOT,
                pass_fds=[its.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._socket = ours
        self._answers = ours.makefile()
        atexit.register(self.close)

    def ask(self, what: Mapping[str, Any], files: Sequence[int] = ()) -> dict[str, Any]:
        """Ask it something; its answer."""
        text = json.dumps(what).encode()
        socket.send_fds(self._socket, [len(text).to_bytes(4)], files)
        self._socket.sendall(text)
        return json.loads(self._answers.readline())

    def close(self) -> None:
        """End it, and with it all that it has forked."""
        self._answers.close()
        self._socket.close()
        self._process.wait()


@cache
def _source() -> _Source:
    return _Source()


# --- the process that forks ---------------------------------------------------------------------


class _Forking:
    def __init__(self, asks: socket.socket) -> None:
        self._asks = asks
        self._live: set[int] = set()
        self._codes: dict[int, int] = {}

    def until_a_job(self) -> dict[str, Any] | None:
        """Answer; returns the job in each process that was forked for one, and None at the end."""
        signal.signal(signal.SIGCHLD, self._reap)  # interrupts the wait for what is asked next
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end of who asks is the end
        while (received := self._receive()) is not None:
            asked, files = received
            if "look" in asked:
                self._say({"code": self._codes.get(asked["look"])})
                continue
            pid = self._fork()
            if pid == 0:
                self._become(asked, files)
                return asked
            for one in files:
                os.close(one)
            self._say({"pid": pid})
        for pid in self._live:
            os.kill(pid, signal.SIGKILL)
        return None

    def _fork(self) -> int:
        # One that ends at once is not to be reaped before it is known to live.
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
        pid = os.fork()
        if pid:
            self._live.add(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
        return pid

    def _become(self, job: Mapping[str, Any], files: Sequence[int]) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        self._asks.close()
        for one, standard in zip(files, (1, 2), strict=True):
            os.dup2(one, standard)
            os.close(one)
        os.environ.clear()
        os.environ.update(job["environment"])
        sys.argv = [job["module"], *job["arguments"]]

    def _receive(self) -> tuple[dict[str, Any], list[int]] | None:
        size, files, _, _ = socket.recv_fds(self._asks, 4, 2)
        if not size:
            return None
        text = b""
        while len(text) < int.from_bytes(size):
            text += self._asks.recv(65536)
        return json.loads(text), files

    def _say(self, what: Mapping[str, Any]) -> None:
        self._asks.sendall(json.dumps(what).encode() + b"\n")

    def _reap(self, *_: object) -> None:
        for pid in list(self._live):
            try:
                ended, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:  # another signal came right here, and this has reaped it
                continue
            if ended:
                self._live.discard(pid)
                self._codes[pid] = os.waitstatus_to_exitcode(status)


def main() -> None:
    """Fork what is asked for on the socket whose number is the argument."""
    for module in IMPORTED:
        import_module(module)
    job = _Forking(socket.socket(fileno=int(sys.argv[1]))).until_a_job()
    if job is not None:  # from here on this is that process
        runpy.run_module(job["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
