"""Keys a database does not declare, inferred from names and types.

Source: ours. Only what every reader of the table names would guess as well: `customers` is
identified by `customer_id` or `id`, and another table's `customer_id` points there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from awhile.ask.schema import ForeignKey, Table, TableColumn

__all__ = ["singular", "with_inferred_keys"]


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
    if key_name != "id" and one in key_name:
        names.add(key_name)
    return name in names
