"""Starting a run once. Source: ours, "submitting is idempotent by key"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.ask.web.starting import Begun, Starter, Wanted
from tests.machine.web.backend import followed, served, until

pytestmark = pytest.mark.anyio


def wanted(question: str, key: str, **more: Any) -> Wanted:
    return Wanted(tool="ask", arguments={"question": question}, key=key, **more)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.sqlite3'}"


async def test_the_same_question_is_attached_to_while_it_runs_and_started_anew_afterwards(
    store: str,
) -> None:
    go = anyio.Event()
    async with served(store, go) as url, followed(url) as (board, follower):
        starter = Starter(board, follower)
        begun: list[Begun] = []

        async def start(key: str, **more: Any) -> None:
            begun.append(await starter.start(wanted("How many?", key, **more)))

        async with anyio.create_task_group() as at_once:
            for key in ("a", "b"):
                at_once.start_soon(start, key)
        assert len({one.run_id for one in begun}) == 1
        assert sorted(one.attached for one in begun) == [False, True]
        first = begun[0].run_id
        assert (await starter.start(wanted("How many more?", "c"))).run_id != first
        assert (await starter.start(wanted("How many?", "d", anew=True))).run_id != first
        go.set()
        await until(board, lambda _: not any(run.live for run in board.runs()))
        again = await starter.start(wanted("How many?", "e"))
        assert not again.attached
        assert again.run_id not in {one.run_id for one in begun}


async def test_a_retry_by_its_key_is_the_same_run_and_attaches_to_nothing(store: str) -> None:
    go = anyio.Event()
    async with served(store, go) as url, followed(url) as (board, follower):
        starter = Starter(board, follower)
        first = await starter.start(wanted("How many?", "k"))
        retry = await starter.start(wanted("How many?", "k"))
        # As after a restart of the backend: the server remembers what it does not.
        later = await Starter(board, follower).start(wanted("How many?", "k", anew=True))
        assert (retry, later) == (first, first)


async def test_an_edited_version_stops_the_one_before_once_it_is_started(store: str) -> None:
    async with served(store, anyio.Event()) as url, followed(url) as (board, follower):
        starter = Starter(board, follower)
        first = (await starter.start(wanted("How many?", "a"))).run_id
        second = await starter.start(wanted("How many orders?", "b", supersedes=first))
        assert (second.attached, second.superseded) == (False, "stop_asked")
        with anyio.fail_after(10):
            while (run := board.run(first)) is None or run.status != "cancelled":
                await board.changed()
        live = [run.id for run in board.runs() if run.live]
        assert live == [second.run_id]
        third = await starter.start(wanted("How many lines?", "c", supersedes=first))
        assert third.superseded is None
