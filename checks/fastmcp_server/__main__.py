"""`python -m checks.fastmcp_server [PORT]`: serve until stdin closes; the URL is the first line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from checks.fastmcp_server import PINS
from checks.python import interpreter


def main() -> int:
    """Install what is missing, then become the server."""
    program = Path(__file__).with_name("server.py")
    return subprocess.run([interpreter(*PINS), program, *sys.argv[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
