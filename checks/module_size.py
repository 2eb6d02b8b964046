"""`python -m checks.module_size`: no module is too long, and none has a catch-all name.

There is no list of exceptions: a module over the limit is split along a concept.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = 500
TEST_LINES = 700
SUFFIXES = {".py", ".ts", ".tsx", ".mjs", ".css", ".sql"}
CATCH_ALLS = {"utils", "common", "helpers", "manager"}


def tracked_files(root: Path = ROOT) -> list[Path]:
    """The files git tracks or would track, relative to `root`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listing.split("\0") if name and (root / name).is_file()]


def is_test(path: Path) -> bool:
    """Whether the file is part of a test suite, Python's or the page's."""
    return path.parts[0] == "tests" or ".test." in path.name


def complaints(root: Path = ROOT) -> list[str]:
    """One sentence for each module that breaks a limit."""
    found: list[str] = []
    for path in tracked_files(root):
        if path.suffix not in SUFFIXES:
            continue
        limit = TEST_LINES if is_test(path) else LINES
        lines = (root / path).read_text(encoding="utf-8").count("\n")
        if lines > limit:
            found.append(f"{path}: {lines} lines, the limit is {limit}; split it along a concept")
        for name in CATCH_ALLS.intersection([*path.parts[:-1], path.stem]):
            found.append(f"{path}: {name!r} says nothing; name it after what it holds")
    return found


def main() -> int:
    """Print every complaint; 1 if there is one."""
    found = complaints()
    for complaint in found:
        sys.stdout.write(f"{complaint}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
