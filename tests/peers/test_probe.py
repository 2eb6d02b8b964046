"""The reference measurements of `examples/probe`, with everything that they find."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from awhile.probe import Grade, Report
from examples.probe.reference import measure

pytestmark = pytest.mark.peers

OLD, NEW = "2025-11-25", "2026-07-28"


def faults_of(report: Report) -> dict[tuple[str, str], Grade]:
    return {(one.check, one.era): one.grade for one in report.faults}


def seen(report: Report, check: str, era: str) -> str:
    [found] = [one for one in report.findings if (one.check, one.era) == (check, era)]
    return found.seen


@pytest.fixture(scope="module")
def reports() -> Mapping[str, Report]:
    """All three servers, probed one after the other."""
    return anyio.run(measure)


@pytest.fixture(scope="module")
def typescript(reports: Mapping[str, Report]) -> Report:
    """The official TypeScript SDK, whose log is the witness."""
    return reports["TypeScript SDK 1.30.0"]


def test_the_typescript_server_has_exactly_the_faults_that_were_found_by_hand(
    typescript: Report,
) -> None:
    """Ours."""
    report = typescript
    assert faults_of(report) == {
        ("message-describes-the-end", OLD): Grade.MISLEADS,
        ("nothing-moves-after-cancelled", OLD): Grade.MISLEADS,
        ("required-tool-refused", OLD): Grade.DIFFERS,
        ("steps-seen-by-slower", OLD): Grade.DIFFERS,
    }
    assert list(report.eras) == [OLD]
    assert "server/discover got HTTP 400" in report.unserved[NEW]
    assert report.left_running == []


def test_a_required_tool_is_refused_in_a_result_that_carries_the_code(
    typescript: Report,
) -> None:
    """Ours."""
    words = seen(typescript, "required-tool-refused", OLD)
    assert "an isError result carrying -32601" in words


def test_polls_of_2_s_miss_messages_that_change_every_0_6_s(typescript: Report) -> None:
    """Ours: by hand polls of 0.8 s, too, had steps 1, 2 and 4; on a busy machine they had all."""
    report = typescript
    [found] = [one for one in report.findings if one.check == "steps-seen-by-slower"]
    steps = found.measured["steps"]
    assert steps == [f"step {step}/5" for step in (1, 2, 3, 4)]
    for name, told in found.measured["pollers"].items():
        assert told == [step for step in steps if step in told]
        words = f"{len(told)} of 4 ({', '.join(told)})" if told != steps else "all 4"
        assert f"{name.capitalize()}: {words}." in found.seen
    assert len(found.measured["pollers"]["every 2 s"]) < len(steps)


def test_the_message_of_a_completed_task_is_stale(typescript: Report) -> None:
    """Field case A9."""
    words = seen(typescript, "message-describes-the-end", OLD)
    assert words == "'completed' beside the message 'step 4/5'."


def test_the_result_is_in_tasks_result_alone_and_names_its_task(
    typescript: Report,
) -> None:
    """Ours."""
    report = typescript
    assert "related-task; tasks/get has no result" in seen(report, "result-names-its-task", OLD)
    assert seen(report, "result-waits", OLD).startswith("It waited ")
    watched = report.eras[OLD].watched.needed
    assert not any("result" in view.task for view in watched.seen)


def test_the_task_is_listed_and_unknown_ids_are_refused(typescript: Report) -> None:
    """Ours."""
    report = typescript
    assert seen(report, "listed", OLD).startswith("It is, among ")
    for check in ("unknown-get-refused", "unknown-cancel-refused", "unknown-result-refused"):
        assert "error -32602" in seen(report, check, OLD)


def test_cancel_flips_the_word_while_the_loop_runs_on(typescript: Report) -> None:
    """Field case A1."""
    report = typescript
    assert "the work went on" in seen(report, "nothing-moves-after-cancelled", OLD)
    assert {view.status for view in report.eras[OLD].stopped.needed.after} == {"cancelled"}


def test_fastmcp_has_faults_of_its_own(reports: Mapping[str, Report]) -> None:
    """Ours."""
    peer_report = reports["fastmcp 4.1.4, fastmcp-tasks 4.1.4"]
    faults = faults_of(peer_report)
    # Whether a step of 0.3 s is missed at 0.16 s depends on the machine; at 0.4 s one is.
    assert faults == {
        ("looking-is-no-update", NEW): Grade.MISLEADS,
        ("mcp-name-required", NEW): Grade.DIFFERS,
        ("steps-seen-by-slower", NEW): Grade.DIFFERS,
        ("required-tool-refused", OLD): Grade.DIFFERS,
        ("task-support-words", OLD): Grade.DIFFERS,
    }
    assert "pushes nothing" in seen(peer_report, "listen-tells-the-end", NEW)
    assert "HTTP 200, a result" in seen(peer_report, "mcp-name-required", NEW)
    assert "error -32021" in seen(peer_report, "required-tool-refused", OLD)
    assert "and nothing else" in seen(peer_report, "looking-is-no-update", NEW)
    assert peer_report.left_running == []


def test_our_server_has_none(reports: Mapping[str, Report]) -> None:
    """Ours."""
    assert faults_of(reports["Awhile"]) == {}
    assert list(reports["Awhile"].eras) == [NEW, OLD]


def test_the_page_shows_what_is_measured_now(reports: Mapping[str, Report]) -> None:
    """Ours: the faults; times and ids are those of the day they were recorded."""
    page = (Path(__file__).parents[2] / "docs" / "probe.md").read_text("utf-8")
    table = page.partition("<!-- reference: begin -->")[2].partition("<!-- reference: end -->")[0]
    shown = set(re.findall(r"^\| ([^|]+) \| ([\d-]+) \| ([a-z ]+) \| `([a-z-]+)` ", table, re.M))
    assert shown == {
        (server, one.era, one.grade.value, one.check)
        for server, report in reports.items()
        for one in report.faults
    }
