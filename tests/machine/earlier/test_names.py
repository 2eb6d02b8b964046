"""The numbers of results: each person's own, given once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from awhile.ask.results.names import ResultNames
from awhile.ask.results.storage import Folder, Storage, open_storage

RUNS = [f"{number:032x}" for number in range(40)]


@pytest.fixture(params=["folder", "elsewhere"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    """A folder, and a storage that fsspec speaks to."""
    if request.param == "folder":
        return Folder(tmp_path / "results")
    return open_storage(f"memory://{tmp_path.name}", tmp_path / "drafts")


def test_numbers_are_counted_for_each_person_and_stay(storage: Storage) -> None:
    names = ResultNames(storage)
    assert [names.give("ada", run) for run in RUNS[:3]] == [1, 2, 3]
    assert names.give("eve", RUNS[3]) == 1
    assert names.give("ada", RUNS[1]) == 2
    assert [names.find("ada", 2), names.find("eve", 1)] == [RUNS[1], RUNS[3]]
    assert [names.find("eve", 2), names.find("nobody", 1)] == [None, None]
    assert [names.highest(who) for who in ("ada", "eve", "nobody")] == [3, 1, 0]


def test_a_number_is_not_given_again_when_its_run_is_gone(storage: Storage) -> None:
    names = ResultNames(storage)
    for run in RUNS[:3]:
        names.give("ada", run)
    names.delete(RUNS[:3])
    assert names.find("ada", 1) is None
    assert names.highest("ada") == 3
    assert names.give("ada", RUNS[4]) == 4


def test_of_several_at_once_each_gets_a_number_of_its_own(storage: Storage) -> None:
    given: dict[str, int] = {}

    def replica(runs: list[str]) -> None:
        names = ResultNames(storage)
        for run in runs:
            given[run] = names.give("ada", run)

    threads = [threading.Thread(target=replica, args=(RUNS[at::4],)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(set(given.values())) == len(RUNS)
    names = ResultNames(storage)
    assert all(names.find("ada", number) == run for run, number in given.items())


def test_a_storage_tells_no_names_of_people(tmp_path: Path) -> None:
    ResultNames(Folder(tmp_path)).give("ada@example.org", RUNS[0])
    assert [path.name for path in tmp_path.iterdir() if "ada" in path.name] == []
