"""Served by the SDK's own app: streams stay alive, and one warning says what is missing."""

from __future__ import annotations

import logging

import anyio
import httpx2
import pytest

from awhile.server import unwrapped
from awhile.server.stream import FIRST_BYTE_SECONDS
from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import serving_app, until
from tests.interaction.server.test_abandoned import Work
from tests.interaction.server.test_streams import Raw, quiet

pytestmark = pytest.mark.anyio


@pytest.fixture
def first(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has said nothing yet."""
    monkeypatch.setattr(unwrapped, "_said", False)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What was said of the missing wrapper."""
    return [one.getMessage() for one in caplog.records if one.name == unwrapped.logger.name]


@pytest.mark.parametrize("stateless", [False, True], ids=["with a session", "stateless"])
async def test_A18_an_abandoned_call_of_2025_ends_after_its_grace(
    app: App, stateless: bool
) -> None:
    """Ours: field case A18: bounded on any app, because nobody can collect its answer any more."""
    brief = App(app.store, abandoned_seconds=0.3)
    work = Work(brief)
    served = brief.mcp.streamable_http_app(stateless_http=stateless)
    async with serving_app(served, "/mcp") as peer, httpx2.AsyncClient() as http:
        old = await Legacy(peer.url, http).opened()
        request = old.request("tools/call", {"name": "work", "arguments": {}}, token=1)
        response = await http.send(request, stream=True)
        await until(lambda: work.held == 1, "it has begun")
        await response.aclose()
        await until(lambda: work.ended == 1, "it was stopped")


async def test_C2_a_quiet_call_gives_its_first_byte_in_time(app: App) -> None:
    """Ours: field case C2: the SDK alone would hold it back for 15 s."""
    go, raw = quiet(app), Raw()
    async with (
        serving_app(app.mcp.streamable_http_app(), "/mcp") as peer,
        anyio.create_task_group() as group,
    ):
        group.start_soon(raw.read, peer, peer.request("tools/call", {"name": "quiet"}))
        with anyio.fail_after(FIRST_BYTE_SECONDS + 1.5):
            await raw.first_byte.wait()
        go.set()
    assert raw.messages[-1]["result"]["content"][0]["text"] == "done"


@pytest.mark.usefixtures("first")
async def test_one_warning_says_what_is_missing_and_what_to_write(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours."""
    work = Work(app)
    work.go.set()
    async with serving_app(app.mcp.streamable_http_app(), "/mcp") as peer:
        await peer.ask("tools/list", {})
        assert warnings(caplog) == []
        for _ in range(3):
            assert (await peer.undeclared().call("work")).text == "done"
    [said] = warnings(caplog)
    assert "awhile.serve(mcp, port=…)" in said
    assert "awhile.http_app(mcp)" in said
    assert caplog.records[-1].levelno == logging.WARNING


@pytest.mark.usefixtures("first")
async def test_an_app_of_ours_is_not_warned_of(app: App, caplog: pytest.LogCaptureFixture) -> None:
    """Ours."""
    work = Work(app)
    work.go.set()
    async with app.serving() as peer:
        assert (await peer.undeclared().call("work")).text == "done"
    assert warnings(caplog) == []
