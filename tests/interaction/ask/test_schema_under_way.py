"""A server's schema that its owner changes while people ask: true messages, and news of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import psycopg
import pytest

from awhile import connect
from awhile.ask.engines.contract import Engine
from awhile.ask.engines.postgres.engine import PostgresEngine
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.client import RemoteServer
from awhile.errors import ToolFailed
from tests.contract.engines import mariadb, server
from tests.interaction.ask.test_schema import served
from tests.interaction.server import peer as http
from tests.interaction.server.test_listening import listening

pytestmark = pytest.mark.anyio

SLOW = "SELECT count(*) FROM orders a, orders b, orders c WHERE a.id * b.id * c.id % 7 = 3"
"""Takes a second or two."""


@dataclass(frozen=True)
class Shop:
    """A database on a server, its engine, and its owner's hand."""

    engine: Engine
    execute: Callable[[str], object]
    running: Callable[[], list[str]]


@pytest.fixture(
    params=[
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("mariadb", marks=pytest.mark.mariadb),
    ]
)
def shop(request: pytest.FixtureRequest) -> Shop:
    made = "CREATE TABLE orders (id int, total int); CREATE TABLE stock (x int); "
    if request.param == "postgres":
        theirs = server.new_database(request.getfixturevalue("postgres_cluster"))

        def execute(sql: str) -> object:
            with psycopg.connect(theirs.owner, autocommit=True) as owner:
                return owner.execute(sql.encode())

        execute(f"{made}INSERT INTO orders SELECT n, n FROM generate_series(1, 300) n")
        engine = PostgresEngine(theirs.reader)
        return Shop(engine, execute, lambda: server.running(theirs.reader))
    ours = mariadb.new_database(request.getfixturevalue("mariadb_server"))
    fill = "INSERT INTO orders SELECT seq, seq FROM seq_1_to_250"
    mariadb.asked(ours.owner, *made.split(";")[:-1], fill)
    return Shop(
        SQLAlchemyEngine(ours.reader),
        lambda sql: mariadb.asked(ours.owner, sql),
        lambda: mariadb.running(ours.reader),
    )


@asynccontextmanager
async def asked(shop: Shop, folder: Path) -> AsyncGenerator[tuple[RemoteServer, http.Peer]]:
    async with (
        served(folder, shop.engine) as peer,
        connect(peer.url, ledger=None) as client,
    ):
        with anyio.fail_after(60):
            yield client, peer


async def told_by(client: RemoteServer, tool: str, **arguments: Any) -> dict[str, Any]:
    return (await client.call(tool, arguments)).structured_content or {}


async def test_what_is_gone_is_said_to_be_and_the_schema_is_read_again_and_announced(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a minute before the catalog would have been looked at again."""
    monkeypatch.setattr("awhile.ask.mcp_server.schemas.LOOK_SECONDS", 0.05)
    async with asked(shop, tmp_path) as (client, peer):
        wanted = ["schema://tables/orders", "schema://tables/stock"]
        async with listening(
            peer, resourcesListChanged=True, resourceSubscriptions=wanted
        ) as stream:
            await stream.acknowledged()
            assert "total" in str(await told_by(client, "describe_database"))
            shop.execute("ALTER TABLE orders DROP COLUMN total")
            shop.execute("DROP TABLE stock")
            for gone in ("SELECT total FROM orders", "SELECT * FROM stock"):
                with pytest.raises(ToolFailed) as failed:
                    await client.call("run_sql", {"sql": gone})
                assert gone.split()[1 if "total" in gone else -1] in str(failed.value)
            told = [await stream.next() for _ in range(3)]
            assert {(one["method"], one["params"].get("uri")) for one in told} == {
                ("notifications/resources/list_changed", None),
                ("notifications/resources/updated", "schema://tables/orders"),
                ("notifications/resources/updated", "schema://tables/stock"),
            }
            after = await told_by(client, "describe_database")
    [orders] = after["tables"]
    assert [column["name"] for column in orders["columns"]] == ["id"]


@pytest.mark.long
async def test_a_table_that_is_being_read_keeps_its_shape_to_the_end_of_the_read(
    shop: Shop, tmp_path: Path
) -> None:
    """Ours: the server makes whoever changes it wait; whoever asks next sees the new one."""
    changed = anyio.Event()

    async def change() -> None:
        await anyio.to_thread.run_sync(shop.execute, "ALTER TABLE orders DROP COLUMN total")
        changed.set()

    async with asked(shop, tmp_path) as (client, _), anyio.create_task_group() as group:
        reading = await client.start("run_sql", {"sql": SLOW})
        await http.until(lambda: bool(shop.running()), "it reads")
        group.start_soon(change)
        answer: dict[str, Any] = (await reading.result()).structured_content or {}
        assert answer["row_count"] == 1, answer
        await changed.wait()
        answer = await told_by(client, "run_sql", sql="SELECT * FROM orders WHERE id = 1")
        assert answer["rows"] == [["1"]]
