"""The example that ``make fleet`` runs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests.interaction.cli.terminal import wait_until

ROOT = Path(__file__).parents[3]
STOP_SECONDS = 30


def test_the_example_starts_two_replicas_and_two_workers_and_ends_them_all(tmp_path: Path) -> None:
    """Ours: each says where it is, and which process."""
    with subprocess.Popen(
        [sys.executable, "-m", "examples.fleet"],
        cwd=ROOT,
        env={**os.environ, "AWHILE_STORE": f"sqlite:///{tmp_path / 'tasks.db'}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as fleet:
        try:
            assert fleet.stdout is not None
            assert fleet.stdout.readline() == "The store is the one that AWHILE_STORE names.\n"
            said = [fleet.stdout.readline() for _ in range(4)]
            found = [re.fullmatch(r"(\w+ \d), process (\d+): http://\S+\n", line) for line in said]
            assert {one[1] for one in found if one} == {
                "Replica 1",
                "Replica 2",
                "Worker 1",
                "Worker 2",
            }
            pids = [int(one[2]) for one in found if one]
            fleet.send_signal(signal.SIGINT)
            assert fleet.wait(STOP_SECONDS) == 0
            wait_until(lambda: not any(map(psutil.pid_exists, pids)), "all have ended")
        finally:
            if fleet.poll() is None:
                fleet.kill()
