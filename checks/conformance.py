"""`python -m checks.conformance URL`: the tasks scenarios of the official MCP conformance suite.

The suite leaves the tasks scenarios out of its own exit code, and skips them silently under
`--spec-version`, so they run one by one here and every check they report is counted. With
`--requirements 2026-07-28` it runs everything that revision asks of a server instead.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checks.node import BIN, environment, packages

SCENARIOS = (
    "lifecycle",
    "capability-negotiation",
    "wire-fields",
    "request-state-removal",
    "mrtr-input",
    "request-headers",
    "dispatch-and-envelope",
    "status-notifications",
    "required-task-error",
    "mrtr-composition",
)
CHECKS = 44
"""What the ten scenarios of suite 0.2.0-alpha.12 report as SUCCESS on a server that keeps them all.

`status-notifications` reports nothing but one SKIPPED beside them.
"""
REQUIREMENTS = {"2026-07-28": 196}
"""What `--requirements` reports as SUCCESS for a revision, the unscored scenarios included."""

REQUIREMENTS_SECONDS = 240
"""A run takes a quarter of a minute."""

SCENARIO_SECONDS = 60
"""The suite gives itself 30 s a scenario; twice that means it hangs."""


@dataclass(frozen=True)
class Check:
    """One check the suite reports: `status` is SUCCESS, FAILURE, WARNING, INFO or SKIPPED."""

    scenario: str
    id: str
    status: str
    message: str

    def __str__(self) -> str:
        return f"{self.status:<8} {self.scenario}: {self.id} {self.message}".rstrip()


def run(url: str) -> list[Check]:
    """Run the ten scenarios against the server at `url` and return every check they report.

    A scenario that ends without a report counts as one FAILURE with what it printed.
    """
    suite = _suite()
    return [check for scenario in SCENARIOS for check in _run_scenario(suite, url, scenario)]


def run_requirements(url: str, revision: str) -> list[Check]:
    """Run everything a revision of the specification asks of a server, and return every check.

    A run that ends without a report, or that the suite itself calls failed, counts as one FAILURE
    more, with what it printed.
    """
    how = ["--requirements", revision]
    return _reported(_suite(), url, revision, how, REQUIREMENTS_SECONDS)


def _suite() -> Path:
    return packages() / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


def _run_scenario(suite: Path, url: str, scenario: str) -> list[Check]:
    # Its exit code says nothing here: the suite does not count these scenarios.
    how = ["--scenario", f"tasks-{scenario}"]
    return _reported(suite, url, scenario, how, SCENARIO_SECONDS, counted=False)


def _reported(
    suite: Path, url: str, title: str, how: Sequence[str], seconds: float, *, counted: bool = True
) -> list[Check]:
    with tempfile.TemporaryDirectory() as out:
        command = [BIN / "node", suite, "server", "--url", url]
        try:
            done = subprocess.run(
                [*command, *how, "-o", out],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return [Check(title, "report", "FAILURE", f"no end after {seconds:g} s")]
        checks = [
            Check(report.parent.name, found["id"], found["status"], found.get("errorMessage") or "")
            for report in sorted(Path(out).glob("*/checks.json"))
            for found in json.loads(report.read_text())
        ]
        if not checks or (counted and done.returncode):
            checks.append(Check(title, "report", "FAILURE", done.stdout[-2000:]))
        return checks


def kept(checks: Sequence[Check]) -> int:
    """How many checks succeeded."""
    return sum(check.status == "SUCCESS" for check in checks)


def tally(checks: Sequence[Check], expected: int = CHECKS) -> str:
    """One line: how many of the expected checks succeeded, and every other status counted."""
    others = Counter(check.status for check in checks if check.status != "SUCCESS")
    return f"conformance: {kept(checks)} of {expected} checks succeeded" + "".join(
        f", {count} {status}" for status, count in sorted(others.items())
    )


def main() -> int:
    """Print the checks that did not succeed and the tally; 1 unless all that are expected did."""
    parser = argparse.ArgumentParser(prog="checks.conformance", description=__doc__)
    parser.add_argument(
        "url", help="the server's MCP endpoint, for example http://127.0.0.1:8000/mcp"
    )
    parser.add_argument("--requirements", choices=list(REQUIREMENTS), metavar="REVISION")
    given = parser.parse_args()
    expected = REQUIREMENTS.get(given.requirements, CHECKS)
    if given.requirements:
        checks = run_requirements(given.url, given.requirements)
    else:
        checks = run(given.url)
    for check in checks:
        if check.status != "SUCCESS":
            sys.stdout.write(f"  {check}\n")
    sys.stdout.write(f"{tally(checks, expected)}\n")
    return 0 if kept(checks) == expected else 1


if __name__ == "__main__":
    sys.exit(main())
