"""Two tools for reading the wire: `quick` is never a task, `long_job` always one that can be."""

import anyio
from mcp.server.mcpserver import MCPServer

from awhile import Run, Tasks, serve


def build(store: str, inline_limit_seconds: float = 45) -> MCPServer:
    """The server on a store."""
    tasks = Tasks(store, inline_limit_seconds=inline_limit_seconds)
    mcp = MCPServer("wire", version="1", log_level="WARNING", **tasks.install())

    @mcp.tool()
    @tasks.tool(task_support="forbidden")
    async def quick(name: str) -> str:
        """Greets at once."""
        return f"Hello, {name}!"

    @mcp.tool()
    @tasks.tool(inline_seconds=0)
    async def long_job(steps: int, run: Run) -> str:
        """Takes 0.6 seconds a step."""
        for step in range(steps):
            run.report(step + 1, steps, f"step {step + 1} of {steps}")
            await anyio.sleep(0.6)
        return f"{steps} steps are done."

    return mcp


if __name__ == "__main__":
    serve(build("sqlite:///wire.db"), port=8000)
