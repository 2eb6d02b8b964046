"""One cell of a stored result, whole, part by part: a page cuts those that are very long."""

from __future__ import annotations

from dataclasses import dataclass

from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, scratch, text_of

__all__ = ["CellPart", "cell_part"]


@dataclass(frozen=True, slots=True)
class CellPart:
    """A part of a cell's exact text; None for NULL. `characters` is of the whole."""

    text: str | None
    characters: int


def cell_part(source: Source, row: int, column: int, start: int, characters: int) -> CellPart:
    """The text of a cell from `start` on, `characters` of it at most.

    Raises `FileNotFoundError`, and `IndexError` for a cell that is not there. Blocking: call it in
    a thread.
    """
    with Stored.open(source) as stored, scratch() as connection:
        if not 0 <= column < len(stored.columns):
            raise IndexError(f"there is no column {column!r}; there are {len(stored.columns)}")
        text = text_of(column_name(column), stored.kinds[column])
        for table in stored.groups(row, 1):
            wanted = f"substr({text}, {start + 1}, {characters}), coalesce(length({text}), 0)"
            part, whole = connection.from_arrow(table).project(wanted).fetchall()[0]
            return CellPart(part, whole)
    raise IndexError(f"there is no row {row!r}; there are {stored.row_count}")
