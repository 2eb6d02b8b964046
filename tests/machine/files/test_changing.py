"""Files that change, go or come while they are open: said, or read as they are by then."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from awhile.ask.engines.duckdb.reading import Entry, ReadOnlyFiles
from awhile.ask.engines.errors import QueryError
from awhile.ask.engines.stamp import stamp_of
from awhile.ask.engines.workers.serving import Running
from tests.machine.files.opening import opened, refusal

LARGE = "id,name\n" + "".join(f"{n},{n:0200}\n" for n in range(100_000))


class Meddling(Running):
    """Something happens as soon as the first rows have come."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__(threading.Event())
        self._happens = happens
        self._left = 3

    def check(self) -> None:
        self._left -= 1
        if self._left == 0:
            self._happens()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / "large.csv"
    path.write_text(LARGE)
    return path


def rewritten(path: Path) -> None:
    path.write_text(LARGE.replace("1", "2"))


def cut_off(path: Path) -> None:
    os.truncate(path, 100_000)


def appended_to(path: Path) -> None:
    with path.open("a") as file:
        file.write("1,x\n")


def replaced(path: Path) -> None:
    new = path.with_suffix(".new")
    new.write_text(LARGE)
    new.replace(path)


def deleted(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize("happens", [rewritten, cut_off, appended_to, replaced, deleted])
def test_a_file_that_changes_under_a_query_is_said_and_gives_no_rows(
    happens: Callable[[Path], object], large: Path, tmp_path: Path
) -> None:
    """What was read of it may be of two versions."""
    with opened(tmp_path, large) as files:
        with pytest.raises(QueryError) as error:
            files.rows("SELECT id, name FROM large", Meddling(lambda: happens(large)))
        assert error.value.message == (
            "'large.csv' was changed while it was open here, so what was read of it may be of two "
            "versions; ask again, and the new one is read"
        )
        assert list((tmp_path / "of the session" / "results").iterdir()) == []
        assert files.session.stale()


def test_between_two_queries_a_new_version_is_what_is_read(tmp_path: Path) -> None:
    """A stale session is closed, and the next order opens another."""
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n")
    with opened(tmp_path, path) as files:
        assert files.rows("FROM t") == [["1"]]
        assert not files.session.stale()
        path.write_text("a,b\n2,x\n")
        assert files.session.stale()
    with opened(tmp_path, path) as files:
        assert files.rows("FROM t") == [["2", "x"]]
        path.unlink()
        assert files.session.stale()
    assert "there is no file or folder" in refusal(tmp_path, "t.csv")


def test_a_file_that_comes_into_a_folder_is_seen(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").write_text("a\n1\n")
    with opened(tmp_path, named=["data"]) as files:
        (tmp_path / "data" / "notes.txt").write_text("x")
        assert files.session.stale()  # the card will tell of it
    with opened(tmp_path, named=["data"]) as files:
        (tmp_path / "data" / "b.csv").write_text("b\n2\n")
        assert files.session.stale()
    with opened(tmp_path, named=["data"]) as files:
        assert files.rows("SELECT * FROM a, b") == [["1", "2"]]


def test_a_link_put_in_a_files_place_is_not_followed(tmp_path: Path) -> None:
    """What was looked at was a file of the folder, and what the link leads to may be anything."""
    path, secret = tmp_path / "t.csv", tmp_path / "secret"
    path.write_text("a\n1\n")
    secret.write_text("a\n2\n")
    with opened(tmp_path, path) as files:
        path.unlink()
        path.symlink_to(secret)
        with pytest.raises(QueryError, match=r"'t\.csv' can no longer be read"):
            files.rows("FROM t")


def test_two_threads_and_one_handle_read_each_what_it_sought(tmp_path: Path) -> None:
    """DuckDB seeks and reads by two calls; and reads on with another thread than it sought with."""
    path = tmp_path / "t.bin"
    path.write_bytes(bytes(range(100)))
    stamp = stamp_of(path)
    assert stamp is not None
    handle = ReadOnlyFiles({"t": Entry("t", path, stamp)}).open("t")
    in_another = threading.Thread(target=lambda: handle.seek(50))
    handle.seek(10)
    in_another.start()
    in_another.join()
    assert handle.read(2) == bytes((10, 11))
    read: list[bytes] = []
    handle.seek(20)
    in_another = threading.Thread(target=lambda: read.append(handle.read(5)))
    in_another.start()
    in_another.join()
    assert read == [bytes(range(20, 25))]
    assert handle.read(5) == bytes(range(25, 30))
    handle.seek(98)
    assert (handle.read(10), handle.read(10)) == (bytes((98, 99)), b"")
    handle.close()
    handle.close()


def test_no_file_stays_open_behind_a_query(large: Path, tmp_path: Path) -> None:
    """Or a deleted one would keep its place on the disk; and a process has so many and no more."""
    with opened(tmp_path, large) as files:
        before = len(list(Path("/dev/fd").iterdir()))
        for _ in range(3):
            files.rows("SELECT count(name) FROM large")
        assert len(list(Path("/dev/fd").iterdir())) == before
