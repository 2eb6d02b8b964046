"""The files of a SQLite store: whose they are, and what is refused with which words."""

from __future__ import annotations

import errno
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import apsw
import pytest

from awhile.errors import SettingsError, StoreError
from awhile.stores.open import open_store
from awhile.stores.rows import COLUMNS, DERIVED, to_row
from awhile.stores.sqlite import SqliteStore
from awhile.stores.sqlite.bells import Bell
from awhile.stores.sqlite.connection import Connection
from awhile.stores.sqlite.files import explain
from awhile.stores.sqlite.locks import WriteLock
from awhile.stores.sqlite.reading import QUERIES
from awhile.testing.store_case import task


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "tasks.db"


async def opened_and_closed(file: Path) -> None:
    async with SqliteStore(file) as store:
        await store.create(task())


def refusal(file: Path) -> str:
    """What opening says."""
    with pytest.raises(StoreError) as refused:
        anyio.run(opened_and_closed, file)
    assert str(file) in str(refused.value)
    return str(refused.value)


# --- the file while it is open ------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_file_that_was_moved_away_takes_no_more_promises(file: Path) -> None:
    """Ours: SQLite writes on into a deleted file, and every task of it would be gone."""
    async with SqliteStore(file) as store:
        kept = await store.create(task())
        moved = await anyio.Path(file).rename(file.with_name("moved.db"))
        with pytest.raises(StoreError, match="was deleted or replaced while it was open"):
            await store.create(task())
        await moved.rename(file)
        assert await store.create(task())
        assert await store.get(kept.task_id) == kept


# --- URLs ---------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_url_names_a_relative_or_an_absolute_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As SQLAlchemy has them."""
    monkeypatch.chdir(tmp_path)
    async with open_store("sqlite:///sub/near.db"):
        assert (tmp_path / "sub" / "near.db").exists()
    async with open_store(f"sqlite:///{tmp_path}/far.db"):
        assert (tmp_path / "far.db").exists()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_a_store_in_memory_is_refused_with_the_reason(url: str) -> None:
    with pytest.raises(SettingsError, match="no task survives its process"):
        open_store(url)


@pytest.mark.parametrize("url", ["sqlite://host/file.db", "sqlite:///a.db?mode=ro", "sqlite:a.db"])
def test_a_url_that_names_no_file_is_refused(url: str) -> None:
    with pytest.raises(SettingsError):
        open_store(url)


def test_an_unknown_scheme_lists_what_is_installed_and_tells_no_password() -> None:
    with pytest.raises(SettingsError, match="'sqlite://'") as refused:
        open_store("nosuch://ada:secret@host/db")
    assert "nosuch" in str(refused.value)
    assert "secret" not in str(refused.value)


# --- created for one owner ----------------------------------------------------------------------


@pytest.mark.anyio
async def test_every_file_and_the_folder_are_their_owners_alone(file: Path) -> None:
    before = os.umask(0)
    try:
        async with SqliteStore(file) as store, store.watch() as watch:
            made = await store.create(task())
            assert (await watch.wait(10)).keys() == {made.task_id}
            modes = {path.name: path.stat().st_mode & 0o777 for path in file.parent.rglob("*")}
            assert {"tasks.db", "tasks.db-wal", "tasks.db-shm", "tasks.db-lock"} <= modes.keys()
            assert modes.pop("tasks.db-bells") == 0o700
            assert set(modes.values()) == {0o600}
        assert file.parent.stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


@pytest.mark.anyio
async def test_a_closed_store_leaves_one_file_of_data(file: Path) -> None:
    await opened_and_closed(file)
    assert not file.with_name("tasks.db-wal").exists()


@pytest.mark.anyio
async def test_a_dead_listeners_bell_is_taken_down(file: Path) -> None:
    bells = file.with_name("tasks.db-bells")
    async with SqliteStore(file) as store:
        bells.mkdir()
        os.mkfifo(bells / "left")
        await store.create(task())
        await store.create(task())
    assert list(bells.iterdir()) == []


