"""`Run.ask` in a later attempt: what a person has answered is not asked again."""

from __future__ import annotations

from typing import Any

import pytest

from awhile.runtime.ending import Returned
from awhile.runtime.run import Run
from awhile.runtime.worker import wall_clock_ms
from awhile.tasks import Lease, TaskRecord
from awhile.tasks import events as ev
from tests.machine.runtime.conftest import Bodies, Shop, returned, row

pytestmark = pytest.mark.anyio

COLOUR = {"method": "elicitation/create", "params": {"message": "Which colour?"}}
SIZE = {"method": "elicitation/create", "params": {"message": "Which size?"}}


def asking(*questions: dict[str, Any], key: str | None = "which") -> Bodies:
    """A body that asks all of these, one after the other, under one key."""

    async def body(run: Run) -> Returned:
        return returned(said=[await run.ask(one, key=key) for one in questions])

    return Bodies(body=body)


async def begun(shop: Shop, **answers: str) -> TaskRecord:
    """A task whose worker vanished after it had asked for the colour, under these keys."""
    one = row("body", lease=Lease(worker="gone", until_ms=wall_clock_ms()), max_attempts=3)()
    await shop.store.create(one)
    for key, answer in answers.items():
        asked = ev.InputAsked(generation=1, key=key.replace("_", "-"), request=COLOUR)
        await shop.store.append(one.task_id, asked, one.created_at_ms)
        if answer:
            given = ev.InputAnswered(responses={key.replace("_", "-"): answer})
            await shop.store.append(one.task_id, given, one.created_at_ms)
    return one


async def answered(shop: Shop, one: TaskRecord, key: str, answer: str) -> None:
    """Answer once that is asked."""
    await shop.store.until(one.task_id, lambda now: key in now.outstanding)
    given = ev.InputAnswered(responses={key: answer})
    await shop.store.append(one.task_id, given, wall_clock_ms())


async def test_an_answer_given_before_the_worker_was_lost_stands(shop: Shop) -> None:
    """Ours."""
    one = await begun(shop, which="blue")
    async with shop.working(asking(COLOUR)):
        assert (await shop.store.ended(one.task_id)).result == {"said": ["blue"]}
    assert (await shop.store.kinds(one.task_id)).count("InputAsked") == 1


async def test_answers_to_one_question_asked_twice_come_in_their_order(shop: Shop) -> None:
    """Ours: the second time it had been asked under a key made of the first."""
    one = await begun(shop, which="blue", which_2="red")
    async with shop.working(asking(COLOUR, COLOUR)):
        assert (await shop.store.ended(one.task_id)).result == {"said": ["blue", "red"]}


async def test_another_question_under_the_same_key_is_asked(shop: Shop) -> None:
    """Ours: an answer counts for the question it was given to."""
    one = await begun(shop, which="blue")
    async with shop.working(asking(SIZE)):
        await answered(shop, one, "which-2", "large")
        assert (await shop.store.ended(one.task_id)).result == {"said": ["large"]}


async def test_what_nobody_had_answered_is_asked_again(shop: Shop) -> None:
    """Ours: its worker vanished while it waited."""
    one = await begun(shop, which="")
    async with shop.working(asking(COLOUR)):
        await answered(shop, one, "which-2", "green")
        assert (await shop.store.ended(one.task_id)).result == {"said": ["green"]}


async def test_without_a_key_it_is_asked_again(shop: Shop) -> None:
    """Ours: nobody can tell that it is the same question."""
    one = await begun(shop, input_1="blue")
    async with shop.working(asking(COLOUR, key=None)):
        await answered(shop, one, "input-1-2", "green")
        assert (await shop.store.ended(one.task_id)).result == {"said": ["green"]}
