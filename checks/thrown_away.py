"""What servers of one's own have in common that are thrown away after use.

Each runs as an unprivileged user where this runs as root, which database servers refuse to be, in
a folder of its own. A guard process ends it and removes the folder when whoever started it is
gone, even by SIGKILL.
"""

from __future__ import annotations

import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypedDict

USERS = ("postgres", "nobody")
"""Whom a server runs as where this is root; the first of them that exists."""

PATIENCE_SECONDS = 60.0
"""How long a server may take to start or to end."""

_GUARD = """
import os, pathlib, shutil, signal, sys, time

signal.signal(signal.SIGINT, signal.SIG_IGN)
folder, number = pathlib.Path(sys.argv[1]), int(sys.argv[2])
sys.stdin.buffer.read()
for file in [*folder.glob("*.pid"), folder / "data" / "postmaster.pid"]:
    try:
        pid = int(file.read_text().split()[0])
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, number)
        while True:
            os.kill(pid, 0)
            if pathlib.Path(f"/proc/{pid}/stat").exists():
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
                if state == "Z":
                    break
            time.sleep(0.01)
    except (OSError, ValueError, IndexError):
        pass
shutil.rmtree(folder, ignore_errors=True)
"""
"""Waits for the end of its standard input, whose other end dies with the starter."""


class Account(TypedDict, total=False):
    """As whom to start a program; empty: as whoever this is."""

    user: int
    group: int
    extra_groups: list[int]


class OwnFolder:
    """A folder for one server, whose process leaves its number in a ``.pid`` file there."""

    def __init__(self, prefix: str, end_by: signal.Signals) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix))
        self.account = _account()
        self.give(self.path)
        self._guard = subprocess.Popen(
            [sys.executable, "-c", _GUARD, str(self.path), str(int(end_by))],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def give(self, path: Path) -> None:
        """Make a file the server's own."""
        if self.account:
            os.chown(path, self.account.get("user", -1), self.account.get("group", -1))

    def close(self) -> None:
        """End the server and remove the folder."""
        if self._guard.stdin:
            self._guard.stdin.close()
        self._guard.wait(PATIENCE_SECONDS)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def _account() -> Account:
    if os.geteuid() != 0:
        return {}
    known = {each.pw_name: each for each in pwd.getpwall()}
    one = next(known[name] for name in USERS if name in known)
    return {"user": one.pw_uid, "group": one.pw_gid, "extra_groups": []}


__all__ = ["PATIENCE_SECONDS", "Account", "OwnFolder", "free_port"]
