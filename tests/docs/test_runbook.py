"""The runbook names what there is: every metric with its alarm, every command, the receiver."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from awhile.runtime.webhook import Webhook, signed
from awhile.stores.open import open_store
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from examples.webhook.receiver import verified

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
SECRET = "whsec_" + "c2VjcmV0" * 4

METRIC = re.compile(r'"((?:awhile|db\.client)\.[a-z_.]+)",\n? *(?:unit=)?"')


def metrics() -> set[str]:
    """The names of all instruments, as they stand in the source."""
    folder = ROOT / "src" / "awhile" / "telemetry"
    text = "".join((folder / name).read_text() for name in ("meters.py", "gauges.py"))
    return set(METRIC.findall(text))


def test_every_metric_has_its_alarm() -> None:
    """Ours; and no alarm is of a metric that is not there."""
    first_cells = [line.split("|")[1] for line in RUNBOOK.splitlines() if line.startswith("| `")]
    named = re.findall(r"`((?:awhile|db)\.[a-z_.]+)`", " ".join(first_cells))
    assert set(named) == metrics()
    assert len(metrics()) == 14


def test_the_receivers_check_takes_what_we_sign_and_nothing_else() -> None:
    """Ours: the example is right."""
    webhook = Webhook(url="https://example.com/", secrets=(SECRET,))
    headers = signed(webhook, message_id="t.ended", at_seconds=1000, body=b"{}")
    assert verified(SECRET, headers, b"{}", 1001)
    assert not verified(SECRET, headers, b"{ }", 1001)
    assert not verified(SECRET, headers, b"{}", 2000)
    assert not verified("whsec_" + "b3RoZXJz" * 4, headers, b"{}", 1001)
    assert not verified(SECRET, {}, b"{}", 1001)


@pytest.mark.anyio
@pytest.mark.parametrize("how", ["vacuum", "backup"])
async def test_a_copy_of_a_running_sqlite_store_is_whole(tmp_path: Path, how: str) -> None:
    """Ours: both ways of the runbook; what was confirmed before is in it, also from the log."""
    file, copy = tmp_path / "tasks.db", tmp_path / "copy.db"
    async with open_store(f"sqlite:///{file}") as store:
        made = await store.create(task(worker="w"))
        running = await store.create(task(worker="w", until_ms=AT + 10))
        await store.append(made.task_id, ev.Completed(generation=1, result={"n": 1}), AT)
        source = sqlite3.connect(file)
        if how == "vacuum":
            source.execute("VACUUM INTO ?", [str(copy)])
        else:
            with sqlite3.connect(copy) as target:
                source.backup(target)
            target.close()
        source.close()
        await store.append(running.task_id, ev.Completed(generation=1, result={"n": 2}), AT)
    async with open_store(f"sqlite:///{copy}") as restored:
        before = await restored.get(made.task_id)
        assert before is not None
        assert before.result == {"n": 1}
        await restored.claim(
            worker="v", tools=["report"], at_ms=AT + 99, until_ms=AT + 199, limit=1
        )
        lost = await restored.get(running.task_id)
        assert lost is not None
        assert lost.status == "failed"  # as the runbook says: although it completed since
