"""When a schema card is read, looked at, and kept although it could not be read again."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest

from awhile.ask.engines.errors import EngineLost, QueryRefused
from awhile.ask.engines.workers.cards import Cards
from awhile.ask.schema import Schema, Table

pytestmark = pytest.mark.anyio


@dataclass
class Database:
    """A database whose catalog can be looked at and read, which takes time."""

    look_seconds: float | None = None
    tables: list[str] = field(default_factory=lambda: ["orders"])
    written: int = 0
    time: float = 1000.0
    cost: float = 1.0
    broken: Exception | None = None
    asked: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.cards = Cards(
            self.look,
            self.read,
            lambda: self.written,
            look_seconds=self.look_seconds,
            now=lambda: self.time,
        )

    async def look(self, principal: str | None) -> str:
        self.asked.append("look")
        if self.broken is not None:
            raise self.broken
        return f"{principal} {self.tables}"

    async def read(self, principal: str | None) -> tuple[str, Schema]:
        self.asked.append("read")
        if self.broken is not None:
            raise self.broken
        await anyio.lowlevel.checkpoint()
        self.time += self.cost
        tables = tuple(Table(name, ()) for name in self.tables)
        return f"{principal} {self.tables}", Schema(tables, str(principal))

    async def names(self, principal: str | None = None) -> list[str]:
        return [table.name for table in (await self.cards.get(principal)).tables]

    def asked_since(self) -> list[str]:
        asked, self.asked = self.asked, []
        return asked


async def test_a_card_is_read_once_for_all_who_ask_at_once() -> None:
    database = Database()
    async with anyio.create_task_group() as group:
        for _ in range(10):
            group.start_soon(database.cards.get)
    assert database.asked == ["read"]
    assert await database.cards.get() is await database.cards.get()


async def test_a_file_is_looked_at_only_when_it_was_written() -> None:
    database = Database()
    await database.cards.get()
    database.time += 10_000
    await database.cards.get()
    assert database.asked_since() == ["read"]
    database.tables.append("returns")
    database.written += 1
    assert await database.names() == ["orders", "returns"]
    assert database.asked_since() == ["look", "read"]


async def test_where_only_data_change_all_the_time_statistics_cost_a_twentieth_of_it() -> None:
    database = Database(cost=2.0)
    await database.cards.get()
    reads = 0
    for _ in range(400):
        database.written += 1
        database.time += 1
        await database.cards.get()
    reads = database.asked_since().count("read")
    assert 400 / 50 <= reads <= 400 / 40 + 1


async def test_a_server_is_looked_at_after_so_many_seconds_and_not_before() -> None:
    database = Database(look_seconds=60)
    await database.cards.get()
    database.tables.append("returns")
    database.time += 59
    assert await database.names() == ["orders"]
    database.time += 2
    assert await database.names() == ["orders", "returns"]
    assert database.asked_since() == ["read", "look", "read"]


async def test_a_query_that_failed_for_a_name_makes_the_next_look_come_at_once() -> None:
    database = Database(look_seconds=60)
    await database.cards.get()
    database.tables.append("returns")
    database.time += 2
    database.cards.suspect()
    assert await database.names() == ["orders", "returns"]
    database.asked_since()
    database.cards.suspect()  # again at once: whoever repeats a wrong name costs nothing
    await database.cards.get()
    assert database.asked_since() == []
    database.tables.append("refunds")
    database.time += 2
    assert await database.names() == ["orders", "returns", "refunds"]  # and is not forgotten
    assert database.asked_since() == ["look", "read"]
    database.time += 2
    await database.cards.get()
    assert database.asked_since() == []


async def test_statistics_of_a_server_are_read_again_after_minutes() -> None:
    database = Database(look_seconds=60)
    await database.cards.get()
    for _ in range(4):
        database.time += 61
        await database.cards.get()
    assert database.asked_since() == ["read", "look", "look", "look", "look"]
    database.time += 61
    await database.cards.get()
    assert database.asked_since() == ["look", "read"]


async def test_the_old_card_is_kept_where_it_cannot_be_read_again_and_says_so() -> None:
    database = Database()
    first = await database.cards.get()
    database.broken, database.written = EngineLost("the server is gone"), 1
    kept = await database.cards.get()
    assert kept.tables == first.tables
    assert kept.notes == (
        "this may be out of date: it could not be read again (the server is gone)",
    )
    assert await database.cards.get() is kept
    assert database.asked_since() == ["read", "look"]  # and not once for each question
    database.broken = None
    database.time += 6
    assert (await database.cards.get()).notes == ()


async def test_without_a_card_the_reason_is_an_error() -> None:
    database = Database(broken=EngineLost("the server is gone"))
    with pytest.raises(EngineLost):
        await database.cards.get()
    database.broken = None
    assert await database.names() == ["orders"]


async def test_who_may_ask_no_more_is_not_shown_the_card_of_before() -> None:
    database = Database()
    await database.cards.get("ann")
    database.broken, database.written = QueryRefused("ann", "there is no such role"), 1
    with pytest.raises(QueryRefused):
        await database.cards.get("ann")
    with pytest.raises(QueryRefused):
        await database.cards.get("ann")


async def test_everybody_has_a_card_of_their_own_and_the_oldest_are_forgotten() -> None:
    database = Database(cost=0.0)
    assert (await database.cards.get("ann")).database == "ann"
    assert (await database.cards.get("bob")).database == "bob"
    for number in range(99):
        await database.cards.get(str(number))
    database.asked_since()
    await database.cards.get("bob")
    assert database.asked_since() == []
    await database.cards.get("ann")
    assert database.asked_since() == ["read"]


async def test_changed_tells_another_catalog_from_other_data() -> None:
    database = Database()
    card = await database.cards.get()
    assert not await database.cards.changed(card)
    database.written += 1
    assert not await database.cards.changed(card)
    database.tables.append("returns")
    database.written += 1
    assert await database.cards.changed(card)
    newer = await database.cards.get()
    assert await database.cards.changed(card)  # somebody else has read the new one meanwhile
    assert not await database.cards.changed(newer)


async def test_changed_is_no_where_it_cannot_be_told() -> None:
    database = Database()
    card = await database.cards.get()
    database.broken, database.written = EngineLost("the server is gone"), 1
    assert not await database.cards.changed(card)
