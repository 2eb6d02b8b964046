"""All rows of a run as JSON, for other programs, a page in memory at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from awhile.cli.screen import as_json

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from typing import TextIO

    from awhile.ask.cli.reach import Reached

PAGE_ROWS = 1000

LONGEST_SHOWN = 20_000
"""`awhile.ask.results.pages.CELL_CHARACTERS`, which takes a while to load; a test compares. A cell
of a page that is longer than this is the beginning of a longer one, with a word about its length
(or bytes, which may be written out longer than that and are whole)."""

Row = list[str | None]


async def page_of(reached: Reached, run_id: str, offset: int, limit: int) -> list[Row]:
    """Some rows of a finished run.

    Raises:
        RemoteError: the server refused, or did not answer.
    """
    asked = {"run_id": run_id, "offset": offset, "limit": limit}
    return (await reached.call("result_rows", asked))["rows"]


async def all_rows(reached: Reached, answer: Mapping[str, Any]) -> AsyncGenerator[list[Row]]:
    """The rows of a finished run, page by page; those the answer carries are not asked for again.

    Raises:
        RemoteError: the server refused a page, or did not answer.
    """
    first: list[Row] = answer.get("rows") or []
    yield first
    offset, total = len(first), int(answer.get("row_count") or 0)
    while offset < total:
        page = await page_of(reached, str(answer["run_id"]), offset, PAGE_ROWS)
        if not page:
            return
        yield page
        offset += len(page)


async def _whole(reached: Reached, run_id: str, row: int, cells: Row) -> Row:
    """A row as the database has it, where a page has only the beginning of a cell."""
    return [
        await _cell(reached, run_id, row, column)
        if cell is not None and len(cell) > LONGEST_SHOWN
        else cell
        for column, cell in enumerate(cells)
    ]


async def _cell(reached: Reached, run_id: str, row: int, column: int) -> str:
    where = {"run_id": run_id, "row": row, "column": column}
    text = ""
    while part := await reached.call("result_cell", {**where, "start": len(text)}):
        text += part["text"]
        if not part["text"] or len(text) >= part["characters"]:
            break
    return text


async def write_json(reached: Reached, answer: Mapping[str, Any], file: TextIO) -> None:
    """The whole answer as one JSON object, with every row in ``rows``; cells are the database's
    exact text, however long, or null."""
    members = {name: value for name, value in answer.items() if name != "rows"}
    head = as_json(members)
    file.write(f"{head[:-2]},\n" if members else "{\n")
    file.write('  "rows": [')
    between, number = "\n    ", 0
    async for page in all_rows(reached, answer):
        for row in page:
            whole = await _whole(reached, str(answer["run_id"]), number, row)
            file.write(between + json.dumps(whole, ensure_ascii=file.isatty()))
            between, number = ",\n    ", number + 1
    file.write("\n  ]\n}\n")


__all__ = ["LONGEST_SHOWN", "all_rows", "page_of", "write_json"]
