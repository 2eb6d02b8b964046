"""``python -m benchmarks``: one table of how fast everything is, beside its peers."""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

import anyio

from benchmarks import report
from benchmarks.command import add_arguments, tell
from benchmarks.machine import facts, peers
from benchmarks.measures import MEASURES
from benchmarks.results import Results
from benchmarks.rounds import FULL, QUICK, Bench
from benchmarks.subjects import Subjects


def main() -> int:
    """Measure, print, and say whether every measure could be made."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    add_arguments(parser)
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    given = parser.parse_args()
    _allow_many_sockets()
    began, machine = time.monotonic(), facts() | peers()
    results = Results()
    with (
        tempfile.TemporaryDirectory(prefix="awhile-bench-") as folder,
        Subjects(Path(folder)) as on,
    ):
        bench = Bench(
            subjects=on,
            size=QUICK if given.quick else FULL,
            results=results,
            say=lambda words: print(f"measured: {words}", file=sys.stderr),
        )
        for name in given.only:
            anyio.run(MEASURES[name], bench)
        missing = on.missing
    machine["took"] = f"{time.monotonic() - began:.0f} s"
    tell(results, report.of_servers(missing), machine, given)
    return 0


def _allow_many_sockets() -> None:
    """A thousand streams are a thousand sockets, here and in the servers started from here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))


if __name__ == "__main__":
    sys.exit(main())
