"""The foreign-key graph."""

from __future__ import annotations

import pytest

from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn
from awhile.ask.translators.joins import Joins, TwoWays


def table(name: str, *targets: str) -> Table:
    """A table with an `id` and one key for each target, `target` or `column:target`."""
    keys: list[ForeignKey] = []
    for target in targets:
        column, _, other = target.rpartition(":")
        keys.append(ForeignKey((column or f"{other}_id",), other, ("id",)))
    columns = (TableColumn("id", "INTEGER"), *(TableColumn(k.columns[0], "INTEGER") for k in keys))
    return Table(name, columns, ("id",), tuple(keys))


SHOP = Joins(
    Schema(
        (
            table("customer"),
            table("product"),
            table("orders", "customer"),
            table("line", "orders", "product"),
            table("alone"),
        )
    )
)


def test_a_path_follows_keys_to_what_is_looked_up() -> None:
    hops = SHOP.path("line", "customer")
    assert [(hop.table, hop.key.table) for hop in hops] == [
        ("line", "orders"),
        ("orders", "customer"),
    ]


def test_the_base_is_the_nearest_table_that_looks_up_all_of_them() -> None:
    assert SHOP.base(["customer", "product"]) == "line"
    assert SHOP.base(["customer"]) == "customer"
    assert SHOP.base(["customer", "alone"]) is None


def test_two_keys_to_one_table_are_a_question_and_no_guess() -> None:
    flights = Joins(Schema((table("city"), table("flight", "origin:city", "destination:city"))))
    with pytest.raises(TwoWays):
        flights.path("flight", "city")


def test_two_tables_that_link_equally_well_are_a_question_and_no_guess() -> None:
    schema = Schema((table("a"), table("b"), table("x", "a", "b"), table("y", "a", "b")))
    with pytest.raises(TwoWays):
        Joins(schema).base(["a", "b"])


def test_a_key_to_its_own_table_does_not_trap_the_search() -> None:
    staff = Joins(Schema((table("staff", "boss:staff"), table("sale", "staff"))))
    assert staff.reach("sale") == {"sale": 0, "staff": 1}


def test_a_ring_of_keys_does_not_trap_the_search() -> None:
    ring = Joins(Schema((table("a", "b"), table("b", "c"), table("c", "a"))))
    assert ring.reach("a") == {"a": 0, "b": 1, "c": 2}
    assert [hop.table for hop in ring.path("a", "c")] == ["a", "b"]
