"""Official clients of both eras, each run against a server's URL; what each saw, as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from checks.fastmcp_server import PINS as FASTMCP
from checks.node import BIN, environment, packages
from checks.python import interpreter

HERE = Path(__file__).parent

SECONDS = 60
"""How long one of them may take; each is done in a few."""

Json = dict[str, Any]


def ext_tasks(
    url: str, tool: str, arguments: Json, *, era: str, cancel_after_ms: int | None = None
) -> Json:
    """One call with the TypeScript Tasks client. ``era`` is "legacy", "modern" or "auto"."""
    home = packages(HERE.name).parent
    driver = Path(shutil.copy(HERE / "drive_ext_tasks.mjs", home))  # it imports from beside itself
    command = [str(BIN / "node"), str(driver), url, tool, json.dumps(arguments), era]
    if cancel_after_ms is not None:
        command.append(str(cancel_after_ms))
    return json.loads(_run(command).stdout)


def inspector(url: str, tool: str, *arguments: str, era: str) -> tuple[int, list[Json]]:
    """One call with the Inspector's command line: its exit code, and the objects it printed.

    ``arguments`` are of the form ``name=value``.
    """
    launcher = packages(HERE.name) / "@modelcontextprotocol/inspector/clients/launcher/build"
    command = [str(BIN / "node"), str(launcher / "index.js"), "--cli", "--server-url", url]
    command += ["--transport", "http", "--protocol-era", era, "--format", "json"]
    command += ["--method", "tools/call", "--tool-name", tool]
    for one in arguments:
        command += ["--tool-arg", one]
    done = _run(command, checked=False)
    printed = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("{")]
    return done.returncode, [json.loads(line) for line in printed]


def mcp_1_30(url: str) -> Json:
    """Everything that the experimental client of the Python SDK 1.30.0 can do."""
    return _python("mcp_1_30.py", url, pins=("mcp==1.30.0",))


def fastmcp(target: str | Sequence[str], *, era: str, named: bool = False) -> Json:
    """Everything that fastmcp's client with fastmcp-tasks can do at a URL, or a server's command.

    ``era`` is "legacy" or "modern". ``named`` adds the ``Mcp-Name`` header it leaves out over HTTP.
    """
    where = target if isinstance(target, str) else json.dumps(list(target))
    how = [era, "named"] if named else [era]
    return _python("fastmcp_client.py", where, *how, pins=FASTMCP)


def _python(program: str, *arguments: str, pins: Sequence[str]) -> Json:
    command = [str(interpreter(*pins)), "-W", "ignore", str(HERE / program), *arguments]
    return json.loads(_run(command).stdout)


def _run(command: list[str], *, checked: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    if checked and done.returncode:
        raise RuntimeError(f"{command!r} failed: {done.stderr[-2000:]}")
    return done
