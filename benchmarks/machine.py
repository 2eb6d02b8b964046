"""What a run was made on: without it no figure means anything."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import apsw
import psutil

from benchmarks.redis import Redis
from checks import mariadb
from checks.fastmcp_server import PINS
from checks.postgres import binaries

LIBRARIES = ("mcp", "uvicorn", "starlette", "anyio", "apsw", "psycopg")


def facts(libraries: Sequence[str] = LIBRARIES) -> dict[str, str]:
    """Machine, versions, the instant, and the load others put on it as the run began."""
    said = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, "
        f"{psutil.virtual_memory().total / 2**30:.0f} GiB, {platform.system()} "
        f"{platform.release()}",
        "load at start": " ".join(f"{one:.2f}" for one in os.getloadavg()),
        "Python": platform.python_version(),
        "libraries": ", ".join(f"{name} {version(name)}" for name in libraries),
        "SQLite": apsw.sqlite_lib_version(),
    }
    found = binaries()
    if found:
        said["PostgreSQL"] = _said(str(found / "postgres"), "--version")
    if server := mariadb.program():
        said["MariaDB"] = _said(server, "--version").partition("Ver ")[2].removesuffix(" for")
    return said


def peers() -> dict[str, str]:
    """What is measured beside us."""
    said = {"peer": " ".join(PINS)}
    if program := Redis.program():
        said["Redis"] = _said(program, "--version")
    return said


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _said(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join(done.stdout.split()[:4]).removesuffix(" (Debian")
