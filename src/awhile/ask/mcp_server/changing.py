"""The tool that says what changed between two runs of the same question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.mcp_server import model, shapes
from awhile.ask.mcp_server.arguments import ReadableId
from awhile.ask.mcp_server.reading import NONE_KEPT, NoRows, Rows
from awhile.ask.results.changes import NotComparable, changes

if TYPE_CHECKING:
    from awhile.ask.results.changes import Changes
    from awhile.server.tasks import Tasks

__all__ = ["add_changing"]


def add_changing(mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows) -> None:
    """Add the tool to a server."""

    @mcp.tool()
    async def result_changes(
        run_id: ReadableId,
        earlier_run_id: Annotated[
            str, Field(description="Another such run, of the same question, to compare with.")
        ],
        ctx: Context[Any, Any],
    ) -> model.ChangesModel:
        """What changed between two finished runs: rows that came, went, or have other numbers."""
        try:
            owner, how = tasks.owner(ctx), "result_changes"
            runs = [await rows.of(tasks, owner, one, how=how) for one in (earlier_run_id, run_id)]
            before, after = [await rows.results.open(run.task_id) for run in runs]
            found = await anyio.to_thread.run_sync(changes, before.source, after.source)
        except (NoRows, NotComparable) as why:
            raise ToolError(str(why)) from None
        except FileNotFoundError:
            raise ToolError(NONE_KEPT) from None
        except OSError as broken:
            raise ToolError(str(broken)) from None
        return _told(found)


def _told(found: Changes) -> model.ChangesModel:
    return model.ChangesModel(
        columns=shapes.columns(found.columns),
        keys=list(found.keys),
        rows=[
            model.ChangeModel(
                kind=one.kind,
                before=None if one.before is None else list(one.before),
                after=None if one.after is None else list(one.after),
                differences=list(one.differences),
            )
            for one in found.rows
        ],
        changed=found.changed,
        new=found.new,
        gone=found.gone,
        same=found.same,
    )
