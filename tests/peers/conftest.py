"""A server of ours in a process of its own, for programs of other projects to call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interaction.test_conformance import STOP_SECONDS, first_line

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where the work server listens; it ends when its stdin closes."""
    command = [sys.executable, "-m", "tests.peers.work_server"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        try:
            yield first_line(server.stdout)
        finally:
            server.stdin.close()
            server.wait(STOP_SECONDS)
