"""Keys a database does not declare, inferred from names and types.

Source: ours. Only what every reader of the table names would guess as well: `customers` is
identified by `customer_id` or `id`, and another table's `customer_id` points there. Where names
are shorter, `author` is identified by an `aid` that is unique in it; and a table that nothing else
identifies, by a column that is unique there and has the same name in other tables (`city_code`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from awhile.ask.schema import ForeignKey, Table, TableColumn

__all__ = ["singular", "with_inferred_keys"]

_SHARED_TAILS = ("_id", "_key", "_code", "_name", "_number", "_no")
_OF_PEOPLE = ("first_name", "last_name", "full_name", "middle_name", "user_name")
"""Names that tables share because they are about people, not because one points at the other."""


def singular(name: str) -> str:
    """The name of one thing of a table named in the plural: `categories` -> `category`."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")):
        if name.endswith(ending) and len(name) > len(ending) + 1:
            return name[: -len(ending)] + instead
    return name[:-1] if name.endswith("s") and not name.endswith(("ss", "us")) else name


def with_inferred_keys(
    tables: tuple[Table, ...], is_unique: Callable[[Table, str], bool]
) -> tuple[Table, ...]:
    """The tables with primary and foreign keys added where none is declared.

    `is_unique(table, column)` is asked only about columns whose name makes them a candidate.
    """
    keyed = tuple(_with_primary_key(table, is_unique) for table in tables)
    keyed = tuple(_with_short_key(table, keyed, is_unique) for table in keyed)
    keyed = tuple(_with_shared_key(table, keyed, is_unique) for table in keyed)
    return tuple(_with_foreign_keys(table, keyed) for table in keyed)


def _bare(table: Table) -> str:
    return table.name.rpartition(".")[2].casefold()


def _with_primary_key(table: Table, is_unique: Callable[[Table, str], bool]) -> Table:
    if table.primary_key or table.row_count is None:
        return table
    one = singular(_bare(table))
    for name in (f"{one}_id", f"{one}id", f"{_bare(table)}_id", "id", f"{one}_key", f"{one}_code"):
        column = table.column(name)
        if column is not None and column.kind in ("integer", "text"):
            if is_unique(table, column.name):
                return replace(table, primary_key=(column.name,))
            return table
    return table


def _with_short_key(
    table: Table, tables: tuple[Table, ...], is_unique: Callable[[Table, str], bool]
) -> Table:
    """`aid` of `author`: of the tables with that initial, only the one with the shortest name."""
    column = table.column(f"{_bare(table)[:1]}id")
    if table.primary_key or table.row_count is None or column is None:
        return table
    same = [
        len(_bare(other))
        for other in tables
        if other is not table
        and _bare(other)[:1] == _bare(table)[:1]
        and other.column(column.name) is not None
    ]
    if any(length <= len(_bare(table)) for length in same) or not _identifies(column):
        return table
    return replace(table, primary_key=(column.name,)) if is_unique(table, column.name) else table


def _with_shared_key(
    table: Table, tables: tuple[Table, ...], is_unique: Callable[[Table, str], bool]
) -> Table:
    """The one column of a table without a key that others share, if it is unique here alone."""
    if table.primary_key or table.row_count is None:
        return table
    shared = [
        column
        for column in table.columns
        if _identifies(column)
        and column.name.casefold().endswith(_SHARED_TAILS)
        and column.name.casefold() not in _OF_PEOPLE
        and any(_has_alike(other, column) for other in tables if other.name != table.name)
    ]
    if len(shared) != 1 or not is_unique(table, shared[0].name):
        return table
    name = shared[0].name
    others = [other for other in tables if other.name != table.name and other.column(name)]
    if any(other.row_count is None or is_unique(other, name) for other in others):
        return table
    return replace(table, primary_key=(name,))


def _identifies(column: TableColumn) -> bool:
    return column.kind in ("integer", "text")


def _has_alike(other: Table, column: TableColumn) -> bool:
    found = other.column(column.name)
    return found is not None and found.kind == column.kind


def _with_foreign_keys(table: Table, tables: tuple[Table, ...]) -> Table:
    spoken_for = {name.casefold() for key in table.foreign_keys for name in key.columns}
    found = list(table.foreign_keys)
    for column in table.columns:
        if column.name.casefold() in spoken_for:
            continue
        targets = [other for other in tables if _points_at(table, column, other)]
        # Two tables that fit equally well are a question, not an answer.
        if len(targets) == 1:
            found.append(
                ForeignKey((column.name,), targets[0].name, targets[0].primary_key, declared=False)
            )
    return replace(table, foreign_keys=tuple(found))


def _points_at(table: Table, column: TableColumn, other: Table) -> bool:
    if other.name == table.name or len(other.primary_key) != 1:
        return False
    key = other.column(other.primary_key[0])
    if key is None or key.kind != column.kind:
        return False
    one, name, key_name = singular(_bare(other)), column.name.casefold(), key.name.casefold()
    names = {f"{one}_{key_name}", f"{one}{key_name}", f"{_bare(other)}_{key_name}"}
    short = key_name == f"{one[:1]}id" or key_name.endswith(_SHARED_TAILS)
    if key_name != "id" and (one in key_name or short):
        names.add(key_name)
    return name in names
