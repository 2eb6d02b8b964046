"""Pages of rows from a stored result, every cell as exact text (`texts` says which).

Source: ours. A cell of more than 20 000 characters is cut, and says in the cell how long it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import pyarrow as pa

from awhile.ask.results.stored import Source, Stored
from awhile.ask.results.texts import column_name, is_binary, runs_of_columns, scratch, text_of
from awhile.ask.schema import Column

__all__ = ["CELL_CHARACTERS", "Page", "page"]

CELL_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a result, or of what a filter left of it, which are `matching_rows`.

    `row_count` is of the whole result that was kept. `truncated` means that the query had more rows
    than were kept: what is here is the first `row_count` of more.
    """

    columns: tuple[Column, ...]
    rows: list[list[str | None]]
    row_count: int
    truncated: bool
    matching_rows: int


def page(
    source: Source,
    offset: int,
    limit: int,
    *,
    row_count: int | None = None,
) -> Page:
    """Rows `offset` to `offset + limit` of a stored result.

    `row_count` is of the whole result, where this is a part of it. Raises `FileNotFoundError`.
    Blocking: call it in a thread.
    """
    if offset < 0 or limit < 0:
        raise ValueError(f"a page cannot begin at {offset!r} or have {limit!r} rows")
    with Stored.open(source) as stored, scratch() as connection:
        wanted = [
            (run, ", ".join(_shown(column_name(at), stored.kinds[at]) for at in run))
            for run in runs_of_columns(len(stored.kinds))
        ]
        rows: list[list[str | None]] = []
        for table in stored.groups(offset, limit):
            sides = [
                connection.from_arrow(table.select(run)).project(cells).fetchall()
                for run, cells in wanted
            ]
            rows.extend(list(chain(*row)) for row in zip(*sides, strict=True))
        return Page(
            stored.columns,
            rows,
            stored.row_count if row_count is None else row_count,
            stored.truncated,
            stored.row_count,
        )


def _shown(name: str, kind: pa.DataType) -> str:
    """The text of a cell, or the beginning of it with its length."""
    if is_binary(kind):
        size, unit = f"octet_length({name})", "bytes"
        start = text_of(f"{name}[1:{CELL_CHARACTERS}]", kind)
    else:
        size, unit, start = f"length({text_of(name, kind)})", "characters", text_of(name, kind)
    return (
        f"CASE WHEN {size} > {CELL_CHARACTERS} "
        f"THEN left({start}, {CELL_CHARACTERS}) || '… [' || {size} || ' {unit} in all]' "
        f"ELSE {start} END"
    )
