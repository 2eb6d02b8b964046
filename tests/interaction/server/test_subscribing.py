"""What a server publishes, told to clients of the eras before 2026-07-28 on their session's stream.

Spec: 2025-11-25, server/resources, Subscriptions and List Changed Notification.
"""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ToolsListChanged

from tests.interaction.server.conftest import App
from tests.interaction.server.legacy import LEGACY, METHOD_NOT_FOUND, Legacy, served
from tests.interaction.server.peer import INVALID_PARAMS, PATIENCE_SECONDS, until

pytestmark = pytest.mark.anyio

UPDATED = "notifications/resources/updated"
RESOURCES = "notifications/resources/list_changed"
TOOLS = "notifications/tools/list_changed"


@pytest.fixture
def publishing(tmp_path: Path) -> App:
    return App(tmp_path / "tasks.db", install={"subscriptions": "store"})


@pytest.mark.parametrize("version", [LEGACY, "2025-06-18", "2024-11-05"])
async def test_a_session_is_told_of_lists_and_of_what_it_subscribed_to(
    publishing: App, version: str
) -> None:
    async with served(publishing, version=version) as client, client.listening():
        assert client.capabilities["resources"] == {"subscribe": True, "listChanged": True}
        assert client.capabilities["tools"] == {"listChanged": True}
        for uri in ("run://1", "run://2"):
            assert (await client.ask("resources/subscribe", {"uri": uri})).result == {}
        assert (await client.ask("resources/unsubscribe", {"uri": "run://2"})).result == {}
        for event in (
            ResourceUpdated("run://2"),
            ResourceUpdated("run://3"),
            ResourceUpdated("run://1"),
            ResourcesListChanged(),
            ToolsListChanged(),
        ):
            await publishing.tasks.publish(event)
        await until(lambda: len(client.news) == 3, "all of it was told")
        methods = {one["method"]: one.get("params") for one in client.news}
        assert methods == {UPDATED: {"uri": "run://1"}, RESOURCES: None, TOOLS: None}


async def test_each_session_has_subscriptions_of_its_own_and_they_end_with_it(
    publishing: App,
) -> None:
    async with (
        served(publishing) as one,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
        one.listening(),
    ):
        other = await Legacy(one.url, http).opened()
        await other.ask("resources/subscribe", {"uri": "run://1"})
        async with other.listening():
            await publishing.tasks.publish(ResourceUpdated("run://1"))
            await until(lambda: len(other.told(UPDATED)) == 1, "it was told")
        await other.leave()
        await one.ask("resources/subscribe", {"uri": "run://1"})
        await publishing.tasks.publish(ResourceUpdated("run://1"))
        await until(lambda: len(one.told(UPDATED)) == 1, "the other was told")
        assert other.told(UPDATED) == [{"uri": "run://1"}]


async def test_without_a_session_or_publishing_nothing_is_promised(
    app: App, publishing: App
) -> None:
    """Ours: a stateless server has no stream for news, and one that publishes nothing has none."""
    async with served(publishing, stateless_http=True) as client:
        assert client.capabilities["resources"] == {"subscribe": False, "listChanged": False}
        refused = await client.ask("resources/subscribe", {"uri": "run://1"})
        assert refused.error["code"] == METHOD_NOT_FOUND
    async with served(app) as client:
        assert client.capabilities["resources"] == {"subscribe": False, "listChanged": False}
        for method in ("resources/subscribe", "resources/unsubscribe"):
            refused = await client.ask(method, {"uri": "run://1"})
            assert refused.error["code"] == METHOD_NOT_FOUND


async def test_a_subscription_without_a_uri_or_one_too_many_is_refused(
    publishing: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awhile.server.subscribers.RESOURCES_PER_SESSION", 1)
    async with served(publishing) as client:
        assert (await client.ask("resources/subscribe", {})).error["code"] == INVALID_PARAMS
        for _ in range(2):
            assert (await client.ask("resources/subscribe", {"uri": "run://1"})).result == {}
        refused = await client.ask("resources/subscribe", {"uri": "run://2"})
        assert refused.error["code"] == INVALID_PARAMS
        assert "already" in refused.error["message"]
