"""One module for every role: `awhile serve` and `awhile worker` say where its tasks are."""

import os
from typing import Annotated

import anyio
from mcp.server.mcpserver import Elicit, MCPServer, Resolve
from pydantic import BaseModel

from awhile import Run, Tasks

tasks = Tasks()
mcp = MCPServer("reports", **tasks.install())


class Confirmed(BaseModel):
    """What is asked before old years are deleted."""

    delete: bool


def sure(year: int) -> Elicit[Confirmed]:
    """The question; whichever replica gets the answer goes on."""
    return Elicit(f"Delete all reports before {year}?", Confirmed)


@mcp.tool()
@tasks.tool(inline_seconds=1, rerun="safe")
async def yearly(year: int, run: Run) -> str:
    """Add up a year, month by month, in whichever worker takes it."""
    for month in range(12):
        run.report(month, 12, f"month {month + 1}, in process {os.getpid()}")
        await anyio.sleep(1)
    return f"{year} is added up, at attempt {run.attempt}."


@mcp.tool()
@tasks.tool(inline_seconds=1)
async def clean_up(year: int, confirmed: Annotated[Confirmed, Resolve(sure)]) -> str:
    """Delete old reports, if a person says so."""
    return f"Deleted all before {year}." if confirmed.delete else "Kept everything."
