"""The tool that says how a result is best seen: a chart's points, and the same in words."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from awhile.ask.charts import Aggregate, Chart, Kind, NothingToDraw, Wanted, draw
from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.arguments import ReadableId
from awhile.ask.mcp_server.reading import NONE_KEPT, NoRows, Rows, view_of

if TYPE_CHECKING:
    from awhile.server.tasks import Tasks

__all__ = ["add_charting"]

Place = Annotated[int | None, Field(ge=0, description="A column, counted from 0.")]


def add_charting(mcp: MCPServer[Any], *, tasks: Tasks, rows: Rows) -> None:
    """Add the tool to a server."""

    @mcp.tool()
    async def result_chart(
        run_id: ReadableId,
        ctx: Context[Any, Any],
        kind: Annotated[
            Kind | None, Field(description="Left out: the kind that shows the result best.")
        ] = None,
        x: Place = None,
        y: Place = None,
        series: Place = None,
        aggregate: Annotated[
            Aggregate | None, Field(description="How several rows of one place become one point.")
        ] = None,
        filters: Annotated[
            list[model.FilterModel] | None,
            Field(max_length=20, description="Only rows that meet all of these."),
        ] = None,
    ) -> model.ChartModel:
        """The chart of a finished run's rows: its points, and what it shows in words.

        Line for time, bars for categories, a cloud of points for two amounts, or a single number.
        """
        wanted = Wanted(kind=kind, x=x, y=y, series=series, aggregate=aggregate)
        try:
            run = await rows.of(tasks, tasks.owner(ctx), run_id, how="result_chart")
            question = run.arguments.get("question")
            opened = await rows.results.open(run.task_id, view_of(filters or [], None, False))
            chart = await anyio.to_thread.run_sync(
                lambda: draw(opened.source, question=question, wanted=wanted)
            )
        except (NoRows, IndexError, ValueError) as why:
            raise ToolError(str(why)) from None
        except NothingToDraw as why:
            return model.ChartModel(nothing=str(why))
        except FileNotFoundError:
            raise ToolError(NONE_KEPT) from None
        except OSError as broken:
            raise ToolError(str(broken)) from None
        return _told(chart)


def _told(chart: Chart) -> model.ChartModel:
    choice = chart.choice
    return model.ChartModel(
        kind=choice.kind,
        title=chart.title,
        x=None if chart.x is None else model.AxisModel(**asdict(chart.x)),
        y=model.AxisModel(**asdict(chart.y)),
        series=choice.series,
        series_label=chart.series,
        aggregate=choice.aggregate if chart.several else None,
        points=[list(point) for point in chart.points],
        notes=list(chart.notes),
        text=chart.text,
        kinds=list(chart.kinds),
        along=_positions(chart, "time", "category", "order", "id"),
        amounts=_positions(chart, "measure", "order"),
    )


def _positions(chart: Chart, *roles: str) -> list[int]:
    return [column.position for column in chart.columns if column.role in roles]
