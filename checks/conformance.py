"""`python -m checks.conformance URL`: the tasks scenarios of the official MCP conformance suite.

The suite leaves the tasks scenarios out of its own exit code, and skips them silently under
`--spec-version`, so they run one by one here and every check they report is counted.
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
    suite = packages() / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return [check for scenario in SCENARIOS for check in _run_scenario(suite, url, scenario)]


def _run_scenario(suite: Path, url: str, scenario: str) -> list[Check]:
    with tempfile.TemporaryDirectory() as out:
        command = [BIN / "node", suite, "server", "--url", url]
        try:
            done = subprocess.run(
                [*command, "--scenario", f"tasks-{scenario}", "-o", out],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SCENARIO_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return [Check(scenario, "report", "FAILURE", f"no end after {SCENARIO_SECONDS} s")]
        reports = list(Path(out).glob("*/checks.json"))
        if not reports:
            return [Check(scenario, "report", "FAILURE", done.stdout[-2000:])]
        return [
            Check(scenario, found["id"], found["status"], found.get("errorMessage") or "")
            for report in reports
            for found in json.loads(report.read_text())
        ]


def kept(checks: Sequence[Check]) -> int:
    """How many checks succeeded."""
    return sum(check.status == "SUCCESS" for check in checks)


def tally(checks: Sequence[Check]) -> str:
    """One line: how many of the expected checks succeeded, and every other status counted."""
    others = Counter(check.status for check in checks if check.status != "SUCCESS")
    return f"conformance: {kept(checks)} of {CHECKS} checks succeeded" + "".join(
        f", {count} {status}" for status, count in sorted(others.items())
    )


def main() -> int:
    """Print the checks that did not succeed and the tally; 1 unless all 44 did."""
    parser = argparse.ArgumentParser(prog="checks.conformance", description=__doc__)
    parser.add_argument(
        "url", help="the server's MCP endpoint, for example http://127.0.0.1:8000/mcp"
    )
    checks = run(parser.parse_args().url)
    for check in checks:
        if check.status != "SUCCESS":
            sys.stdout.write(f"  {check}\n")
    sys.stdout.write(f"{tally(checks)}\n")
    return 0 if kept(checks) == CHECKS else 1


if __name__ == "__main__":
    sys.exit(main())
