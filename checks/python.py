"""The checks that are Python programs with packages of their own, in the user's cache folder."""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
import sys
from pathlib import Path

import platformdirs


def interpreter(*requirements: str) -> Path:
    """A Python in an environment of its own with the pinned packages, made now if it is not there.

    Raises `RuntimeError` with pip's own words when they cannot be installed.
    """
    pins = " ".join((*requirements, sys.version))
    home = platformdirs.user_cache_path("awhile")
    place = home / f"checks-python-{hashlib.sha256(pins.encode()).hexdigest()[:12]}"
    python, ready = place / "bin" / "python", place / "ready"
    home.mkdir(parents=True, exist_ok=True)
    with Path(f"{place}.lock").open("w") as lock:
        # An environment cannot be made beside its place and moved, so one process makes it, and
        # one that broke off is known by the file it lacks.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not ready.exists():
            _run(sys.executable, "-m", "venv", "--clear", str(place))
            _run(str(python), "-m", "pip", "install", "--quiet", *requirements)
            ready.touch()
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} failed: {done.stdout}\nMend what it says and run this again."
        )
