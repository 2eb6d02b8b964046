"""The handles on the disk."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import pytest

from awhile.client import ledger as ledger_module
from awhile.client.ledger import Ledger
from awhile.errors import StoreError
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot

ROOT = Path(__file__).parents[3]
HERE, THERE = "http://here/mcp", "http://there/mcp"
TASK = Snapshot(task_id="t1", status=Status.WORKING, created_at_ms=1_000, last_updated_at_ms=1_000)
DONE = replace(
    TASK,
    status=Status.COMPLETED,
    status_message="Finished.",
    last_updated_at_ms=2_000,
    result={"content": [{"type": "text", "text": "42"}], "structuredContent": {"n": None}},
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    kept = Ledger(tmp_path / "deep" / "handles.sqlite3")
    yield kept
    kept.close()


def add(ledger: Ledger, task: Snapshot = TASK, server: str = HERE) -> None:
    ledger.add(server, task, tool="yearly", arguments={"year": 2026, "region": None})


def test_a_handle_is_found_again_by_its_server_and_id(ledger: Ledger) -> None:
    add(ledger)
    entry = ledger.find(HERE, "t1")
    assert entry
    assert (entry.tool, entry.arguments) == ("yearly", {"year": 2026, "region": None})
    assert (entry.created_at_ms, entry.status, entry.ended) == (1_000, "working", False)
    assert ledger.find(THERE, "t1") is None


def test_an_ending_is_kept_whole(ledger: Ledger) -> None:
    add(ledger)
    ledger.note(HERE, DONE)
    entry = ledger.find(HERE, "t1")
    assert entry
    assert entry.ended
    assert entry.ending == DONE


def test_what_is_known_of_a_stop_is_kept_with_the_ending(ledger: Ledger) -> None:
    add(ledger)
    stopped = replace(
        TASK,
        status=Status.CANCELLED,
        stopped_at_ms=1_500,
        stopped_how=StoppedHow.ENGINE_CONFIRMED,
        attempt=1,
    )
    ledger.note(HERE, stopped, cancel_asked_at_ms=1_200)
    entry = ledger.find(HERE, "t1")
    assert entry
    assert entry.ending == stopped
    assert entry.cancel_asked_at_ms == 1_200


def test_a_later_note_never_overwrites_an_ending(ledger: Ledger) -> None:
    add(ledger)
    ledger.note(HERE, DONE)
    ledger.note(HERE, replace(TASK, status_message="step 4/5"))
    add(ledger)
    entry = ledger.find(HERE, "t1")
    assert entry
    assert entry.ending == DONE
    assert entry.message == "Finished."


def test_the_newest_handles_come_first_and_can_be_one_servers_only(ledger: Ledger) -> None:
    add(ledger)
    add(ledger, replace(TASK, task_id="t2", created_at_ms=3_000))
    add(ledger, replace(TASK, task_id="t3", created_at_ms=2_000), server=THERE)
    assert [entry.task_id for entry in ledger.entries()] == ["t2", "t3", "t1"]
    assert [entry.task_id for entry in ledger.entries(HERE)] == ["t2", "t1"]


def test_a_forgotten_handle_is_gone_and_others_stay(ledger: Ledger) -> None:
    add(ledger)
    add(ledger, server=THERE)
    ledger.forget("t1", HERE)
    assert [entry.server for entry in ledger.entries()] == [THERE]
    ledger.forget("t1")
    assert ledger.entries() == []


def test_only_its_owner_may_read_the_file(ledger: Ledger) -> None:
    add(ledger)
    files = list(ledger.path.parent.iterdir())
    assert len(files) > 1, "the side files of SQLite have to be looked at too"
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert ledger.path.parent.stat().st_mode & 0o777 == 0o700


def test_a_handle_survives_the_program_that_wrote_it(ledger: Ledger) -> None:
    """A20: written by a process that is killed the moment `add` has returned."""
    program = (
        "import os, signal, sys\n"
        "from tests.machine.client.test_ledger import Ledger, add\n"
        "add(Ledger(sys.argv[1]))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, str(ledger.path)], cwd=ROOT, check=False
    )
    assert killed.returncode == -9
    assert ledger.find(HERE, "t1")


WRITER = """
import sys
from dataclasses import replace
from tests.machine.client.test_ledger import Ledger, TASK, add
for number in range(25):
    ledger = Ledger(sys.argv[1])
    add(ledger, replace(TASK, task_id=f"{sys.argv[2]}-{number}"))
    ledger.close()
"""


def test_several_processes_open_and_write_one_ledger_at_once(tmp_path: Path) -> None:
    path = tmp_path / "handles.sqlite3"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=ROOT)
        for name in "abcd"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0, 0]
    assert len(Ledger(path).entries()) == 100


def test_threads_share_a_ledger(ledger: Ledger) -> None:
    def write(name: str) -> None:
        for number in range(25):
            add(ledger, replace(TASK, task_id=f"{name}-{number}"))

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ledger.entries()) == 100


def test_ended_handles_are_dropped_after_a_month_and_open_ones_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = Ledger(tmp_path / "handles.sqlite3")
    monkeypatch.setattr(ledger_module, "wall_clock_ms", lambda: 1_000)
    add(ledger)
    ledger.note(HERE, TASK)
    add(ledger, replace(DONE, task_id="t2"))
    ledger.note(HERE, replace(DONE, task_id="t2"))
    monkeypatch.setattr(ledger_module, "wall_clock_ms", lambda: 1_001 + ledger_module.KEEP_ENDED_MS)
    assert [entry.task_id for entry in Ledger(ledger.path).entries()] == ["t1"]


def test_a_file_that_is_no_ledger_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("this is not a database, but long enough to be looked at" * 10)
    with pytest.raises(StoreError, match=r"notes\.txt"):
        Ledger(path)


def test_a_folder_that_cannot_be_made_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="pass ledger=None"):
        Ledger(tmp_path / "file" / "handles.sqlite3")


def test_a_ledger_locked_by_somebody_else_fails_by_name(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_module, "BUSY_MS", 10)
    short_of_patience = Ledger(ledger.path)
    other: Any = apsw.Connection(str(ledger.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="not affected"):
        add(short_of_patience)
    other.execute("ROLLBACK")
    short_of_patience.close()


def test_a_ledger_of_an_earlier_version_is_brought_to_the_present_form(tmp_path: Path) -> None:
    """Version 0.1 numbered nothing and knew one protocol revision."""
    path = tmp_path / "handles.sqlite3"
    old: Any = apsw.Connection(str(path))
    create = ledger_module._statements()["migration_1"]  # pyright: ignore[reportPrivateUsage]
    old.execute(create)
    old.execute(
        "INSERT INTO handles (server, task_id, arguments, created_at_ms, updated_at_ms, status)"
        " VALUES (?, 't1', '{}', 1000, 1000, 'working')",
        (HERE,),
    )
    old.close()
    for _ in range(2):
        ledger = Ledger(path)
        entry = ledger.find(HERE, "t1")
        assert entry
        assert entry.era == "2026-07-28"
        ledger.close()


def test_the_era_of_a_task_is_kept_with_it(ledger: Ledger) -> None:
    ledger.add(HERE, TASK, tool=None, arguments={}, era="2025-11-25")
    entry = ledger.find(HERE, "t1")
    assert entry
    assert entry.era == "2025-11-25"
