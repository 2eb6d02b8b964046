"""Our own server, probed: a clean sheet in both eras, with everything there is to try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from awhile.probe import CHECKS, Grade, Report
from awhile.probe.reports import as_data
from tests.interaction.probe.bench import probe_bench

ERAS = ("2026-07-28", "2025-11-25")

RUNS: Mapping[str, Mapping[str, Any]] = {
    "anonymous, with a witness": {"with_witness": True},
    "two people": {"with_people": True},
    "a tool that asks": {"tool": "ask"},
    "a tool that is always a task": {"tool": "strict"},
    "a tool that never is one": {"tool": "quick"},
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Report]:
    """Each of the runs, probed side by side."""
    folder = tmp_path_factory.mktemp("stores")
    found: dict[str, Report] = {}

    async def probe_all() -> None:
        async def one(place: int, name: str) -> None:
            found[name] = await probe_bench(folder / f"{place}.db", **RUNS[name])

        async with anyio.create_task_group() as together:
            for place, name in enumerate(RUNS):
                together.start_soon(one, place, name)

    anyio.run(probe_all)
    return found


@pytest.mark.parametrize("run", RUNS)
def test_our_server_has_a_clean_sheet_in_both_eras(run: str, reports: Mapping[str, Report]) -> None:
    """Ours."""
    report = reports[run]
    assert [(one.check, one.era, one.seen) for one in report.faults] == []
    assert tuple(report.eras) == ERAS
    assert report.unserved == {}
    assert report.left_running == []
    assert report.stopped_early is None


def test_between_them_the_runs_try_every_check_in_each_era_it_applies_to(
    reports: Mapping[str, Report],
) -> None:
    """Ours: what the probe can find out, it finds out at a server that has everything."""
    tried = {
        (one.check, one.era)
        for report in reports.values()
        for one in report.findings
        if one.grade is Grade.CONFORMS
    }
    all_of_them = {(check.id, era) for check in CHECKS.values() for era in check.sources}
    # It asks who may list only where strangers could: this is loopback.
    assert all_of_them - tried == {("list-for-known-callers", "2025-11-25")}


def test_a_witness_sees_that_cancelled_work_has_stopped(reports: Mapping[str, Report]) -> None:
    """Ours."""
    found = {
        (one.check, one.era): one.seen for one in reports["anonymous, with a witness"].findings
    }
    for era in ERAS:
        assert found["nothing-moves-after-cancelled", era] == "The witness saw nothing move."
    assert found["left-call-stops", ERAS[0]] == "The witness saw nothing move."


def test_all_steps_are_told_however_seldom_one_looks(reports: Mapping[str, Report]) -> None:
    """Field case B5: the same steps in both eras."""
    for era in ERAS:
        [told] = [
            one
            for one in reports["anonymous, with a witness"].findings
            if (one.check, one.era) == ("steps-seen-by-slower", era)
        ]
        steps = [f"step {step}/4" for step in range(1, 5)]
        assert [step for step in told.measured["steps"] if step in steps] == steps
        assert all(set(steps) <= set(seen) for seen in told.measured["pollers"].values())


def test_the_report_says_what_the_server_is(reports: Mapping[str, Report]) -> None:
    """Ours."""
    eras = as_data(reports["a tool that is always a task"])["eras"]
    new, old = (eras[era]["facts"] for era in ERAS)
    assert new["server"].startswith("bench")
    assert new["declares"] == "the extension io.modelcontextprotocol/tasks"
    assert new["becomes a task by"] == "declaring the extension on the request"
    assert "pollIntervalMs" in new["durations"]
    assert "subscriptions/listen" in new["methods"]
    assert old["declares"] == "capabilities.tasks: list, cancel, tools/call"
    assert "strict (required)" in old["tools"]
    assert old["becomes a task by"] == "params.task"
    assert "ttl 60000" in old["durations"]
