import anyio
from mcp.server.mcpserver import MCPServer

from awhile import Run, Tasks, serve

tasks = Tasks("sqlite:///reports.db")
mcp = MCPServer("reports", **tasks.install())


@mcp.tool()
@tasks.tool(inline_seconds=1, rerun="safe")
async def yearly(year: int, run: Run) -> str:
    """Add up a year, month by month."""
    for month in range(12):
        run.report(month, 12, f"month {month + 1}")
        await anyio.sleep(0.5)
    return f"{year} is added up."


if __name__ == "__main__":
    serve(mcp, port=8000)
