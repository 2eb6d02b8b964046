"""How a server ends whose parent is gone."""

from __future__ import annotations

import subprocess
import sys

from awhile.cli.signals import STOP_SECONDS
from awhile.runtime import presence, worker
from awhile.server import closing, http

HANGS = """
import signal, time
from awhile.cli import signals
signals.STOP_SECONDS = 0.1
signal.signal(signal.SIGTERM, lambda *_: print("told", flush=True))
signals.end_with_stdin(0)
while True:
    time.sleep(60)
"""


def test_a_server_whose_parent_is_gone_is_told_to_end_and_ends_even_if_it_hangs() -> None:
    """Ours."""
    done = subprocess.run(
        [sys.executable, "-c", HANGS], input=b"", stdout=subprocess.PIPE, timeout=30, check=False
    )
    assert (done.stdout, done.returncode) == (b"told\n", 1)


def test_a_server_whose_parent_is_gone_has_the_time_to_end_in_order() -> None:
    """Ours: it was ended at once half-way, with bodies that ignore their stop."""
    answering = closing.DECIDING_SECONDS + closing.HALTING_SECONDS + 2 * closing.ANSWERING_SECONDS
    leaving = worker.STOP_SECONDS + presence.LAST_WORD_SECONDS
    assert answering + http.GRACEFUL_SECONDS + leaving < STOP_SECONDS
