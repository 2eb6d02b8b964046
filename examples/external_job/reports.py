"""Work that lives elsewhere, and survives kill -9 of every process of ours.

Start a warehouse (``python -m examples.external_job.warehouse 9000``), then::

    export WAREHOUSE=http://127.0.0.1:9000
    awhile serve examples.external_job.reports:mcp --store sqlite:///reports.db

Call ``yearly``, kill the server with ``kill -9``, start it again: the warehouse has one job, and
the task goes on with it. Cancel the task in between: the job is cancelled.
"""

import os
from collections.abc import Mapping
from typing import Any

import httpx2
from mcp.server.mcpserver import MCPServer

from awhile import Entry, Run, StoppedHow, Tasks

WAREHOUSE = os.environ.get("WAREHOUSE", "http://127.0.0.1:9000")

tasks = Tasks()
mcp = MCPServer("reports", **tasks.install())


def asked(path: str, body: object = None) -> dict[str, Any]:
    """One request to the warehouse; with a body, a POST."""
    method = "GET" if body is None else "POST"
    answer = httpx2.request(method, f"{WAREHOUSE}/jobs{path}", json=body, timeout=60)
    answer.raise_for_status()
    return answer.json()


def stop_job(journal: Mapping[str, Entry]) -> StoppedHow:
    """Stops what `yearly` has started, whatever became of the process that started it."""
    job = journal["job"]
    name = job.outcome if job.done else job.idempotency_key  # it may have died in between
    try:
        state = asked(f"/{name}/cancel", {})["state"]
    except httpx2.HTTPStatusError as error:
        if error.response.status_code != 404:
            raise  # tried again, as long as the tool's give_up_seconds
        state = "cancelled"  # the warehouse has never heard of it
    return StoppedHow.NOT_STOPPED if state == "running" else StoppedHow.ENGINE_CONFIRMED


@mcp.tool()
@tasks.tool(inline_seconds=1, rerun="safe", stop=stop_job)
def yearly(year: int, run: Run) -> str:
    """Add up a year in the warehouse."""
    job = run.once("job", lambda key: str(asked("", {"key": key, "year": year})["id"]))
    while (state := asked(f"/{job}")["state"]) == "running":
        run.report(None, None, f"{job} runs in the warehouse")
        if run.wait(0.2):
            run.check()
    if state != "done":
        raise RuntimeError(f"{job} is {state}")
    return f"{year} is added up by {job}, which attempt {run.attempt} saw to its end."
