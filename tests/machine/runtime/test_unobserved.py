"""Work that nobody looks at: stopped when its task says so, and not before."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from awhile.runtime.ending import Returned
from awhile.runtime.limits import spoken
from awhile.runtime.run import Run
from awhile.runtime.worker import wall_clock_ms
from awhile.tasks import Status, StoppedHow
from tests.machine.runtime.conftest import Bodies, Shop, returned, row

pytestmark = pytest.mark.anyio


async def for_ever(_run: Run) -> Returned:
    await anyio.sleep_forever()
    return returned()


async def test_work_that_nobody_looks_at_is_stopped_and_says_so(shop: Shop) -> None:
    """Ours: failed, since nobody asked for it to be cancelled."""
    program = Bodies(long=for_ever)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "long", unobserved_ms=100)
        record = await shop.store.ended(task_id)
    assert record.status is Status.FAILED
    assert record.status_message == "Stopped: nobody had looked at this for 0.1 seconds."
    assert record.error is not None
    assert record.error["data"] == {"reason": "unobserved"}
    assert record.stopped_at_ms is not None
    assert record.cancel_asked is False


async def test_work_goes_on_while_somebody_looks(shop: Shop) -> None:
    """Ours."""
    go_on = anyio.Event()

    async def body(_run: Run) -> Returned:
        await go_on.wait()
        return returned()

    program = Bodies(body=body)
    async with shop.working(program) as worker:
        created = wall_clock_ms()
        task_id = await shop.submit(worker, program, "body", unobserved_ms=1500)
        await shop.store.looked([task_id], created + 60_000)
        with anyio.move_on_after(2):
            await shop.store.ended(task_id)
        go_on.set()
        record = await shop.store.ended(task_id)
    assert record.status is Status.COMPLETED


async def test_work_nobody_has_looked_at_since_long_before_is_not_begun(shop: Shop) -> None:
    """Ours: it waited in line for longer than anybody cared."""
    begun: list[int] = []

    async def body(_run: Run) -> Returned:
        begun.append(1)
        return returned()

    program = Bodies(body=body)
    one = row("body", unobserved_ms=60_000)()
    async with shop.working(program):
        await shop.store.create(replace(one, created_at_ms=one.created_at_ms - 120_000))
        record = await shop.store.ended(one.task_id)
    assert (record.status, begun) == (Status.FAILED, [])
    assert record.status_message == "Stopped: nobody had looked at this for 1 minute."


async def test_unobserved_work_that_cannot_be_stopped_says_that_too(shop: Shop) -> None:
    """Ours."""
    go_on = anyio.Event()

    async def deaf(_run: Run) -> Returned:
        with anyio.CancelScope(shield=True):
            await go_on.wait()
        return returned()

    program = Bodies(give_up=0.1, deaf=deaf)
    async with shop.working(program) as worker:
        task_id = await shop.submit(worker, program, "deaf", unobserved_ms=50)
        record = await shop.store.ended(task_id)
        go_on.set()
    assert record.stopped_how is StoppedHow.NOT_STOPPED
    assert record.status_message == (
        "Stopped: nobody had looked at this for 0.05 seconds. It could not be stopped, and may "
        "still be having effects."
    )


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (1_800_000, "30 minutes"),
        (60_000, "1 minute"),
        (90_000, "90 seconds"),
        (3_600_000, "1 hour"),
        (86_400_000, "1 day"),
        (1000, "1 second"),
    ],
)
def test_a_duration_is_said_as_a_person_would(ms: int, words: str) -> None:
    assert spoken(ms) == words
