"""One deadline over all the work of a run; field case D6."""

from __future__ import annotations

import anyio
import pytest

from awhile.ask.answer.deadline import Deadline
from awhile.ask.engines.errors import QueryInterrupted

pytestmark = pytest.mark.anyio


class Clock:
    """Moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_what_the_work_takes_is_used_up_and_what_a_person_takes_is_not() -> None:
    clock = Clock()
    deadline = Deadline(10, now=clock)
    with deadline.spent():
        clock.now += 3
    clock.now += 3600  # a person thinks
    assert deadline.left == 7
    with deadline.spent():
        clock.now += 100
    assert deadline.left == pytest.approx(0, abs=0.01)


async def test_work_that_hangs_is_cut_off_and_the_query_had_not_begun() -> None:
    with (
        anyio.fail_after(10),
        pytest.raises(QueryInterrupted, match=r"budget of 0\.05 s") as late,
        Deadline(0.05).counting(),
    ):
        await anyio.sleep_forever()
    assert late.value.how == "never_started"


async def test_an_engine_that_had_the_rest_of_it_speaks_of_the_whole() -> None:
    clock = Clock()
    deadline = Deadline(10, now=clock)
    with deadline.counting():
        clock.now += 8
    with pytest.raises(QueryInterrupted, match="budget of 10 s") as late, deadline.spent():
        raise QueryInterrupted("engine_confirmed", 0.1, deadline.left or 0, rows=7)
    assert (late.value.how, late.value.rows) == ("engine_confirmed", 7)


def test_without_one_it_takes_as_long_as_it_takes() -> None:
    deadline = Deadline(None)
    with deadline.spent():
        pass
    assert deadline.left is None
