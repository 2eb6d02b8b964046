"""The server itself, run by a Python that has fastmcp; this project's own has not."""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUntypedFunctionDecorator=false, reportUnknownParameterType=false
# pyright: reportUnknownArgumentType=false

import os
import socket
import sys
import threading
from datetime import timedelta

import anyio
import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

mcp = FastMCP("fastmcp-tasks")
mcp.add_extension(TasksExtension())
REQUIRED = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=100))


@mcp.tool
async def quick(text: str = "hi") -> str:
    """Never a task."""
    return f"quick: {text}"


@mcp.tool(task=REQUIRED)
async def long_job(ctx: Context, steps: int = 5, seconds: float = 0.3) -> str:
    """Always a task, of some steps."""
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps, f"step {step}/{steps}")
        await anyio.sleep(seconds)
    return f"finished {steps} steps"


@mcp.tool(task=REQUIRED)
async def failing_job() -> str:
    """Says no after a while."""
    await anyio.sleep(0.1)
    raise ToolError("the disk is full")


@mcp.tool(task=REQUIRED)
async def confirm(file: str, ctx: Context) -> str | InputRequiredResult:
    """Asks while it runs; with the answer it is run again."""
    answer = (ctx.input_responses or {}).get("sure")
    if answer is None:
        form = {"type": "object", "properties": {"value": {"type": "boolean"}}}
        params = ElicitRequestFormParams(message=f"Delete {file}?", requested_schema=form)
        return InputRequiredResult(input_requests={"sure": ElicitRequest(params=params)})
    agreed = answer.action == "accept" and (answer.content or {}).get("value")
    return f"{'Deleted' if agreed else 'Kept'} {file}."


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


def main() -> None:
    """Serve on the port given, or a free one."""
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    listening = socket.create_server(("127.0.0.1", int(sys.argv[1]) if sys.argv[1:] else 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)  # noqa: T201
    config = uvicorn.Config(mcp.http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
