"""`python -m checks.legacy_server [PORT]`: serve until stdin closes; the URL is the first line.

Tools: `quick` (never a task) and `long_job` (always one). STEPS and STEP_MS say how many steps that
has and how long each takes.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from checks.node import BIN, environment, packages

HERE = Path(__file__).parent


def main() -> int:
    """Install what is missing, then become the server."""
    home = packages(HERE.name).parent
    source = (HERE / "server.mjs").read_bytes()
    # A module finds its packages beside itself only; by its content, so that none is overwritten.
    program = home / f"server-{hashlib.sha256(source).hexdigest()[:12]}.mjs"
    if not program.exists():
        fresh = program.with_suffix(f".{os.getpid()}")
        fresh.write_bytes(source)
        fresh.rename(program)
    return subprocess.run([BIN / "node", program, *sys.argv[1:]], env=environment()).returncode


if __name__ == "__main__":
    sys.exit(main())
