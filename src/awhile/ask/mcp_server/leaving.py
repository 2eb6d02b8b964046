"""Rows that leave as files: ``GET /results/{run_id}.csv``, ``.parquet`` or ``.xlsx``.

A route of the MCP server beside its endpoint, behind the same gates, and for the owner alone, or
for whoever has the id of a share, which stands in place of the run's. Who asks for a file needs no
access to where results are. It streams: memory does not grow with the result.

Query parameters: ``sort`` (a column, counted from 0) with ``desc=true``, ``filters`` (as JSON, like
those of `result_rows`); for CSV ``bom``, ``safe`` (both ``true``) and ``lines=lf`` (`CsvForm`).
Source: ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
import anyio.to_thread
from pydantic import TypeAdapter, ValidationError
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse

from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.reading import NONE_KEPT, NOT_YOURS, NoRows, view_of
from awhile.ask.results.delimited import CsvForm, csv_parts, write_csv
from awhile.server.beside import add_route
from awhile.server.principal import caller

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from mcp.server.mcpserver import MCPServer
    from starlette.datastructures import QueryParams
    from starlette.requests import Request

    from awhile.ask.answer.statements import Statement, Statements
    from awhile.ask.mcp_server.reading import Rows
    from awhile.ask.results.results import Opened, Results
    from awhile.ask.results.views import View
    from awhile.server.tasks import Tasks

__all__ = ["add_leaving"]

_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_PART_BYTES = 256 * 1024
_WORKBOOK_CELLS = 60_000
"""How many of them are written in a second (measured, `awhile.ask.results.workbook`)."""
_LONG_SECONDS = 5
_FILTERS = TypeAdapter(list[model.FilterModel])
_LINE_ENDS = {"crlf": "\r\n", "lf": "\n"}


def add_leaving(mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows, statements: Statements) -> None:
    """Add the route to a server."""

    async def export(request: Request) -> Response:
        run_id, _, kind = str(request.path_params["name"]).partition(".")
        try:
            if kind not in _KINDS or not run_id.isalnum():
                raise NoRows(NOT_YOURS, own=False)
            run_id = (await rows.of(tasks, caller(), run_id, how="results")).task_id
            view, form = _asked(request.query_params)
            leaving = _Leaving(rows.results, run_id, view, only_head=request.method == "HEAD")
            if kind == "csv":
                return await leaving.csv(form)
            if kind == "parquet":
                return await leaving.parquet()
            statement = await anyio.to_thread.run_sync(statements.load, run_id)
            return await leaving.workbook(_about(run_id, statement))
        except NoRows as why:
            # An unknown run and somebody else's get the same answer to the byte.
            return _refusal(*((409, "no_rows") if why.own else (404, "gone")), str(why))
        except FileNotFoundError:
            return _refusal(409, "no_rows", NONE_KEPT)
        except (IndexError, ValueError) as why:
            return _refusal(400, "bad_request", f"No file was made: {why}.")
        except OSError as broken:
            return _refusal(500, "server_error", f"No file was made. {broken}")

    add_route(mcp, "/results/{name}", export)


@dataclass(frozen=True, slots=True)
class _Leaving:
    """One result on its way out, in one view."""

    results: Results
    run_id: str
    view: View
    only_head: bool

    async def csv(self, form: CsvForm) -> Response:
        """Exact, in UTF-8, with the names in the first line."""
        opened = await self.results.open(self.run_id, self.view)
        head = self._head(opened, "csv")
        if opened.is_heavy and not self.only_head:
            file, _ = await self.results.written(self.run_id, opened, write_csv, form=form)
            return await self._streamed(_parts(file), head)
        return await self._streamed(csv_parts(opened.source, form), head)

    async def parquet(self) -> Response:
        """As it is stored, or as the view is; a part of it where a range was asked for."""
        opened = await self.results.open(self.run_id, self.view)
        head = self._head(opened, "parquet")
        head["etag"] = f'"{opened.version}"'
        if isinstance(opened.source, Path):
            return FileResponse(opened.source, headers=head)
        head["content-length"] = str(opened.size)
        opened.source.seek(0)
        return await self._streamed(_parts(opened.source), head)

    async def workbook(self, about: dict[str, str]) -> Response:
        """As an Excel workbook, which has to be whole before its first byte leaves."""
        opened = await self.results.open(self.run_id, self.view)
        head = self._head(opened, "xlsx")
        if self.only_head:
            _add_notice(head, *_while_it_is_made(opened))
            return Response(headers=head)
        file, said = await self.results.workbook(self.run_id, self.view, about)
        head["content-length"] = str(file.seek(0, 2))
        file.seek(0)
        _add_notice(head, *said)
        return await self._streamed(_parts(file), head)

    def _head(self, opened: Opened, kind: str) -> dict[str, str]:
        whole = opened.row_count
        cut = f"-first-{whole}" if opened.truncated else ""
        head = {
            "content-type": _KINDS[kind],
            "content-disposition": f'attachment; filename="rows-{self.run_id[:8]}{cut}.{kind}"',
            "cache-control": "private, no-cache",
            "x-content-type-options": "nosniff",
        }
        if opened.truncated:
            said = f"The query had more rows than were read: these are of the first {whole:,}."
            _add_notice(head, said)
        return head

    async def _streamed(self, parts: Generator[bytes], head: dict[str, str]) -> Response:
        """The first part is there before anything is answered, so that errors are answered."""
        if self.only_head:
            parts.close()
            return Response(headers=head)
        first = await anyio.to_thread.run_sync(next, parts, b"")

        async def body() -> AsyncGenerator[bytes]:
            part = first
            try:
                while part:
                    yield part
                    part = await anyio.to_thread.run_sync(next, parts, b"")
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.to_thread.run_sync(parts.close)

        return StreamingResponse(body(), headers=head)


def _add_notice(head: dict[str, str], *said: str) -> None:
    if said:
        head[model.NOTICE] = " ".join([*filter(None, [head.get(model.NOTICE)]), *said])


def _while_it_is_made(opened: Opened) -> list[str]:
    """What to tell whoever waits for the first byte of a workbook, if that takes long."""
    seconds = opened.row_count * opened.column_count / _WORKBOOK_CELLS
    if seconds < _LONG_SECONDS:
        return []
    return [
        f"The workbook of all rows takes about {seconds:,.0f} s to make, and its download begins "
        "then; CSV and Parquet begin at once."
    ]


def _parts(file: BinaryIO | Any) -> Generator[bytes]:
    try:
        while part := file.read(_PART_BYTES):
            yield part
    finally:
        file.close()


def _asked(query: QueryParams) -> tuple[View, CsvForm]:
    """Raises `ValueError` for what is none."""
    sort = query.get("sort")
    if sort is not None and not (sort.isascii() and sort.isdecimal()):
        raise ValueError(f"sort={sort!r} is no column's number")
    lines = query.get("lines", "crlf")
    if lines not in _LINE_ENDS:
        raise ValueError(f"lines={lines!r} is neither 'crlf' nor 'lf'")
    try:
        filters = _FILTERS.validate_json(query.get("filters", "[]"))
    except ValidationError as wrong:
        [first, *_] = wrong.errors()
        where = ".".join(str(one) for one in first["loc"])
        raise ValueError(f"filters: {first['msg']} {where and f'({where})'}".rstrip()) from None
    view = view_of(filters, None if sort is None else int(sort), _is_true(query, "desc"))
    form = CsvForm(
        bom=_is_true(query, "bom"), safe=_is_true(query, "safe"), line_end=_LINE_ENDS[lines]
    )
    return view, form


def _is_true(query: QueryParams, name: str) -> bool:
    said = query.get(name, "false")
    if said not in ("true", "false"):
        raise ValueError(f"{name}={said!r} is neither 'true' nor 'false'")
    return said == "true"


def _about(run_id: str, statement: Statement | None) -> dict[str, str]:
    """What a workbook says of itself."""
    said = {} if statement is None else {
        "Question": statement.question,
        "Reading": statement.reading,
        "SQL": statement.sql,
        "Database": statement.database,
        "Run at": statement.at,
    }  # fmt: skip
    return {label: text for label, text in {**said, "Run": run_id}.items() if text}


def _refusal(status: int, code: str, why: str) -> Response:
    return JSONResponse({"error": {"code": code, "message": why}}, status)
