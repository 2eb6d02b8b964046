"""One contract, every storage: whole files by name, in a folder or wherever fsspec reaches."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pytest

from awhile.ask.results.remote import Remote
from awhile.ask.results.storage import Folder, Storage, open_storage
from awhile.errors import SettingsError


def _folder(tmp_path: Path) -> Storage:
    return open_storage((tmp_path / "a folder").as_uri(), tmp_path / "drafts")


def _memory(tmp_path: Path) -> Storage:
    return open_storage(f"memory://{uuid4().hex}/results", tmp_path / "drafts")


def _local_files(tmp_path: Path) -> Storage:
    """fsspec's own file system: a storage where a file is seen while it is written."""
    files: Any = fsspec
    return Remote(files.filesystem("file"), str(tmp_path / "shared"), tmp_path / "drafts")


def _named(tmp_path: Path) -> Storage:
    return open_storage(f"{os.environ[STORAGE]}/{uuid4().hex}", tmp_path / "drafts")


STORAGE = "AWHILE_TEST_STORAGE"
"""Names the variable with the URL of a further storage to test in, such as s3://bucket."""


@pytest.fixture(
    params=[_folder, _memory, _local_files, *([_named] if STORAGE in os.environ else [])]
)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    make: Callable[[Path], Storage] = request.param
    return make(tmp_path)


def kept(storage: Storage, name: str, content: bytes) -> None:
    draft = storage.drafts.new(name)
    draft.write_bytes(content)
    storage.keep(name, draft, lambda: None)


def test_a_draft_is_nobody_elses_until_it_is_kept(storage: Storage) -> None:
    """Ours: a worker that was frozen removes its own draft, not the result of who took over."""
    frozen, later = storage.drafts.new("abc.parquet"), storage.drafts.new("abc.parquet")
    assert frozen != later
    frozen.write_bytes(b"frozen")
    later.write_bytes(b"later")
    assert storage.find("abc.parquet") is None
    storage.keep("abc.parquet", later, lambda: None)
    frozen.unlink()
    assert storage.part("abc.parquet", 0, 100) == b"later"
    assert not later.exists()


def test_a_file_is_read_part_by_part(storage: Storage) -> None:
    kept(storage, "abc.parquet", bytes(range(256)))
    found = storage.find("abc.parquet")
    assert found is not None
    assert (found.size, storage.part("abc.parquet", 250, 256)) == (256, bytes(range(250, 256)))
    with pytest.raises(FileNotFoundError):
        storage.part("none.parquet", 0, 1)


def test_another_file_of_the_same_name_has_another_version(storage: Storage) -> None:
    kept(storage, "abc.parquet", b"one")
    first = storage.find("abc.parquet")
    kept(storage, "abc.parquet", b"two and more")
    second = storage.find("abc.parquet")
    assert first is not None
    assert second is not None
    assert first.version != second.version
    assert storage.part("abc.parquet", 0, 3) == b"two"


def test_small_files_are_written_over_and_read_together(storage: Storage) -> None:
    storage.write("a.json", b"1")
    storage.write("a.json", b"2")
    storage.write("b.json", b"3")
    assert storage.read(["a.json", "b.json", "none.json"]) == {"a.json": b"2", "b.json": b"3"}
    assert storage.read([]) == {}


def test_names_are_those_of_whole_files(storage: Storage) -> None:
    assert storage.names(".json") == []
    storage.drafts.new("c.json").write_bytes(b"left behind by a crash")
    storage.write("a.json", b"1")
    kept(storage, "b.parquet", b"2")
    assert storage.names(".json") == ["a.json"]


def test_a_keeping_that_is_stopped_keeps_nothing(storage: Storage) -> None:
    class Enough(Exception):
        pass

    def stop() -> None:
        raise Enough

    draft = storage.drafts.new("abc.parquet")
    draft.write_bytes(b"x" * 1000)
    with pytest.raises(Enough):
        storage.keep("abc.parquet", draft, stop)
    assert storage.names("") == []


def test_an_upload_is_taken_back_in_its_midst(tmp_path: Path) -> None:
    class Enough(Exception):
        pass

    asked: list[int] = []

    def stop() -> None:
        asked.append(len(asked))
        if len(asked) == 2:
            raise Enough

    storage = _memory(tmp_path)
    draft = storage.drafts.new("abc.parquet")
    draft.write_bytes(b"x" * 1000)
    with pytest.raises(Enough):
        storage.keep("abc.parquet", draft, stop)
    assert storage.names("") == []


def test_deleting_deletes_what_a_crash_left_of_it(tmp_path: Path) -> None:
    storage = Folder(tmp_path)
    kept(storage, "abc.parquet", b"1")
    storage.write("abc.json", b"2")
    storage.drafts.new("abc.parquet").write_bytes(b"left behind")
    storage.drafts.new("abc.parquet").with_suffix(".parquet.part").write_bytes(b"left behind")
    storage.delete("abc.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["abc.json"]
    storage.delete("abc.parquet")


def test_deleting_is_done_once_and_may_be_repeated(storage: Storage) -> None:
    kept(storage, "abc.parquet", b"1")
    for _ in range(2):
        storage.delete("abc.parquet")
    assert storage.find("abc.parquet") is None


def test_a_storage_that_fails_says_which_and_what_to_do(tmp_path: Path) -> None:
    class Broken:
        protocol = "s3"

        def info(self, path: str) -> object:
            raise PermissionError("no")

    with pytest.raises(OSError, match=r"'bucket/results' did not do .*Check its address"):
        Remote(Broken(), "bucket/results", tmp_path).find("abc.parquet")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("s3://bucket/prefix", r"pip install s3fs"),
        ("gs://bucket", r"pip install gcsfs"),
        ("az://container", r"pip install adlfs"),
        ("nonsense://x", r"no storage that fsspec knows"),
        ("file://server/share", r"three slashes"),
    ],
)
def test_a_missing_driver_is_named_with_its_package(url: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=said):
        open_storage(url, tmp_path)


def test_without_fsspec_the_driver_is_named_that_brings_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(SettingsError, match="pip install s3fs"):
        open_storage("s3://bucket/prefix", tmp_path)