@pytest.mark.anyio
async def test_a_listener_that_ends_by_its_poll_leaves_the_bell_to_who_closes_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the ring of a closed bell failed, or went to whatever had its descriptor by then."""
    ring = Bell.ring

    def late(bell: Bell) -> None:
        for thread in threading.enumerate():
            if thread.name == "awhile-listener":
                thread.join(10)
        ring(bell)

    async with AsyncExitStack() as after, SqliteStore(file) as other, SqliteStore(file) as store:
        watch = await after.enter_async_context(store.watch())
        made = await other.create(task())
        assert (await watch.wait(10)).keys() == {made.task_id}
        monkeypatch.setattr(Bell, "ring", late)
    assert list(file.with_name("tasks.db-bells").iterdir()) == []


@pytest.mark.anyio
async def test_a_store_without_bells_finds_changes_by_looking(file: Path) -> None:
    """A file system without named pipes: here a file stands where their folder would be."""
    file.parent.mkdir()
    file.with_name("tasks.db-bells").touch()
    async with SqliteStore(file) as store, SqliteStore(file) as other, store.watch() as watch:
        made = await other.create(task())
        assert (await watch.wait(10)).keys() == {made.task_id}


# --- refused ------------------------------------------------------------------------------------


def test_a_file_that_is_no_database_is_refused_and_not_touched(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"a letter to my grandmother " * 40)
    assert "not an SQLite database" in refusal(file)
    assert file.read_bytes() == b"a letter to my grandmother " * 40


def test_another_programs_database_is_refused_and_not_touched(file: Path) -> None:
    file.parent.mkdir()
    foreign = sqlite3.connect(file)
    foreign.execute("CREATE TABLE letter (words TEXT)")
    foreign.close()
    before = file.read_bytes()
    assert "another program" in refusal(file)
    assert file.read_bytes() == before


def test_a_newer_schema_is_refused_saying_what_to_do(file: Path) -> None:
    anyio.run(opened_and_closed, file)
    later = sqlite3.connect(file)
    later.execute("PRAGMA user_version = 999")
    later.close()
    words = refusal(file)
    assert "schema 999" in words
    assert "Install the newer version again" in words


@pytest.mark.anyio
async def test_an_old_schema_is_migrated_once_by_whoever_comes_first(file: Path) -> None:
    async with anyio.create_task_group() as openers:
        for _ in range(8):
            openers.start_soon(opened_and_closed, file)
    async with SqliteStore(file) as store:
        assert len(await store.find(owner="ada")) == 8


def test_a_folder_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(StoreError, match=r"cannot be created.*may write in"):
        anyio.run(opened_and_closed, tmp_path / "data" / "tasks.db")


def test_a_folder_in_the_place_of_the_file_is_refused(file: Path) -> None:
    file.mkdir(parents=True)
    assert "It has to be a file" in refusal(file)


@pytest.mark.anyio
async def test_a_closed_store_says_so(file: Path) -> None:
    store = SqliteStore(file)
    async with store:
        with pytest.raises(StoreError, match="open already"):
            await store.__aenter__()
    for use in (store.create(task()), store.get("x"), store.find(owner="ada")):
        with pytest.raises(StoreError, match="not open"):
            await use


def test_every_sqlite_error_is_explained() -> None:
    full = Connection(Path(":memory:"), reads_only=False)
    full.run("CREATE TABLE t (x); PRAGMA max_page_count = 3")
    with pytest.raises(apsw.FullError) as raised:
        full.run("INSERT INTO t VALUES (zeroblob(100000))")
    words = str(explain(raised.value, Path("tasks.db")))
    full.close()
    assert "full disk" in words
    assert "everything confirmed before is safe" in words
    assert "SQLite says" in str(explain(apsw.Error("odd"), Path("tasks.db")))


@pytest.mark.anyio
async def test_another_process_that_keeps_the_lock_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awhile.stores.sqlite.locks.WAIT_SECONDS", 0.1)
    async with SqliteStore(file) as store:
        first = await store.create(task())
        lock = WriteLock(file.with_name("tasks.db-lock"), file.with_name("tasks.db-turn"))
        with lock:
            with pytest.raises(StoreError, match=r"has held .*tasks\.db-lock"):
                await store.create(task())
            assert await store.get(first.task_id) == first
        await store.create(task())
        lock.close()


def test_a_file_system_without_locks_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a network share answers; the answer is the one thing here that is not real."""

    def flock(_file: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", flock)
    assert "has to be on a local file system" in refusal(file)


FILLS_UP = """
import resource, sys
import anyio
from awhile.errors import StoreError
from awhile.stores.sqlite import SqliteStore
from awhile.stores.sqlite.bells import Bell
from awhile.testing.store_case import task

async def main():
    async with SqliteStore(sys.argv[1]) as store:
        first = await store.create(task())
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, limits[1]))
        try:
            await store.create(task(arguments={"x": "y" * 1_000_000}))
        except StoreError as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        second = await store.create(task())
        assert await store.get(first.task_id) == first
        assert await store.get(second.task_id) == second
        print(len(await store.find(owner="ada")))

anyio.run(main)
"""


def test_a_write_the_system_refuses_is_reported_and_the_next_one_works(file: Path) -> None:
    """A real process whose files may not grow (the way a test can have a full disk)."""
    ran = subprocess.run(
        [sys.executable, "-c", FILLS_UP, str(file)], capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    said, count = ran.stdout.splitlines()
    assert "could not be read or written. This change was not confirmed" in said
    assert count == "2"


# --- statements ---------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_the_view_has_a_records_columns_in_their_order(file: Path) -> None:
    await opened_and_closed(file)
    connection = Connection(file, reads_only=True)
    columns = [row[1] for row in connection.rows("PRAGMA table_info(task_row)")]
    connection.close()
    assert columns == ["ordinal", "history_seq", *COLUMNS]
    assert set(to_row(task())) == {*COLUMNS, *DERIVED}


@pytest.mark.anyio
async def test_every_statement_finds_its_rows_by_an_index(file: Path) -> None:
    await opened_and_closed(file)
    connection = Connection(file, reads_only=True)
    scans: list[str] = []
    for name, statement in QUERIES.items():
        values = dict.fromkeys(re.findall(r":(\w+)", statement))
        plan = connection.rows(f"EXPLAIN QUERY PLAN {statement}", values)
        # The counter has one row, json_each reads the caller's own list, and a subquery's rows
        # were found by the steps before.
        steps = [row[3] for row in plan]
        scans += [
            f"{name}: {step}"
            for step in steps
            if step.startswith(("SCAN", "USE TEMP"))
            and not step.startswith(("SCAN counter", "SCAN json_each", "SCAN (subquery"))
        ]
    connection.close()
    assert scans == []


def test_a_killed_writer_leaves_no_lock(file: Path) -> None:
    """The system takes the lock away with the process."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS_LOCK, str(file)], stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    anyio.run(opened_and_closed, file)


HOLDS_LOCK = """
import sys, time
from pathlib import Path
from awhile.stores.sqlite.files import StoreFiles
from awhile.stores.sqlite.locks import WriteLock

files = StoreFiles(Path(sys.argv[1]))
files.create_folder()
with WriteLock(files.lock, files.turn):
    print("held", flush=True)
    time.sleep(60)
"""
