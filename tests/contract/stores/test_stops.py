"""A stop that another process asks for reaches the body whenever it is written, in every store."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from psycopg.conninfo import conninfo_to_dict

from awhile.runtime.ending import Returned
from awhile.runtime.run import Run
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.stores.postgres import connections
from awhile.tasks import Status, StoppedHow, TaskRecord
from awhile.tasks import events as ev
from awhile.testing.store_case import PATIENCE_SECONDS
from tests.contract.stores.proxy import Proxy
from tests.machine.runtime.conftest import Bodies, row

pytestmark = pytest.mark.anyio


async def for_ever(_run: Run) -> Returned:
    await anyio.sleep_forever()
    raise AssertionError


PROGRAM = Bodies(long=for_ever)


async def stopped(store: Store, task_id: str) -> None:
    """Wait, bounded, until its body has been stopped."""
    async with store.watch([task_id]) as watch:
        while not ((record := await store.get(task_id)) and record.status.ended):
            assert await watch.wait(PATIENCE_SECONDS), f"not stopped: {record}"
    assert (record.status, record.stopped_how) == (Status.CANCELLED, StoppedHow.COROUTINE_ENDED)


@pytest.mark.parametrize("heard", [True, False], ids=["heard before", "heard after"])
async def test_A6_a_stop_between_the_commit_of_a_task_and_the_start_of_its_body_is_obeyed(
    every_store_url: str, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    """Ours. Field case A6. The worker may hear of it before it knows the task as its own."""
    async with open_store(every_store_url) as store, open_store(every_store_url) as second:
        create = store.create

        async def create_and_be_stopped(record: TaskRecord, **more: Any) -> TaskRecord:
            made = await create(record, **more)
            async with store.watch([made.task_id]) as watch:
                await second.append(made.task_id, ev.CancelAsked(), wall_clock_ms())
                if heard:
                    assert await watch.wait(PATIENCE_SECONDS)
                    await anyio.wait_all_tasks_blocked()
            return made

        async with Worker(store, PROGRAM).running() as worker:
            monkeypatch.setattr(store, "create", create_and_be_stopped)
            made = await worker.submit(for_ever, row("long"), tool="long")
            await stopped(second, made.task_id)


@pytest.mark.postgres
async def test_A6_a_stop_that_is_asked_while_the_store_is_out_of_reach_is_obeyed_afterwards(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours. Field case A6. Out of the worker's reach alone: whoever asks, reaches it."""
    monkeypatch.setattr(connections, "ANSWER_SECONDS", 0.2)
    port = int(conninfo_to_dict(postgres_url.partition("?")[0])["port"] or 5432)
    async with Proxy(port) as proxy, open_store(postgres_url) as second:
        behind = postgres_url.replace(f":{port}/", f":{proxy.port}/") + "&listen=off"
        async with open_store(behind) as store, Worker(store, PROGRAM).running() as worker:
            made = await worker.submit(for_ever, row("long"), tool="long")
            proxy.silent = True
            await second.append(made.task_id, ev.CancelAsked(), wall_clock_ms())
            with anyio.fail_after(PATIENCE_SECONDS):
                await proxy.lost_a_reply.wait()
            proxy.silent = False
            await stopped(second, made.task_id)
