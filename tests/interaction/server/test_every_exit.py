"""Every way a task can be reached is its owner's alone: listening, the companion tools, retries."""

from __future__ import annotations

import json
import secrets
from pathlib import Path

import pytest

from awhile.errors import SettingsError
from awhile.server.http import http_app
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import INVALID_PARAMS, Json, Peer, Reply, serving
from tests.interaction.server.test_owners import Shared, as_, wait

pytestmark = pytest.mark.anyio

OTHERS = ("eve", "ada-of-another-issuer", "a-client-named-ada")


async def call(peer: Peer, token: str, tool: str, **arguments: str) -> Json:
    """A tool call with a bearer token, of a client without tasks."""
    params = {"name": tool, "arguments": arguments}
    return (await as_(peer.undeclared(), token, "tools/call", params)).result


@pytest.mark.parametrize("tool", ["task_result", "task_cancel"])
async def test_A13_a_companion_tool_says_of_a_foreign_task_what_it_says_of_none(
    tmp_path: Path, tool: str
) -> None:
    """Ours: field case A13: the same bytes, and nothing happens to the task."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        for other in OTHERS:
            foreign = await call(peer, other, tool, id=task_id)
            assert foreign == await call(peer, other, tool, id=secrets.token_hex(16))
            assert task_id not in json.dumps(foreign)
        mine = (await as_(peer, "ada-at-work", "tasks/get", {"taskId": task_id})).result
        assert mine["status"] == "working"
        assert "cancelAskedAt" not in mine["_meta"]["awhile/run"]
        shared.go.set()
        done = await call(peer, "ada-at-work", "task_result", id=task_id)
        assert done["content"][0]["text"] == "done"


async def test_A13_task_list_shows_the_callers_own(tmp_path: Path) -> None:
    """Ours: field case A13."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        listed = (await call(peer, "ada-at-work", "task_list"))["content"][0]["text"]
        assert task_id in listed
        for other in OTHERS:
            listed = (await call(peer, other, "task_list"))["content"][0]["text"]
            assert listed == "There are no tasks of yours."
        shared.go.set()


async def test_A13_a_listener_hears_of_its_own_tasks_alone(tmp_path: Path) -> None:
    """Spec: ext-tasks: foreign ids are left out of the acknowledgement as unknown ones are."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")

        async def acknowledged(token: str, asked: str) -> Json:
            request = peer.request(
                "subscriptions/listen",
                {"notifications": {"taskIds": [asked]}},
                headers={"authorization": f"Bearer {token}"},
            )
            async with peer.opened(request) as (_, messages):
                return (await anext(messages))["params"]["notifications"]

        assert await acknowledged("ada-at-work", task_id) == {"taskIds": [task_id]}
        for other in OTHERS:
            foreign = await acknowledged(other, task_id)
            assert foreign == await acknowledged(other, secrets.token_hex(16)) == {}
        shared.go.set()


async def test_A13_every_method_answers_a_foreign_id_and_a_made_up_one_with_the_same_bytes(
    tmp_path: Path,
) -> None:
    """Ours: field case A13: the JSON-RPC id apart."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            more: Json = {"inputResponses": {}} if method == "tasks/update" else {}
            for other in OTHERS:
                replies: list[Reply] = [
                    await as_(peer, other, method, {"taskId": one, **more})
                    for one in (task_id, secrets.token_hex(16))
                ]
                for reply in replies:
                    del reply.message["id"]
                assert len({json.dumps(reply.message) for reply in replies}) == 1
                assert {reply.http for reply in replies} == {400}
                assert replies[0].error["code"] == INVALID_PARAMS
                assert task_id not in json.dumps(replies[0].message)
        shared.go.set()


async def test_A13_a_request_without_a_good_token_reaches_nothing(tmp_path: Path) -> None:
    """Ours: field case A13: 401 before anything else, whatever is asked."""
    shared = Shared(tmp_path / "tasks.db")
    async with serving(shared.mcp) as peer:
        task_id = await wait(peer, "ada-at-home")
        for headers in (None, {"authorization": "Bearer stolen"}):
            request = peer.request("tasks/get", {"taskId": task_id}, headers=headers)
            async with peer.opened(request) as (status, _):
                assert status == 401
        shared.go.set()


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])  # noqa: S104
def test_A13_an_anonymous_server_refuses_to_be_reached_from_elsewhere(app: App, host: str) -> None:
    """Ours: field case A13: there, anonymous means anybody."""
    with pytest.raises(SettingsError, match="no authentication"):
        http_app(app.mcp, host=host)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.8.8"])
def test_an_anonymous_server_may_be_reached_from_this_machine(app: App, host: str) -> None:
    """Ours."""
    http_app(app.mcp, host=host)
