"""The fixture server, asked by programs this project did not write the rules of."""

from __future__ import annotations

import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks import beyond_the_suite, conformance

ROOT = Path(__file__).parents[2]
START_SECONDS = 30
STOP_SECONDS = 10

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A fixture server of our own, in its own process; it ends when its stdin closes."""
    command = [sys.executable, "-m", "tests.interaction.fixture_server", "--port", "0"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        try:
            yield first_line(server.stdout)
        finally:
            server.stdin.close()
            try:
                server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                server.kill()
                raise


def first_line(stdout: Iterator[str]) -> str:
    """The first line a process prints, waited for no longer than `START_SECONDS`."""
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: lines.put(next(stdout, "")), daemon=True).start()
    try:
        line = lines.get(timeout=START_SECONDS).strip()
    except queue.Empty:
        pytest.fail(f"the fixture server printed nothing within {START_SECONDS} s")
    assert line.startswith("http://127.0.0.1:"), f"not a URL of this machine: {line!r}"
    return line


def test_the_official_suite_finds_nothing_wrong_in_its_tasks_scenarios(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spec: ext-tasks, as `@modelcontextprotocol/conformance` reads it; 44 checks of 44."""
    checks = conformance.run(url)
    with capsys.disabled():
        print(f"\n{conformance.tally(checks)}")  # noqa: T201
    assert [str(check) for check in checks if check.status in {"FAILURE", "WARNING"}] == []
    assert conformance.kept(checks) == conformance.CHECKS


def test_the_official_suite_finds_nothing_wrong_in_what_the_revision_requires(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spec: 2026-07-28, as the suite's `--requirements` reads it, with what it does not score."""
    expected = conformance.REQUIREMENTS["2026-07-28"]
    checks = conformance.run_requirements(url, "2026-07-28")
    with capsys.disabled():
        print(f"\n{conformance.tally(checks, expected)}")  # noqa: T201
    assert [str(check) for check in checks if check.status in {"FAILURE", "WARNING"}] == []
    assert conformance.kept(checks) == expected


def test_the_points_the_suite_does_not_assert_are_kept_too(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Spec: ext-tasks; ours where it leaves a choice."""
    points = beyond_the_suite.run(url)
    with capsys.disabled():
        print(f"\n{beyond_the_suite.tally(points)}")  # noqa: T201
    assert [str(point) for point in points if not point.kept] == []
