"""Requirements of 2026-07-28 on a client that no test of a feature shows by the way.

The manifest in `tests/requirements` says which requirement each of them is for.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import StdioServerParameters
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH

from awhile.client import connect
from awhile.errors import ProtocolFailed, Unreachable
from tests.interaction.client.legacy_peer import LegacyPeer, legacy_task
from tests.interaction.client.scripted_server import Script, add_tool, result, task
from tests.interaction.server.peer import serving

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[3]
SERVER = "tests.interaction.client.long_work_server"


async def test_a_task_in_answer_to_anything_but_a_call_is_no_valid_answer() -> None:
    """Spec: ext-tasks, Capability Negotiation."""

    async def lists_a_task(
        ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        if ctx.method == "tools/list":
            return {"resultType": "task", **task("working")}
        return await call_next(ctx)

    odd = add_tool(
        MCPServer("odd", extensions=[Script([task("working")])], middleware=[lists_a_task])
    )
    async with connect(odd, ledger=None) as server:
        with pytest.raises(ProtocolFailed):
            await server.list_tools()


async def test_a_stdio_server_that_was_started_again_is_listened_to_again(tmp_path: Path) -> None:
    """Spec: subscriptions, Graceful Closure: the server holds nothing across connections."""
    program = StdioServerParameters(
        command=sys.executable,
        args=["-m", SERVER, "--stdio", "--store", str(tmp_path / "tasks.db")],
        cwd=ROOT,
    )
    died, pushed_after = False, False
    with anyio.fail_after(40):
        async with connect(program, ledger=None) as server:
            handle = await server.start("count_again", {"steps": 40, "seconds": 0.1})
            async for _ in handle.watch():
                pushed = handle.work.pace.pushed
                if died and pushed:
                    pushed_after = True
                elif pushed:
                    with pytest.raises(Unreachable):
                        await server.call("die")
                    died = True
    assert pushed_after


async def test_two_calls_at_once_hear_their_own_progress_alone() -> None:
    """Spec: progress: a token is unique among the requests that are open."""
    plain: MCPServer[Any] = MCPServer("plain")

    @plain.tool()
    async def count(name: str, ctx: Context[Any, Any]) -> str:
        for done in range(3):
            await ctx.report_progress(done + 1, 3, f"{name} {done}")
            await anyio.sleep(0.05)
        return name

    steps: dict[str, list[str | None]] = {}
    async with connect(plain, ledger=None) as server, anyio.create_task_group() as group:

        async def watch(name: str) -> None:
            handle = await server.start("count", {"name": name})
            async for now in handle.watch():
                steps[name] = [step.message for step in now.steps]

        for name in ("a", "b", "c"):
            group.start_soon(watch, name)
    assert steps == {name: [f"{name} {done}" for done in range(3)] for name in ("a", "b", "c")}


class Recording:
    """A middleware that notes the calls' parameters, and may answer in place of the server."""

    def __init__(self, *answers: dict[str, Any] | MCPError) -> None:
        self.asked: list[str] = []
        self.calls: list[dict[str, Any]] = []
        self._answers = list(answers)

    async def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> HandlerResult:
        """The middleware."""
        self.asked.append(ctx.method)
        if ctx.method != "tools/call":
            return await call_next(ctx)
        self.calls.append(dict(ctx.params or {}))
        answer = self._answers.pop(0)
        if isinstance(answer, MCPError):
            raise answer
        return answer


DONE = {"resultType": "complete", **result("done")}
FORM: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Sure?",
        "requestedSchema": {"type": "object", "properties": {}},
    },
}


async def agree(_request: Mapping[str, Any]) -> Mapping[str, Any]:
    """Say yes to everything."""
    return {"action": "accept", "content": {}}


async def test_a_retry_carries_no_state_that_was_not_given() -> None:
    """Spec: mrtr, Client Requirements: the last round's answers and state, exactly, or none."""
    rounds = Recording(
        {"resultType": "input_required", "inputRequests": {"a": FORM}, "requestState": "s-1"},
        {"resultType": "input_required", "inputRequests": {"b": FORM}},
        DONE,
        DONE,
    )
    odd = add_tool(MCPServer("odd", middleware=[rounds]))
    async with connect(odd, ledger=None, on_input=agree) as server:
        await server.call("work")
        await server.call("work")
    said = [(one.get("requestState"), list(one.get("inputResponses", ()))) for one in rounds.calls]
    assert said == [(None, []), ("s-1", ["a"]), (None, ["b"]), (None, [])]
    assert ["requestState" in one for one in rounds.calls] == [False, True, False, False]


async def test_a_header_mismatch_lists_the_tools_and_calls_once_more() -> None:
    """Spec: streamable-http, Client Behavior: the tool's headers may have changed."""
    refused = MCPError(code=HEADER_MISMATCH, message="Mcp-Param-Region is missing")
    once = Recording(refused, DONE)
    async with connect(add_tool(MCPServer("odd", middleware=[once])), ledger=None) as server:
        assert (await server.call("work")).is_error is False
    at = once.asked.index("tools/call")
    assert once.asked[at:] == ["tools/call", "tools/list", "tools/call"]
    twice = Recording(refused, refused)
    async with connect(add_tool(MCPServer("odd", middleware=[twice])), ledger=None) as server:
        with pytest.raises(ProtocolFailed, match="Mcp-Param-Region"):
            await server.call("work")


async def test_comments_on_a_stream_are_no_messages() -> None:
    """Spec: streamable-http, Receiving Messages: clients must ignore them."""
    quiet: MCPServer[Any] = MCPServer("quiet", log_level="WARNING")

    @quiet.tool()
    async def wait() -> str:
        await anyio.sleep(1.5)
        return "done"

    async with (
        serving(quiet, keepalive_seconds=0.1) as peer,
        connect(peer.url, ledger=None) as server,
    ):
        assert (await server.call("wait")).is_error is False


async def test_requests_about_a_task_carry_its_id_once() -> None:
    """Spec: 2025-11-25, Associating Task-Related Messages: `taskId` says it, `_meta` does not."""
    peer = LegacyPeer()

    async def created(_params: dict[str, Any]) -> dict[str, Any]:
        return {"task": legacy_task("working")}

    async def ended(_params: dict[str, Any]) -> dict[str, Any]:
        return legacy_task("cancelled")

    peer.on |= {"tools/call": created, "tasks/get": ended, "tasks/cancel": ended}
    async with connect(peer, ledger=None) as server:
        await (await server.start("work")).cancel(give_up_seconds=1)
    about = [params for method, params in peer.requests if method.startswith("tasks/")]
    assert about
    for params in about:
        assert params["taskId"] == "old-1"
        assert "io.modelcontextprotocol/related-task" not in params.get("_meta", {})
