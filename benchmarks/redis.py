"""A Redis of one's own, on a free port of 127.0.0.1, as Debian configures it but for the port."""

from __future__ import annotations

import itertools
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Self

PATIENCE_SECONDS = 10


class Redis:
    """Runs until the block is left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._databases = itertools.count()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    def program() -> str | None:
        """Where it is installed, or None."""
        return shutil.which("redis-server")

    def new_database(self) -> str:
        """The URL of a database that nobody has used."""
        return f"redis://127.0.0.1:{self._port}/{next(self._databases)}"

    def __enter__(self) -> Self:
        program = self.program()
        assert program
        self._process = subprocess.Popen(
            [
                *(program, "--bind", "127.0.0.1", "--port", str(self._port)),
                *("--dir", str(self._folder), "--databases", "512"),
            ],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self._port), timeout=1).close()
                return self
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    self.__exit__()
                    raise
                time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(PATIENCE_SECONDS)
