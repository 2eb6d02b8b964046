"""`python -m checks.legacy_server [PORT]`: serve until stdin closes; the URL is the first line.

Tools: `quick` (never a task) and `long_job` (always one). STEPS and STEP_MS say how many steps that
has and how long each takes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from checks.node import run

if __name__ == "__main__":
    sys.exit(run(Path(__file__).parent / "server.mjs", sys.argv[1:]))
