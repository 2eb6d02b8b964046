"""What the commands that print a table have in common: their arguments, and where it goes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.results import Results

MARK = "<!-- What follows is written by the benchmark, by its --page. -->"
"""Where the table of a page begins; it ends with the page, or with `END`."""

END = "<!-- The end of what the benchmark wrote. -->"

WIDTH = 230
"""Of the table where the output is no terminal."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add those that every command has."""
    parser.add_argument("--quick", action="store_true", help="a smaller run, of two minutes")
    parser.add_argument("--json", type=Path, help="write all figures there, too")
    parser.add_argument("--page", type=Path, help="write the table into that page, too")


def tell(
    results: Results, layout: report.Layout, facts: Mapping[str, str], given: argparse.Namespace
) -> None:
    """Print the table, and write it wherever else it was asked for."""
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    console.print(report.table(results, layout, facts))
    if given.json:
        given.json.write_text(json.dumps(report.as_json(results, layout, facts), indent=1))
    if given.page:
        before, mark, rest = given.page.read_text().partition(MARK)
        _, end, after = rest.partition(END)
        table = report.markdown(results, layout, facts)
        given.page.write_text(f"{before}{mark}\n\n{table}{end and chr(10)}{end}{after}")
