"""A thread that the kernel denies to write: what it starts is denied the same, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from awhile.processes.landlock import deny_writing, version

WRITE = "import sys; open(sys.argv[1], 'r+').write('changed')"


def in_a_thread(function: Callable[[], None]) -> None:
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_what_such_a_thread_starts_writes_beneath_its_folder_alone(tmp_path: Path) -> None:
    """Where the kernel has no Landlock nothing changes, and that is told."""
    own, kept = tmp_path / "own", tmp_path / "kept.txt"
    own.mkdir()
    kept.write_text("kept")
    told: list[object] = []

    def tried(attempt: Callable[[], object]) -> None:
        try:
            attempt()
        except PermissionError:
            told.append("denied")
        else:
            told.append("done")

    def denied() -> None:
        told.append(deny_writing(own))
        tried(lambda: (own / "new.txt").write_text("x"))
        tried(lambda: (own / "new.txt").rename(own / "newer.txt"))
        tried(lambda: kept.open("r+").close())
        tried(lambda: kept.read_text())
        tried(lambda: (tmp_path / "new.txt").write_text("x"))
        tried(lambda: (own / "newer.txt").rename(tmp_path / "moved.txt"))
        tried(kept.unlink)
        in_a_thread(lambda: tried(lambda: kept.open("r+").close()))
        child = subprocess.run([sys.executable, "-c", WRITE, kept], capture_output=True)
        told.append("denied" if b"PermissionError" in child.stderr else "done")

    in_a_thread(denied)
    if version() > 0:
        assert told == [True, "done", "done", "denied", "done", *["denied"] * 5]
        assert kept.read_text() == "kept"
    else:
        assert told == [False, *["done"] * 9]
    (tmp_path / "by another thread.txt").write_text("x")
