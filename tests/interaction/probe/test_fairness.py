"""What looks like a fault and is none, and what looks sound and was not tried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.probe import CHECKS, Grade, Limits, Report, Target, Trial, probe
from awhile.probe.exchanges import Exchange, frame_of
from awhile.probe.measures.evidence import MEASURING, Seen, Stopped, Survey, Watched
from awhile.probe.reports import as_data
from awhile.probe.reports.wording import verdict
from awhile.probe.views import View
from tests.interaction.probe.bench import BRIEF, Bench
from tests.interaction.probe.breaking import Answer, Defect, Request

pytestmark = pytest.mark.anyio

MODERN, LEGACY = "2026-07-28", "2025-11-25"


def found(report: Report, check: str, era: str = MODERN) -> tuple[Grade, str]:
    [one] = [one for one in report.findings if (one.check, one.era) == (check, era)]
    return one.grade, one.seen


def exchange(number: int, answer: str) -> Exchange:
    """An exchange that was answered."""
    made = Exchange(number, LEGACY, "to see", {"id": number}, {}, 10.0 * number)
    made.frames.append(frame_of(answer, 10.0 * number + 1))
    return made


@pytest.mark.parametrize(
    ("after", "grade"),
    [("completed", Grade.NOT_APPLICABLE), ("working", Grade.DIFFERS), ("cancelled", Grade.DIFFERS)],
)
def test_a_cancel_that_came_after_the_end_is_rightly_refused(after: str, grade: Grade) -> None:
    """Ours: the task may end between the last look and the cancel."""
    created = exchange(1, '{"id": 1, "result": {"task": {"taskId": "t", "status": "working"}}}')
    cancel = exchange(2, '{"id": 2, "error": {"code": -32602, "message": "ended already"}}')
    task: dict[str, Any] = {"taskId": "t", "status": "working"}
    stopped = Stopped(created, task, [View(11.0, task, 1)], cancel)
    stopped.after.append(View(30.0, {**task, "status": after}, 3))
    seen = Seen(LEGACY, True, True, False, Survey(created), [created, cancel])
    seen.stopped.found = stopped
    assert CHECKS["cancel-acknowledged"].finding(seen).grade is grade


def test_a_question_is_looked_for_where_it_is_told_and_not_in_the_creating_answer() -> None:
    """Ours: a busy server may have been asked something before it answers the call."""
    task: dict[str, Any] = {"taskId": "t", "status": "input_required"}
    created = exchange(1, '{"id": 1, "result": {"taskId": "t", "status": "input_required"}}')
    watched = Watched(created, task)
    looked: dict[str, Any] = {
        **task,
        "inputRequests": {"one": {"method": "elicitation/create", "params": {}}},
    }
    watched.views[MEASURING] = [View(30.0, looked, 2)]
    seen = Seen(MODERN, True, True, False, Survey(created), [created])
    seen.watched.found = watched
    finding = CHECKS["question-can-be-answered"].finding(seen)
    assert (finding.grade, finding.seen) == (Grade.CONFORMS, "It has 1.")


async def test_a_second_caller_who_is_not_let_in_proves_nothing(tmp_path: Path) -> None:
    """Ours: refused at the door is not refused the task."""
    bench = Bench(tmp_path / "t.db", with_people=True)
    limits = Limits(run_seconds=0.2, stop_seconds=0.2, linger_seconds=0)
    async with bench.serving() as url:
        target = Target(
            url=url,
            headers={"authorization": "Bearer token-of-ada"},
            second_headers={"authorization": "Bearer token-of-nobody"},
        )
        report = await probe(target, Trial(tool="strict"), limits, eras=(MODERN,))
    for check in ("others-see-nothing", "others-learn-nothing"):
        grade, seen = found(report, check)
        assert grade is Grade.NOT_TRIED
        assert "the second caller is not let in" in seen


class Busy(Defect):
    """Turns every look at a task away that is there, and every cancel of one."""

    def asked(self, request: Request) -> Answer | None:
        looks = request.method in ("tasks/get", "tasks/cancel")
        if not looks or "no-such" in request.task_id:
            return None
        return Answer(429, {**request.error(-32000, "Too many requests.").message})


async def test_a_server_that_is_too_busy_has_lost_nothing_and_nothing_is_seen_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: an error is not "no such task" unless it says so."""
    monkeypatch.setattr("awhile.probe.sessions.ENDING_SECONDS", 0.5)
    limits = Limits(run_seconds=1.5, stop_seconds=0.9, linger_seconds=0)
    async with Bench(tmp_path / "t.db").serving(Busy()) as url:
        report = await probe(Target(url=url), Trial(tool="strict"), limits, eras=(MODERN,))
    assert not [one.check for one in report.faults if one.grade is Grade.LOSES_WORK]
    assert len(report.left_running) == 3


async def test_a_tool_that_fails_before_it_is_a_task_was_not_tried(tmp_path: Path) -> None:
    """Ours: and the verdict says so, beside the clean sheet."""
    trial = Trial(tool="steps", arguments={"surplus": 1})

    class Refusing(Defect):
        def asked(self, request: Request) -> Answer | None:
            text = {"type": "text", "text": "surplus is no argument"}
            failed = {"resultType": "complete", "content": [text], "isError": True}
            return request.result(failed) if request.method == "tools/call" else None

    async with Bench(tmp_path / "t.db").serving(Refusing()) as url:
        with anyio.fail_after(30):
            report = await probe(Target(url=url), trial, BRIEF, eras=(MODERN,))
    grade, seen = found(report, "task-shape")
    assert grade is Grade.NOT_TRIED
    assert "surplus is no argument" in seen
    assert verdict(as_data(report)).endswith("But no call of steps became a task.")
