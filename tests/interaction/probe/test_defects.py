"""A deliberately defective server, one defect at a time: each is found, and called by its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from awhile.probe import Grade, Report
from tests.interaction.probe.bench import probe_bench
from tests.interaction.probe.defects import CASES, UNNOTICED, Case, slug

AT_ONCE = 14
"""Probes side by side: most of their time is waiting."""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Report]:
    """What was found at each defective server, by the defect's name; probed side by side."""
    folder = tmp_path_factory.mktemp("stores")
    return anyio.run(probe_all, folder)


async def probe_all(folder: Path) -> Mapping[str, Report]:
    found: dict[str, Report] = {}
    room = anyio.CapacityLimiter(AT_ONCE)

    async def one(case: Case) -> None:
        async with room:
            found[case.name] = await probe_bench(
                folder / f"{slug(case)}.db",
                tool=case.tool,
                defect=case.make(),
                eras=(case.era,),
                **case.how,
            )

    async with anyio.create_task_group() as together:
        for case in CASES:
            together.start_soon(one, case)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_defect_is_found_and_named(case: Case, reports: Mapping[str, Report]) -> None:
    """Ours."""
    faults = {one.check: one for one in reports[case.name].faults}
    assert case.check in faults, f"{list(faults)}"
    found = faults[case.check]
    assert found.grade is case.grade, found
    assert found.seen
    assert found.exchanges, "a fault shows what was captured"


def test_the_fifteen_kinds_that_the_conformance_suite_does_not_notice_are_all_here() -> None:
    """Ours."""
    assert len(UNNOTICED) == 15


def test_every_case_expects_a_fault() -> None:
    """Ours."""
    assert all(case.grade.severity for case in CASES)
    assert Grade.CONFORMS not in {case.grade for case in CASES}
