"""The tool that gives a cell whole, where a page of rows has only its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.arguments import ReadableId
from awhile.ask.mcp_server.reading import NONE_KEPT, NoRows, Rows, view_of
from awhile.ask.results.cells import cell_part

if TYPE_CHECKING:
    from awhile.server.tasks import Tasks

__all__ = ["add_cells"]

LONGEST_PART = 1_000_000
"""Characters of one answer; a longer cell takes several."""


def add_cells(mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows) -> None:
    """Add the tool to a server."""

    @mcp.tool()
    async def result_cell(
        run_id: ReadableId,
        row: Annotated[int, Field(ge=0, description="Counted from 0, in that order.")],
        column: Annotated[int, Field(ge=0, description="Counted from 0.")],
        ctx: Context[Any, Any],
        start: Annotated[int, Field(ge=0, description="How many characters to skip.")] = 0,
        characters: Annotated[int, Field(ge=1, le=LONGEST_PART)] = LONGEST_PART,
        sort_column: Annotated[
            int | None, Field(ge=0, description="The order that the row is counted in.")
        ] = None,
        descending: bool = False,
        filters: Annotated[
            list[model.FilterModel] | None, Field(max_length=20, description="As of the rows.")
        ] = None,
    ) -> model.CellModel:
        """One cell's exact text, part by part: a page of rows cuts those that are very long."""
        try:
            run = await rows.of(tasks, tasks.owner(ctx), run_id, how="result_cell")
            opened = await rows.results.open(
                run.task_id, view_of(filters or [], sort_column, descending)
            )
            part = await rows.results.read(
                run.task_id,
                opened,
                cell_part,
                row=row,
                column=column,
                start=start,
                characters=characters,
            )
        except (NoRows, IndexError, ValueError) as why:
            raise ToolError(str(why)) from None
        except FileNotFoundError:
            raise ToolError(NONE_KEPT) from None
        except OSError as broken:
            raise ToolError(str(broken)) from None
        return model.CellModel(text=part.text, characters=part.characters)
