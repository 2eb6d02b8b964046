"""Rows in portions: bounded, and let go of."""

from __future__ import annotations

import weakref

from awhile.ask.engines.rows import bounded


class Cell(str):
    """A text whose end can be told."""

    __slots__ = ("__weakref__",)


def test_a_portion_is_not_held_once_it_is_given() -> None:
    """Ours; field case D8: a cell may be hundreds of megabytes."""
    alive: list[weakref.ref[Cell]] = []

    def row(number: int) -> tuple[str, ...]:
        cell = Cell(number)
        alive.append(weakref.ref(cell))
        return cell, "x" * 20_000_000

    portions = bounded(map(row, range(2)), lambda: None)
    for number in range(2):
        portion = next(portions)
        assert [cells[0] for cells in portion] == [str(number)]
        del portion
        assert alive[-1]() is None
