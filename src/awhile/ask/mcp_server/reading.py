"""Reading the rows of finished runs: who may, and the tool that gives a page of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.answer.shares import is_share_id, run_of
from awhile.ask.mcp_server import model, shapes
from awhile.ask.mcp_server.arguments import ReadableId
from awhile.ask.mcp_server.listed import is_deleted
from awhile.ask.results.views import Filter, Sort, View
from awhile.runtime.worker import wall_clock_ms
from awhile.server import audit
from awhile.server.beside import owned
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from awhile.ask.answer.shares import Share, Shares
    from awhile.ask.results.results import Results
    from awhile.server.tasks import Tasks
    from awhile.tasks import TaskRecord

__all__ = ["NoRows", "Rows", "add_reading", "view_of"]

NOT_YOURS = "There is no such run of yours. It may have expired; list_runs shows those kept."
"""For an unknown run and for somebody else's: nobody learns which of the two it is."""

NOT_SHARED = (
    "This link opens nothing. It may have expired or been taken back, or its run was deleted; ask "
    "whoever gave it to you."
)
"""For every share that opens nothing, whether or not there ever was one."""

NONE_KEPT = "This run ended without rows, or they were deleted; ask again."


class NoRows(Exception):
    """There are no rows to be read; the text says why. ``own``: of a run of the caller's."""

    def __init__(self, why: str, *, own: bool = True) -> None:
        super().__init__(why)
        self.own = own


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of runs, for those whose runs they are.

    Args:
        results: all of them.
        tools: the tools whose tasks are runs.
        shares: by which people let others read theirs.
    """

    results: Results
    tools: Collection[str]
    shares: Shares

    async def own(self, tasks: Tasks, ctx: Context[Any, Any], run_id: str) -> TaskRecord:
        """The calling principal's run, to do something to it. Raises `ToolError` without one."""
        record = await tasks.mine(ctx, run_id)
        if record is None or record.tool not in self.tools or is_deleted(record):
            raise ToolError(NOT_YOURS)
        return record

    async def of(self, tasks: Tasks, owner: str, run_id: str, *, how: str) -> TaskRecord:
        """The run whose rows that caller may read, by its own id or by that of a share of it.

        Raises `NoRows` unless it has rows, or may have them.
        """
        if is_share_id(run_id):
            record, _ = await self.shared(tasks, owner, run_id, did="saw", how=how)
        else:
            record = await owned(tasks, owner, run_id)
            if record is None or record.tool not in self.tools:
                raise NoRows(NOT_YOURS, own=False)
        self._check(record)
        return record

    async def shared(
        self, tasks: Tasks, caller: str, share_id: str, *, did: str, how: str
    ) -> tuple[TaskRecord, Share]:
        """The run that a share opens, which is looked up as its owner's own; written down.

        Raises `NoRows` for a share that opens nothing.
        """
        share = await anyio.to_thread.run_sync(
            lambda: self.shares.find(share_id, now_ms=wall_clock_ms())
        )
        record = None if share is None else await owned(tasks, share.owner, share.run_id)
        opens = record is not None and record.tool in self.tools and not is_deleted(record)
        audit.note(
            did,
            owner=caller,
            how=how,
            task_id=run_of(share_id),
            tool=record.tool if record is not None and opens else None,
            outcome="done" if opens else "error",
        )
        if share is None or record is None or not opens:
            raise NoRows(NOT_SHARED, own=False)
        return record, share

    def _check(self, record: TaskRecord) -> None:
        if record.status is not Status.COMPLETED:
            raise NoRows(
                f"This run has no rows: it is {record.status.value!r} "
                f"({record.status_message or 'no more is known'})."
            )


def view_of(
    filters: Sequence[model.FilterModel], sort_column: int | None, descending: bool
) -> View:
    """What was asked for, as the results have it."""
    return View(
        None if sort_column is None else Sort(sort_column, descending),
        tuple(Filter(one.column, one.operator, one.value) for one in filters),
    )


def add_reading(mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows) -> None:
    """Add the tool to a server."""

    @mcp.tool()
    async def result_rows(
        run_id: ReadableId,
        ctx: Context[Any, Any],
        offset: Annotated[int, Field(ge=0, description="How many rows to skip.")] = 0,
        limit: Annotated[int, Field(ge=1, le=1000, description="How many rows to return.")] = 200,
        sort_column: Annotated[
            int | None, Field(ge=0, description="Sort by this column, counted from 0.")
        ] = None,
        descending: bool = False,
        filters: Annotated[
            list[model.FilterModel] | None,
            Field(max_length=20, description="Only rows that meet all of these."),
        ] = None,
    ) -> model.RowsModel:
        """A page of a finished run's rows, optionally filtered and sorted. Cells are text, exact.

        Numbers are compared as numbers, with all their digits; dates and times as such; everything
        else as its exact text.
        """
        view = view_of(filters or [], sort_column, descending)
        try:
            run = await rows.of(tasks, tasks.owner(ctx), run_id, how="result_rows")
            read = await rows.results.page(run.task_id, offset, limit, view)
        except NoRows as why:
            raise ToolError(str(why)) from None
        except FileNotFoundError:
            raise ToolError(NONE_KEPT) from None
        except (IndexError, ValueError) as why:
            raise ToolError(f"The rows were not filtered or sorted: {why}.") from None
        except OSError as broken:
            raise ToolError(str(broken)) from None
        return shapes.rows(read, offset=offset)
