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


async def write_json(reached: Reached, answer: Mapping[str, Any], file: TextIO) -> None:
    """The whole answer as one JSON object, with every row in ``rows``; cells are text or null."""
    members = {name: value for name, value in answer.items() if name != "rows"}
    head = as_json(members)
    file.write(f"{head[:-2]},\n" if members else "{\n")
    file.write('  "rows": [')
    between = "\n    "
    async for page in all_rows(reached, answer):
        for row in page:
            file.write(between + json.dumps(row, ensure_ascii=file.isatty()))
            between = ",\n    "
    file.write("\n  ]\n}\n")


__all__ = ["all_rows", "page_of", "write_json"]
