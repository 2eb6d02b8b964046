"""Whose task it is, by verified bearer tokens: every way to a task is its owner's alone."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import Context, MCPServer
from pydantic import AnyHttpUrl

from awhile import Tasks
from tests.interaction.server.peer import INVALID_PARAMS, Json, Peer, Reply, serving

pytestmark = pytest.mark.anyio

SERVER_URL = AnyHttpUrl("http://127.0.0.1/mcp")
ISSUER = "https://issuer.example"

TOKENS = {
    "ada-at-home": ("app-1", "ada", ISSUER),
    "ada-at-work": ("app-2", "ada", ISSUER),
    "eve": ("app-1", "eve", ISSUER),
    "ada-of-another-issuer": ("app-1", "ada", "https://other.example"),
    "a-client-named-ada": ("ada", None, ISSUER),
}
"""Token -> client id, subject, issuer."""


class Verifier:
    """Knows the tokens above."""

    async def verify_token(self, token: str) -> AccessToken | None:
        if token not in TOKENS:
            return None
        client_id, subject, issuer = TOKENS[token]
        claims = {"iss": issuer}
        return AccessToken(
            token=token, client_id=client_id, scopes=[], subject=subject, claims=claims
        )


class Shared:
    """A server of many callers, with one tool that waits."""

    def __init__(self, store: Path) -> None:
        self.go = anyio.Event()
        tasks = Tasks(f"sqlite:///{store}")
        auth = AuthSettings(
            issuer_url=AnyHttpUrl(ISSUER),
            resource_server_url=SERVER_URL,
            validate_token_resource=False,
        )
        self.mcp: MCPServer[Any] = MCPServer(
            "shared",
            log_level="WARNING",
            token_verifier=Verifier(),
            auth=auth,
            **tasks.install(),
        )

        @self.mcp.tool()
        @tasks.tool(inline_seconds=0, kept="always", request_key="key")
        async def wait(key: str = "") -> str:
            await self.go.wait()
            return "done"

        @self.mcp.tool()
        async def list_runs(ctx: Context[Any, Any]) -> list[str]:
            return [one.task_id for one in await tasks.find(ctx)]


async def as_(peer: Peer, token: str, method: str, params: Json) -> Reply:
    """One request with a bearer token."""
    return await peer.ask(method, params, headers={"authorization": f"Bearer {token}"})


async def wait(peer: Peer, token: str, **arguments: str) -> str:
    """Start the waiting tool; its task's id."""
    reply = await as_(peer, token, "tools/call", {"name": "wait", "arguments": arguments})
    return reply.result["taskId"]


async def test_a13_only_the_owner_reaches_a_task(tmp_path: Path) -> None:
    """Ours: field case A13: whoever else asks learns nothing, not even that it exists."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        for other in ("eve", "ada-of-another-issuer", "a-client-named-ada"):
            for method in ("tasks/get", "tasks/cancel", "tasks/update"):
                more: Json = {"inputResponses": {}} if method == "tasks/update" else {}
                foreign = await as_(peer, other, method, {"taskId": task_id, **more})
                unknown = {"taskId": secrets.token_hex(16), **more}
                assert foreign.error == (await as_(peer, other, method, unknown)).error
                assert foreign.error["code"] == INVALID_PARAMS
            listed = await as_(peer, other, "tools/call", {"name": "list_runs", "arguments": {}})
            assert listed.result["structuredContent"]["result"] == []
        mine = await as_(peer, "ada-at-home", "tasks/get", {"taskId": task_id})
        assert mine.result["status"] == "working"
        assert "cancelAskedAt" not in mine.result["_meta"]["awhile/run"]
        shared.go.set()


async def test_a20_the_same_person_finds_their_runs_from_another_client(tmp_path: Path) -> None:
    """Ours: field case A20: a task is a person's, not a program's."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        listed = await as_(
            peer, "ada-at-work", "tools/call", {"name": "list_runs", "arguments": {}}
        )
        assert listed.result["structuredContent"]["result"] == [task_id]
        await as_(peer, "ada-at-work", "tasks/cancel", {"taskId": task_id})


async def test_two_callers_keys_are_their_own(tmp_path: Path) -> None:
    """Ours: a request key finds no task of somebody else."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        mine = await wait(peer, "ada-at-home", key="k")
        assert await wait(peer, "ada-at-work", key="k") == mine
        assert await wait(peer, "eve", key="k") != mine
        shared.go.set()
