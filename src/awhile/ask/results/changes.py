"""What changed between two results of the same question: which rows came, went, or have other
numbers.

Rows are matched by what they are about (every column that is no amount), where that tells them
apart in both results; else as wholes. Source: ours.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal

from awhile.ask.results.roles import look
from awhile.ask.results.rows import rows_of
from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, scratch, text_of

if TYPE_CHECKING:
    import duckdb

    from awhile.ask.schema import Column

__all__ = ["MOST_CHANGES", "Change", "Changes", "NotComparable", "changes"]

MOST_CHANGES = 200
"""How many changed rows are told; the counts are of all."""

_MEMORY = "512MB"
_AMOUNT = "measure"


class NotComparable(Exception):
    """The two results have nothing to be compared by; the text says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row: its cells `before` and `after`, exact; None where it was not there.

    `differences` has, for every column that is an amount, after less before; None for the others,
    and where there is nothing to be subtracted.
    """

    kind: Literal["changed", "new", "gone"]
    before: tuple[str | None, ...] | None
    after: tuple[str | None, ...] | None
    differences: tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed, the rows that did (`MOST_CHANGES` at most), and how many there are in all."""

    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    """The columns that tell what a row is about; empty where rows were compared as wholes."""
    rows: tuple[Change, ...]
    changed: int
    new: int
    gone: int
    same: int


def changes(before: Source, after: Source) -> Changes:
    """Compare two stored results. Blocking: call it in a thread.

    Raises:
        NotComparable: their columns differ.
        FileNotFoundError: one of them is not there.
    """
    with ExitStack() as stack:
        old = stack.enter_context(Stored.open(before))
        new = stack.enter_context(Stored.open(after))
        if [one.name for one in old.columns] != [one.name for one in new.columns]:
            raise NotComparable("The two results have other columns, so they cannot be compared.")
        amounts = [column.position for column in look(new) if column.role == _AMOUNT]
        keys = [at for at in range(len(new.columns)) if at not in amounts]
        connection = stack.enter_context(scratch(memory_limit=_MEMORY))
        for name, stored in (("old", old), ("new", new)):
            texts = ", ".join(
                f"{text_of(column_name(at), kind)} AS {column_name(at)}"
                for at, kind in enumerate(stored.kinds)
            )
            connection.from_arrow(rows_of(stored, range(len(stored.kinds)))).create_view("rows_of")
            connection.execute(f"CREATE TABLE {name} AS SELECT {texts} FROM rows_of")  # noqa: S608
            connection.execute("DROP VIEW rows_of")
        one_each = old.row_count == new.row_count == 1
        if not one_each and not (keys and _told_apart(connection, keys)):
            keys = list(range(len(new.columns)))
            amounts = []
        return _compared(connection, new.columns, keys, amounts, by_place=one_each)


def _told_apart(connection: duckdb.DuckDBPyConnection, keys: list[int]) -> bool:
    names = ", ".join(column_name(at) for at in keys)
    return not any(
        connection.execute(
            f"SELECT 1 FROM {table} GROUP BY {names} HAVING count(*) > 1 LIMIT 1"  # noqa: S608
        ).fetchall()
        for table in ("old", "new")
    )


def _compared(
    connection: duckdb.DuckDBPyConnection,
    columns: tuple[Column, ...],
    keys: list[int],
    amounts: list[int],
    *,
    by_place: bool,
) -> Changes:
    names = [column_name(at) for at in range(len(columns))]
    on = " AND ".join(f"old.{names[at]} IS NOT DISTINCT FROM new.{names[at]}" for at in keys)
    differs = " OR ".join(f"old.{name} IS DISTINCT FROM new.{name}" for name in names)
    connection.execute(
        f"""
        CREATE TABLE compared AS SELECT
            CASE WHEN new.place IS NULL THEN 'gone' WHEN old.place IS NULL THEN 'new'
                WHEN {differs} THEN 'changed' ELSE 'same' END AS change,
            coalesce(new.place, old.place) AS place,
            {", ".join(f"old.{name} AS old_{name}, new.{name} AS new_{name}" for name in names)}
        FROM (SELECT *, row_number() OVER () AS place{_copies(names, keys)} FROM old) AS old
        FULL JOIN (SELECT *, row_number() OVER () AS place{_copies(names, keys)} FROM new) AS new
        ON {"true" if by_place else f"{on} AND old.copy = new.copy"}
        """  # noqa: S608 - of positions
    )
    counted = dict(
        connection.execute("SELECT change, count(*) FROM compared GROUP BY change").fetchall()
    )
    found = connection.execute(
        "SELECT * FROM compared WHERE change <> 'same' ORDER BY change = 'gone', place LIMIT ?",
        [MOST_CHANGES],
    ).fetchall()
    return Changes(
        columns=columns,
        keys=() if len(keys) == len(columns) else tuple(keys),
        rows=tuple(_change(row, amounts) for row in found),
        changed=counted.get("changed", 0),
        new=counted.get("new", 0),
        gone=counted.get("gone", 0),
        same=counted.get("same", 0),
    )


def _copies(names: list[str], keys: list[int]) -> str:
    """Rows that are alike are counted, so that each is matched with one of its own."""
    if not keys:
        return ", 1 AS copy"
    return f", row_number() OVER (PARTITION BY {', '.join(names[at] for at in keys)}) AS copy"


def _change(row: tuple[object, ...], amounts: list[int]) -> Change:
    kind, cells = str(row[0]), row[2:]
    before = tuple(None if one is None else str(one) for one in cells[::2])
    after = tuple(None if one is None else str(one) for one in cells[1::2])
    differences = tuple(
        _difference(before[at], after[at]) if kind == "changed" and at in amounts else None
        for at in range(len(after))
    )
    match kind:
        case "new":
            return Change("new", None, after, differences)
        case "gone":
            return Change("gone", before, None, differences)
        case _:
            return Change("changed", before, after, differences)


def _difference(before: str | None, after: str | None) -> str | None:
    """After less before, with all digits; None where it is no number or nothing changed."""
    if before is None or after is None or before == after:
        return None
    try:
        difference = Decimal(after) - Decimal(before)
    except InvalidOperation:
        return None
    return f"{difference:+f}" if difference.is_finite() else None
