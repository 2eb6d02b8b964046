"""``python -m benchmarks``: one table of how fast everything is, beside its peers."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import anyio
from rich.console import Console

from benchmarks import report
from benchmarks.machine import facts
from benchmarks.measures import MEASURES
from benchmarks.results import Results
from benchmarks.rounds import FULL, QUICK, Bench
from benchmarks.subjects import Subjects

MARK = "<!-- What follows is written by `scripts/bench --page docs/speed.md`. -->"
"""Where the table of a page begins."""

WIDTH = 230
"""Of the table where the output is no terminal."""


def main() -> int:
    """Measure, print, and say whether every measure could be made."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smaller run, of two minutes")
    parser.add_argument("--json", type=Path, help="write all figures there, too")
    parser.add_argument("--page", type=Path, help="write the table into that page, too")
    parser.add_argument("--only", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    given = parser.parse_args()
    _allow_many_sockets()
    began, machine = time.monotonic(), facts()
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
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
    console.print(report.table(results, missing, machine))
    if given.json:
        given.json.write_text(json.dumps(report.as_json(results, missing, machine), indent=1))
    if given.page:
        before, mark, _ = given.page.read_text().partition(MARK)
        table = report.markdown(results, missing, machine)
        given.page.write_text(f"{before}{mark}\n\n{table}")
    return 0


def _allow_many_sockets() -> None:
    """A thousand streams are a thousand sockets, here and in the servers started from here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16_384), hard))


if __name__ == "__main__":
    sys.exit(main())
