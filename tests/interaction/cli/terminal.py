"""Running ``awhile`` as people and programs do: as a process, in a pipe or at a terminal."""

from __future__ import annotations

import errno
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

AWHILE = (sys.executable, "-m", "awhile.cli.main")
LONGEST_SECONDS = 60.0
"""Nothing here takes as long; a machine under load may."""

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Place:
    """A data folder and a database of its own, in a temporary folder."""

    folder: Path
    database: Path

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user who runs the tests gets in."""
        config = self.folder / "config.toml"
        config.touch()
        kept = {name: value for name, value in os.environ.items() if "AWHILE" not in name}
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            kept.pop(name, None)
        return {
            **kept,
            "TERM": "xterm-256color",
            "AWHILE_CONFIG": str(config),
            "AWHILE_DATA_FOLDER": str(self.folder / "data"),
            "AWHILE_DATABASE": str(self.database),
        }

    @property
    def announced(self) -> list[Path]:
        """The files by which servers say that they are there, each named by its process."""
        return list((self.folder / "data" / "servers").glob("*.json"))

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, in pipes."""
        return subprocess.run(
            [*AWHILE, *arguments],
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=False,
        )

    @contextmanager
    def started(
        self, *arguments: str, stdin: int = subprocess.DEVNULL
    ) -> Generator[subprocess.Popen[str]]:
        """A command while it runs, in pipes; killed at the end if it still does."""
        process = subprocess.Popen(
            [*AWHILE, *arguments],
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()

    @contextmanager
    def at_a_terminal(
        self, *arguments: str, columns: int = 80, **variables: str
    ) -> Generator[Terminal]:
        """A command while it runs at a terminal of that width, 40 lines high."""
        pid, descriptor = pty.fork()
        if pid == 0:
            # Ignored where the tests run in a script's background, and so by whom they start.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            environment = {**self.environment, **variables}
            os.execvpe(AWHILE[0], [*AWHILE, *arguments], environment)  # noqa: S606
        fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        terminal = Terminal(pid, descriptor)
        try:
            yield terminal
        finally:
            terminal.close()


class Terminal:
    """The keyboard and the screen of one program."""

    def __init__(self, pid: int, descriptor: int) -> None:
        self.pid = pid
        self._descriptor = descriptor
        self._written = ""
        self.exit_code: int | None = None

    @property
    def written(self) -> str:
        """All it wrote, as it came."""
        return self._written

    @property
    def text(self) -> str:
        """All it wrote, without colours and movements."""
        return _ESCAPES.sub("", self._written).replace("\r", "")

    def wait_for(self, words: str, *, times: int = 1) -> None:
        """Return once it has written these words, that often in all."""
        self._read_until(lambda: self.text.count(words) >= times, words)

    def press_ctrl_c(self) -> None:
        """Press Ctrl-C."""
        os.write(self._descriptor, b"\x03")

    def press(self, keys: str) -> None:
        """Press keys, without Enter."""
        os.write(self._descriptor, keys.encode())

    def type(self, line: str) -> None:
        """Type a line, with Enter."""
        os.write(self._descriptor, f"{line}\n".encode())

    def wait(self) -> int:
        """The exit code, once it has ended and all it wrote is read."""
        self._read_until(lambda: self.exit_code is not None, "its end")
        assert self.exit_code is not None
        return self.exit_code

    def close(self) -> None:
        """Kill it if it still runs."""
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._descriptor)

    def _read_until(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + LONGEST_SECONDS
        while not holds():
            assert time.monotonic() < deadline, f"no {what!r} in:\n{self._end()}"
            if not self._read():
                assert holds(), f"it ended without {what!r}:\n{self._end()}"
                return

    def _end(self) -> str:
        return self.text[-1000:]

    def _read(self) -> bool:
        """Read what is there; False once nothing more can come."""
        ready, _, _ = select.select([self._descriptor], [], [], 0.1)
        if not ready:
            return True
        try:
            data = os.read(self._descriptor, 65_536)
        except OSError as error:
            if error.errno != errno.EIO:  # how Linux says that the other side has gone
                raise
            data = b""
        self._written += data.decode(errors="replace")
        if data:
            return True
        _, status = os.waitpid(self.pid, 0)
        self.exit_code = os.waitstatus_to_exitcode(status)
        return False


def wait_until(holds: Callable[[], bool], what: str, seconds: float = LONGEST_SECONDS) -> None:
    """Return once it holds; fail after that long."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
