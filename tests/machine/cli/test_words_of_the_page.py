"""The words of the terminal, held against those of the page: one fact, one word for it."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from awhile.cli.pace import Sample, sampled, seconds_left
from awhile.cli.words import (
    QUERY,
    WORK,
    StopRequest,
    duration,
    last_news_in_words,
    left_in_words,
    ordinal,
    percent_in_words,
    rows_in_words,
    ticking,
    words_for,
)
from awhile.client import Known
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot
from tests.machine.web.test_page_words import node

SECONDS = (0.0, 0.004, 0.03, 0.5, 4.29, 9.99, 10, 42.9, 59.99, 185, 3599.9, 7499, 90_000)
COUNTS = (0, 1, 2, 11, 12, 13, 21, 102, 112, 1_234, 100_000)
STOPPED = 2_000
ASKED_AT_MS = 1_000_000

ASK_THE_PAGE = """
import * as words from './src/words.ts'
import { sampled, secondsLeft } from './src/run/pace.ts'
let given = ''
for await (const chunk of process.stdin) given += chunk
const { runs, seconds, counts, paces } = JSON.parse(given)
const line = ({ badge, sentence }) => (sentence === null ? badge : `${badge}: ${sentence}`)
console.log(JSON.stringify({
  runs: runs.map(([facts, request, fresh]) => line(words.wordsFor(facts, request, fresh))),
  seconds: seconds.map((one) => [
    words.duration(one), words.ticking(one), words.lastNewsInWords(one), words.leftInWords(one),
    words.percentInWords(one),
  ]),
  counts: counts.map((one) => [
    words.ordinal(one), words.rowsInWords(one, false), words.rowsInWords(one, true),
  ]),
  paces: paces.map((pace) => secondsLeft(pace.reduce(sampled, []))),
}))
"""

PACES = [
    [],
    [(0.0, 0.0)],
    [(float(at), at * 2.0) for at in range(25)],
    [(float(at), at**2 / 20) for at in range(30)],
    [*((float(at), 50.0 - at) for at in range(20)), *((20.0 + at, 40.0 + at) for at in range(12))],
    [(at / 4, min(99.0, at / 2)) for at in range(120)],
]


def combinations() -> list[tuple[Known, dict[str, Any], StopRequest, bool, str | None]]:
    """Everything a run can be, as the client and as the page know it."""
    found: list[tuple[Known, dict[str, Any], StopRequest, bool, str | None]] = []
    for status, asked, how, attempt, request, fresh, outcome in itertools.product(
        Status,
        (None, 2, 31),
        (None, *StoppedHow),
        (0, 1, 2),
        StopRequest,
        (True, False),
        (None, "table", "refusal", "question_back", "not_run", "error"),
    ):
        plain = (how is None and outcome is None) or attempt == 1
        ended = status not in (Status.WORKING, Status.INPUT_REQUIRED)
        only = (
            (how is None or status is Status.CANCELLED)
            and (outcome is None or status is Status.COMPLETED)
            and (request is StopRequest.NONE or not ended)
        )
        if not plain or not only:
            continue
        is_error = outcome == "error"
        stopped = how is not None and asked is not None
        task = Snapshot(
            task_id="a",
            status=status,
            created_at_ms=0,
            last_updated_at_ms=0,
            result={"isError": is_error} if status is Status.COMPLETED else None,
            cancel_asked_at_ms=None if asked is None else ASKED_AT_MS,
            stopped_at_ms=ASKED_AT_MS + STOPPED if stopped else None,
            stopped_how=how,
            attempt=attempt,
        )
        known = Known(task=task, unreachable_since_ms=None if fresh else ASKED_AT_MS)
        facts = {
            "status": status.value,
            "is_error": is_error,
            "outcome": outcome,
            "cancel_asked_at": None if asked is None else "2026-11-01T10:00:00Z",
            "stopped_how": how.value if how else None,
            "stopped_after_seconds": STOPPED / 1000 if stopped else None,
            "stopAskedSeconds": asked,
            "attempt": attempt,
        }
        found.append((known, facts, request, fresh, outcome))
    return found


def test_the_terminal_says_of_every_run_what_the_page_says() -> None:
    """Ours: one row a combination of facts, and every number in words."""
    rows = combinations()
    asked = {
        "runs": [(facts, request.value, fresh) for _, facts, request, fresh, _ in rows],
        "seconds": SECONDS,
        "counts": COUNTS,
        "paces": [[{"at": at, "percent": percent} for at, percent in pace] for pace in PACES],
    }
    done = node("--input-type=module-typescript", "-e", ASK_THE_PAGE, given=json.dumps(asked))
    assert done.returncode == 0, done.stderr
    page = json.loads(done.stdout)
    for (known, facts, request, _, outcome), words in zip(rows, page["runs"], strict=True):
        now_ms = ASKED_AT_MS + (facts["stopAskedSeconds"] or 0) * 1000
        said = words_for(known, now_ms=now_ms, of=QUERY, request=request, outcome=outcome)
        assert said.line == words, (facts, request)
    assert page["seconds"] == [
        [duration(one), ticking(one), last_news_in_words(one), left_in_words(one),
         percent_in_words(one)]
        for one in SECONDS
    ]  # fmt: skip
    assert page["counts"] == [
        [ordinal(one), rows_in_words(one), rows_in_words(one, truncated=True)] for one in COUNTS
    ]
    for pace, left in zip(PACES, page["paces"], strict=True):
        samples: tuple[Sample, ...] = ()
        for at, percent in pace:
            samples = sampled(samples, Sample(at, percent))
        assert seconds_left(samples) == (None if left is None else pytest.approx(left))


def test_work_of_any_server_is_not_said_to_be_a_query_of_a_database() -> None:
    """Ours."""
    for known, facts, request, _, outcome in combinations():
        now_ms = ASKED_AT_MS + (facts["stopAskedSeconds"] or 0) * 1000
        said = words_for(known, now_ms=now_ms, of=WORK, request=request, outcome=outcome)
        assert "database" not in said.line
        assert "query" not in said.line


def test_a_task_only_called_cancelled_is_not_said_to_have_stopped() -> None:
    """2025-11-25: a cancel has to be answered so, whatever the work is doing (ours)."""
    task = Snapshot(task_id="a", status=Status.CANCELLED, created_at_ms=0, last_updated_at_ms=0)
    said = words_for(Known(task=task, cancel_proves_nothing=True), now_ms=0)
    assert said.line == "Called stopped: nothing shows that it has, and it may still be working"
