"""A small disk that can be full: mounted where this may mount, else a limit on files' sizes."""

from __future__ import annotations

import contextlib
import resource
import shutil
import subprocess
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

CHUNK = b"\0" * 4096


class Disk:
    """A folder, and how to leave no room in it.

    ``mounted``: a disk of its own (tmpfs), which is full of something else. Otherwise the limit a
    system puts on the files of a process (RLIMIT_FSIZE): each write beyond it fails as well.
    """

    def __init__(self, folder: Path, *, mounted: bool) -> None:
        self.folder = folder
        self.mounted = mounted
        self._limited: dict[int, tuple[int, int]] = {}

    def fill(self, pids: Iterable[int], *, largest_file: int) -> None:
        """Leave no room for these processes; where nothing can be mounted, for no file to grow
        beyond ``largest_file`` bytes."""
        if not self.mounted:
            for pid in pids:
                self._limited[pid] = before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (largest_file, before[1]))
            return
        ballast = (self.folder / "ballast").open("wb", buffering=0)
        with ballast, contextlib.suppress(OSError):
            while True:
                ballast.write(CHUNK)

    def free(self) -> None:
        """Make room again."""
        for pid, before in self._limited.items():
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        self._limited.clear()
        (self.folder / "ballast").unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, *, megabytes: int) -> Generator[Disk]:
    """A disk of that size at ``folder``, with whatever lies there already."""
    folder.mkdir(exist_ok=True)
    before = folder.with_name(f"{folder.name}-before")
    folder.rename(before)
    folder.mkdir()
    options = f"size={megabytes}m"
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    mount = shutil.which("mount")
    mounted = bool(mount) and subprocess.run(command, capture_output=True).returncode == 0
    if not mounted:
        folder.rmdir()
        before.rename(folder)
        yield Disk(folder, mounted=False)
        return
    try:
        subprocess.run(["cp", "-a", f"{before}/.", str(folder)], check=True)
        yield Disk(folder, mounted=True)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
