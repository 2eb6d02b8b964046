"""The results of runs: any view of them, on any replica, one copy made once, and stoppable."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path
from uuid import uuid4

import anyio
import pytest

from awhile.ask.results import Filter, Results, Sort, View
from awhile.ask.results.cache import Cache
from awhile.ask.results.storage import open_storage
from tests.machine.results.writing import write_result

pytestmark = pytest.mark.anyio

MEGABYTE = 1024 * 1024
PATIENCE_SECONDS = 30


async def keep(results: Results, run_id: str, written: Path) -> None:
    draft = results.draft(run_id)
    shutil.copy(written, draft)
    await results.keep(run_id, draft)


@pytest.fixture
async def results(tmp_path: Path, written: Path) -> Results:
    made = Results.in_folder(tmp_path / "results")
    await keep(made, "abc", written)
    return made


def views(folder: Path) -> list[Path]:
    return sorted((folder / "results" / ".views").glob("*"))


def replica(where: str, folder: Path, *, cache_bytes: int = 100 * MEGABYTE) -> Results:
    """One of several processes on the same results, with a folder of its own."""
    storage = open_storage(where, folder / "drafts")
    return Results(storage, Cache(folder / "cache", cache_bytes))


async def test_a_view_is_made_once_and_paged(results: Results, tmp_path: Path) -> None:
    view = View(Sort(1), (Filter(2, "=", "w3"),))
    first = await results.page("abc", 0, 2, view)
    assert [row[0] for row in first.rows] == ["49993", "49983"]
    assert (first.row_count, first.matching_rows) == (50_000, 5_000)
    [copy] = views(tmp_path)
    written_at = copy.stat().st_ino
    later = await results.page("abc", 4_999, 2, view)
    assert [row[0] for row in later.rows] == ["3"]
    assert [path.stat().st_ino for path in views(tmp_path)] == [written_at]


async def test_two_who_want_the_same_view_wait_for_one(results: Results, tmp_path: Path) -> None:
    found: list[str | None] = []

    async def look() -> None:
        found.append((await results.page("abc", 0, 1, View(Sort(0, True)))).rows[0][0])

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(look)
    assert found == ["49999"] * 4
    assert len(views(tmp_path)) == 1


async def test_who_leaves_stops_the_sort_and_who_stays_gets_it(tmp_path: Path) -> None:
    """Ours: the sort of whoever has left is interrupted, and nothing of it goes on."""
    results = Results.in_folder(tmp_path / "results")
    await keep(
        results,
        "abc",
        write_result(
            tmp_path / "large.parquet", "SELECT hash(range)::VARCHAR FROM range(150_000)", ["ANY"]
        ),
    )
    began, left = anyio.Event(), anyio.Event()
    scope = anyio.CancelScope()

    async def leave() -> None:
        with scope:
            began.set()
            await results.page("abc", 0, 1, View(Sort(0)))
        left.set()

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            group.start_soon(leave)
            await began.wait()
            while not any(".part" in path.name for path in views(tmp_path)):  # noqa: ASYNC110
                await anyio.sleep(0.001)
            scope.cancel()
            await left.wait()
            assert views(tmp_path) == []
        assert scope.cancelled_caught
        assert (await results.page("abc", 0, 1, View(Sort(0)))).row_count == 150_000


async def test_deleting_a_result_deletes_its_views(results: Results, tmp_path: Path) -> None:
    await results.page("abc", 0, 1, View(Sort(0, True)))
    await results.delete(["abc", "none"])
    assert views(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        await results.page("abc", 0, 1)


async def test_a_result_in_its_place_has_views_of_its_own(results: Results, tmp_path: Path) -> None:
    """Ours: a run that is executed again replaces its result; no old view may be shown of it."""
    view = View(Sort(0, True))
    assert (await results.page("abc", 0, 1, view)).rows[0][0] == "49999"
    await keep(results, "abc", write_result(tmp_path / "new.parquet", "SELECT 7 AS n"))
    assert (await results.page("abc", 0, 1, view)).rows == [["7"]]


@pytest.mark.parametrize("run_id", ["../x", "a/b", "", ".", "a.b"])
async def test_an_id_that_could_name_another_file_is_refused(run_id: str, results: Results) -> None:
    with pytest.raises(ValueError, match="no run id"):
        await results.page(run_id, 0, 1)
    with pytest.raises(ValueError, match="no run id"):
        results.draft(run_id)


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_any_replica_answers_for_what_another_has_kept(
    kind: str, tmp_path: Path, written: Path
) -> None:
    where = f"memory://{uuid4().hex}" if kind == "memory" else (tmp_path / "shared").as_uri()
    one, other = replica(where, tmp_path / "one"), replica(where, tmp_path / "other")
    await keep(one, "abc", written)
    for each in (one, other):
        assert (await each.page("abc", 40_000, 1)).rows[0][:2] == ["40000", "60000"]
        assert (await each.page("abc", 0, 1, View(Sort(0, True)))).rows[0][0] == "49999"
    assert await other.run_ids() == ["abc"]
    await other.delete(["abc"])
    with pytest.raises(FileNotFoundError):
        await one.page("abc", 0, 1)
    assert not list((tmp_path / "other" / "cache").glob("*"))


async def test_a_page_from_elsewhere_reads_a_part_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the first page of a large result does not wait for all of it."""
    block = 16 * 1024
    monkeypatch.setattr("awhile.ask.results.ranged.BLOCK_BYTES", block)
    large = write_result(
        tmp_path / "large.parquet", "SELECT range, md5(range::VARCHAR) FROM range(50_000)"
    )
    here = replica(f"memory://{uuid4().hex}", tmp_path)
    await keep(here, "abc", large)

    def fetched() -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in (tmp_path / "cache").glob("*.block")}

    assert (await here.page("abc", 49_000, 1)).rows[0][0] == "49000"
    first = fetched()
    assert 0 < len(first) * block < os.path.getsize(large) / 2  # noqa: ASYNC240, PTH202
    assert (await here.page("abc", 49_500, 1)).rows[0][0] == "49500"
    assert fetched() == first


def test_a_cache_forgets_what_was_used_least_recently(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 250)
    for name in ("a", "b", "c"):
        with cache.making(name) as part:
            part.write_bytes(b"x" * 100)
    long_ago = time.time() - 1000
    for name in ("a", "b", "c"):
        os.utime(tmp_path / name, (long_ago, long_ago))
    assert cache.used("a") == tmp_path / "a"
    cache.trim()
    assert sorted(path.name for path in tmp_path.iterdir()) in (["a", "b"], ["a", "c"])


def test_what_killed_processes_left_in_a_cache_is_swept(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1000)
    left, under_way = tmp_path / ".a.view.1.part", tmp_path / ".b.view.2.part"
    spilled = tmp_path / ".a.view.1.part.spill"
    spilled.mkdir()
    (spilled / "t.tmp").write_bytes(b"x")
    for path in (left, under_way):
        path.write_bytes(b"x")
    for path in (left, spilled):
        os.utime(path, (0, 0))
    cache.trim()
    assert list(tmp_path.iterdir()) == [under_way]


def test_a_part_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path, 1000)

    def make() -> None:
        with cache.making("a") as part:
            part.write_bytes(b"x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        make()
    assert list(tmp_path.iterdir()) == []
