"""The page about the probe is what the probe is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from awhile.probe import CHECKS, MEANINGS
from awhile.probe.checks_page import with_checks
from awhile.probe.grades import Grade
from tests.serving import Served, serving

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "probe.md"


def test_the_list_of_checks_is_drawn_from_their_declarations() -> None:
    """Ours. `python -m awhile.probe.checks_page docs/probe.md` draws it anew."""
    page = PAGE.read_text("utf-8")
    assert with_checks(page) == page
    for check in CHECKS:
        assert f"| `{check}` | " in page


def test_every_check_says_what_should_be_so_what_to_do_and_where_that_is_from() -> None:
    """Ours."""
    for check in CHECKS.values():
        assert re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", check.id)
        assert check.title.endswith(".")
        assert check.advice.endswith(".")
        assert check.fault.severity
        assert check.sources
        for source in check.sources.values():
            assert source.url is not None or source.words.startswith("ours: ")


def test_the_page_gives_every_grade_its_meaning() -> None:
    """Ours."""
    page = PAGE.read_text("utf-8")
    assert set(MEANINGS) == set(Grade)
    for grade, words in MEANINGS.items():
        assert f"| {grade.value} | {words} |" in page


@pytest.fixture
def server(tmp_path: Path) -> Generator[Served]:
    with serving("tests.interaction.probe.misleading_server", BENCH_FOLDER=str(tmp_path)) as one:
        yield one


def test_the_example_prints_what_to_fix(server: Served) -> None:
    """Ours."""
    told = subprocess.run(
        [sys.executable, ROOT / "examples" / "probe" / "measure.py", server.url, "steps"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout.splitlines()
    assert "misleads: The message of an ended task is about its end." in told[0]
    assert "'completed' beside the message 'step 4/4'." in told[0]
    assert told[-1] == "misleads: 2 faults in 2026-07-28, 2025-11-25"
