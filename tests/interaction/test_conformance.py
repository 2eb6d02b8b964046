"""The fixture server, asked by programs this project did not write the rules of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checks import beyond_the_suite, conformance
from tests.serving import serving

pytestmark = pytest.mark.conformance


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A fixture server of our own, in its own process."""
    with serving("tests.interaction.fixture_server") as server:
        yield server.url


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
