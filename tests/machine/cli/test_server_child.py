"""A server that a command starts for itself."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from awhile.ask.cli.child import ServerChild
from awhile.cli.settings import read_settings

pytestmark = pytest.mark.anyio

MEETS_THE_KEY = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may have it ignored
os.kill(os.getpid(), signal.SIGINT)
"""


async def test_ctrl_c_that_meets_the_server_as_well_only_leaves_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: until it has a session of its own, the key reaches it, too (8 starts of 400, when it is
    pressed within a millisecond)."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{MEETS_THE_KEY}'\n")
    python.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(python))
    with anyio.move_on_after(0.5) as leaving:  # the key, as the command hears it
        async with ServerChild(read_settings({}), port=0).running():
            pytest.fail("a server that has ended is none")
    assert leaving.cancelled_caught
