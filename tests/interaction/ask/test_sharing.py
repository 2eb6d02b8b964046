"""A person lets others read one run, by a link, until they take it back. Source: issue "The page
and the terminal", 8: a shared link is an explicit act and revocable."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import anyio
import httpx2
import pytest
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from awhile import Handle, RemoteServer, Tasks, connect
from awhile.ask.answer.answerer import RUN
from awhile.ask.answer.shares import Shares
from awhile.ask.engines.contract import Budget
from awhile.ask.mcp_server.build import build_server
from awhile.ask.mcp_server.reading import NOT_SHARED
from awhile.ask.results import Results
from awhile.ask.results.storage import open_storage
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.web.board import Clocks, Run
from awhile.ask.web.desk import Desk
from awhile.errors import ToolFailed
from tests.interaction.ask.conftest import PATIENCE_SECONDS, TODAY, App
from tests.interaction.ask.instant import Instant
from tests.interaction.ask.test_asking_first import DEAR
from tests.interaction.server.peer import INVALID_PARAMS, Peer, accepted, serving
from tests.interaction.server.test_audit import Trail, trail
from tests.interaction.server.test_owners import ISSUER, SERVER_URL, Verifier, as_

__all__ = ["trail"]

pytestmark = pytest.mark.anyio

MARKUP = "<img src=x onerror=alert(1)>"
QUESTION = "how many customers are there"
ROWS = f"SELECT range AS n, 'n' || range AS \"{MARKUP}\" FROM range(300)"

Json = dict[str, Any]


class Named(Verifier):
    """Its tokens say what to call a person."""

    async def verify_token(self, token: str) -> AccessToken | None:
        known = await super().verify_token(token)
        if known is not None and known.claims is not None:
            known.claims |= {"name": f"Ada {MARKUP}", "email": "ada@example.com"}
        return known


@dataclass(frozen=True)
class Served:
    """One replica, with two people who use it."""

    peer: Peer
    ada: RemoteServer
    eve: RemoteServer

    async def run(self, tool: str = "run_sql", **arguments: Any) -> str:
        """Ada's run; its id."""
        return str((await said(self.ada, tool, **arguments))["run_id"])

    async def share(self, run_id: str, **how: Any) -> Json:
        """A share that Ada makes of it."""
        return await said(self.ada, "share_run", run_id=run_id, **how)

    async def file(self, name: str, by: str = "eve") -> httpx2.Response:
        """The answer to a request for a file."""
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            return await http.get(urljoin(self.peer.url, f"results/{name}"), headers=bearer(by))


def bearer(token: str) -> dict[str, str]:
    """The header that says who calls."""
    return {"authorization": f"Bearer {token}"}


async def said(by: RemoteServer, tool: str, **arguments: Any) -> Json:
    """The structured content of one call."""
    with anyio.fail_after(PATIENCE_SECONDS):
        return (await by.call(tool, arguments)).structured_content or {}


async def asked_for(handle: Handle) -> str:
    """The key of what the run asks, once it does."""
    with anyio.fail_after(PATIENCE_SECONDS):
        async for now in handle.watch():
            for key in now.inputs:
                return key
    raise AssertionError("it ended without having asked")


async def refused(by: RemoteServer, tool: str, **arguments: Any) -> str:
    """Why a call is refused."""
    with pytest.raises(ToolFailed) as why:
        await said(by, tool, **arguments)
    return str(why.value)


@asynccontextmanager
async def served(folder: Path, store_url: str, database: Path) -> AsyncGenerator[Served]:
    mcp = build_server(
        tasks=Tasks(store_url),
        engine=Instant(database),
        translator=BuiltInTranslator(),
        results=Results.in_folder(folder / "results"),
        budget=Budget(),
        database_name="the sample",
        today=lambda: TODAY,
        ask_above_cost=100,
        log_level="WARNING",
        token_verifier=Named(),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(ISSUER),
            resource_server_url=SERVER_URL,
            validate_token_resource=False,
        ),
    )

    async with (
        serving(mcp) as peer,
        connect(peer.url, headers=bearer("ada-at-home"), ledger=None, answers_forms=True) as ada,
        connect(peer.url, headers=bearer("eve"), ledger=None) as eve,
    ):
        yield Served(peer, ada, eve)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A new, empty store."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return on_a_file(tmp_path)


def on_a_file(folder: Path) -> str:
    """A store for what does not depend on the kind of store."""
    return f"sqlite:///{folder / 'tasks.db'}"


async def test_who_has_the_share_reads_the_run_with_its_rows_its_chart_and_its_files(
    tmp_path: Path, warehouse: Path, store_url: str
) -> None:
    async with served(tmp_path, store_url, warehouse) as app:
        run_id = await app.run(sql=ROWS)
        await said(app.ada, "label_run", run_id=run_id, title=f"All {MARKUP}")
        share_id = (await app.share(run_id))["share_id"]
        opened = await said(app.eve, "open_shared", share_id=share_id)
        assert opened["shared_by"] == f"Ada {MARKUP} (ada@example.com)"
        assert (opened["status"], opened["outcome"]) == ("completed", "table")
        assert (opened["title"], opened["sql"], opened["asks"]) == (f"All {MARKUP}", ROWS, "sql")
        answer = opened["answer"]
        assert (answer["run_id"], answer["row_count"]) == (share_id, 300)
        assert [one["name"] for one in answer["columns"]] == ["n", MARKUP]
        assert answer["result_name"] is None
        last: Json = {"sort_column": 0, "descending": True, "limit": 1}
        page = await said(app.eve, "result_rows", run_id=share_id, **last)
        assert page["rows"] == [["299", "n299"]]
        cell = await said(app.eve, "result_cell", run_id=share_id, row=7, column=1)
        assert cell["text"] == "n7"
        assert "kind" in await said(app.eve, "result_chart", run_id=share_id)
        own = (await said(app.eve, "run_sql", sql=ROWS.replace("300", "299")))["run_id"]
        changes = await said(app.eve, "result_changes", run_id=share_id, earlier_run_id=own)
        assert (changes["new"], changes["gone"]) == (1, 0)
        csv = await app.file(f"{share_id}.csv?lines=lf")
        assert csv.text.splitlines()[:2] == [f"n,{MARKUP}", "0,n0"]
        assert (await app.file(f"{share_id}.parquet")).content[:4] == b"PAR1"
        assert (await app.file(f"{share_id}.csv", "ada-at-work")).status_code == 200


async def test_a_question_is_shared_with_its_reading_and_can_be_asked_by_whoever_reads_it(
    tmp_path: Path, warehouse: Path
) -> None:
    async with served(tmp_path, on_a_file(tmp_path), warehouse) as app:
        run_id = await app.run("ask", question=QUESTION)
        share_id = (await app.share(run_id))["share_id"]
        opened = await said(app.eve, "open_shared", share_id=share_id)
        assert (opened["question"], opened["asks"]) == (QUESTION, "question")
        assert opened["reading"]
        assert opened["translator"]
        next_id = await app.run("ask", question="and by country?", follows=run_id)
        share_id = (await app.share(next_id))["share_id"]
        opened = await said(app.eve, "open_shared", share_id=share_id)
        assert opened["asks"] == "sql"  # the words alone would ask something else
        assert "follows" not in opened
        [named] = [
            one["result_name"]
            for one in (await said(app.ada, "list_runs"))["runs"]
            if one["run_id"] == run_id
        ]
        over = await app.run(sql=f"SELECT * FROM {named}")
        opened = await said(app.eve, "open_shared", share_id=(await app.share(over))["share_id"])
        assert opened["asks"] is None  # of another's earlier results nobody can ask


async def test_who_has_the_share_can_do_nothing_to_the_run_and_sees_nothing_else(
    tmp_path: Path, warehouse: Path, store_url: str
) -> None:
    async with served(tmp_path, store_url, warehouse) as app:
        run_id = await app.run(sql=ROWS)
        other = await app.run(sql="SELECT 1 AS other")
        made = await app.share(run_id)
        share_id = made["share_id"]
        await said(app.eve, "open_shared", share_id=share_id)
        own_words = set[str]()
        for one in (share_id, run_id, other):
            for tool, more in (
                ("label_run", {"title": "mine now"}),
                ("delete_run", {}),
                ("share_run", {}),
                ("run_shares", {}),
                ("revoke_share", {"share": made["share"]}),
                ("run_history", {}),
                ("explain_run", {}),
            ):
                why = await refused(app.eve, tool, run_id=one, **more)
                own_words.add(why.partition(": ")[2])
            for method in ("tasks/get", "tasks/cancel"):
                foreign = await as_(app.peer, "eve", method, {"taskId": one})
                assert foreign.error["code"] == INVALID_PARAMS
        assert len(own_words) == 1
        assert "no such run of yours" in own_words.pop()
        for one in (run_id, other):
            assert "no such run of yours" in await refused(app.eve, "result_rows", run_id=one)
            assert (await app.file(f"{one}.csv")).status_code == 404
        assert (await said(app.eve, "list_runs"))["runs"] == []
        [kept] = (await said(app.ada, "run_shares", run_id=run_id))["shares"]
        assert (kept["share"], kept["opened"]) == (made["share"], 1)


async def test_what_opens_nothing_says_the_same_whether_or_not_it_ever_did(
    tmp_path: Path, warehouse: Path, store_url: str
) -> None:
    """Ours, after field case A13: nobody learns what there was."""
    async with served(tmp_path, store_url, warehouse) as app:
        run_id, deleted_run, listed = [await app.run(sql=ROWS) for _ in range(3)]
        deleted, revoked, one_of_all = [
            (await app.share(one))["share_id"] for one in (deleted_run, run_id, listed)
        ]
        kept = await app.share(run_id, days=1)
        shares = Shares(Results.in_folder(tmp_path / "results").storage)
        _, expired = shares.make(
            run_id, owner=f"{ISSUER}|user:ada", by=None, now_ms=0, expires_at_ms=86_400_000
        )
        _, of_no_owner = shares.make(
            run_id, owner=f"{ISSUER}|user:eve", by=None, now_ms=0, expires_at_ms=None
        )
        await said(app.ada, "delete_run", run_id=deleted_run)
        [first, *_] = (await said(app.ada, "run_shares", run_id=run_id))["shares"]
        assert expired not in str(first)
        mine = (await said(app.ada, "run_shares", run_id=run_id))["shares"]
        for one in mine:
            if one["share"] != kept["share"]:
                await said(app.ada, "revoke_share", run_id=run_id, share=one["share"])
        assert (await said(app.ada, "revoke_share", run_id=listed))["shares"] == []
        assert "no such share" in await refused(
            app.ada, "revoke_share", run_id=run_id, share=first["share"]
        )
        unknown = f"{run_id}{secrets.token_hex(16)}"
        never = secrets.token_hex(32)
        bodies = set[bytes]()
        for share_id in (deleted, revoked, one_of_all, expired, of_no_owner, unknown, never):
            for tool, name in (
                ("open_shared", "share_id"),
                ("result_rows", "run_id"),
                ("result_chart", "run_id"),
            ):
                assert NOT_SHARED in await refused(app.eve, tool, **{name: share_id})
            answer = await app.file(f"{share_id}.csv")
            assert answer.status_code == 404
            bodies.add(answer.content)
        assert [json.loads(body)["error"]["message"] for body in bodies] == [NOT_SHARED]
        assert NOT_SHARED in await refused(app.eve, "open_shared", share_id="../tasks")
        opened = await said(app.eve, "open_shared", share_id=kept["share_id"])
        assert opened["expires_at"] == kept["expires_at"]


async def test_a_shared_run_is_read_while_it_goes_on(tmp_path: Path, warehouse: Path) -> None:
    async with served(tmp_path, on_a_file(tmp_path), warehouse) as app:
        handle = await app.ada.start("run_sql", {"sql": DEAR})
        assert handle.id is not None
        key = await asked_for(handle)
        share_id = (await app.share(handle.id))["share_id"]
        opened = await said(app.eve, "open_shared", share_id=share_id)
        assert (opened["status"], opened["answer"]) == ("input_required", None)
        assert "has no rows" in await refused(app.eve, "result_rows", run_id=share_id)
        await handle.answer({key: accepted(choice=RUN)})
        await handle.result()
        opened = await said(app.eve, "open_shared", share_id=share_id, again=True)
        assert (opened["status"], opened["answer"]["row_count"]) == ("completed", 1)
        [share] = (await said(app.ada, "run_shares", run_id=handle.id))["shares"]
        assert share["opened"] == 1  # looking how it goes on is not opening it again


class Bearer(httpx2.Auth):
    """Shows a token with every request."""

    def __init__(self, token: str) -> None:
        self._token = token

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        request.headers.update(bearer(self._token))
        yield request


@asynccontextmanager
async def page(app: Served, token: str) -> AsyncGenerator[httpx2.AsyncClient]:
    """What the page of one of them asks its backend."""
    desk = Desk(app.peer.url, auth=Bearer(token))
    backend = httpx2.ASGITransport(Starlette(routes=desk.routes()))
    async with (
        desk.at_work(),
        httpx2.AsyncClient(transport=backend, base_url="http://page") as http,
    ):
        yield http


async def test_the_page_makes_lists_opens_and_takes_back_what_is_shared(
    tmp_path: Path, warehouse: Path
) -> None:
    async with (
        served(tmp_path, on_a_file(tmp_path), warehouse) as app,
        page(app, "ada-at-home") as adas,
        page(app, "eve") as eves,
    ):
        run_id = await app.run(sql=ROWS)
        url = f"/runs/{run_id}/shares"
        made = (await adas.post(url, json={"days": 7})).json()
        opened = (await eves.get(f"/shared/{made['share_id']}")).json()
        assert set(opened) == {"run", "result", "error_text", "shared"}
        own = {one.name for one in fields(Run)} | {one.name for one in fields(Clocks)}
        assert set(opened["run"]) == own - {"at"} | {"rev"}
        assert (opened["run"]["id"], opened["run"]["sql"]) == (made["share_id"], ROWS)
        assert opened["result"]["row_count"] == 300
        assert opened["shared"]["expires_at"] == made["expires_at"]
        assert (await eves.get(f"/shared/{made['share_id']}?again")).status_code == 200
        part = await eves.post(f"/runs/{made['share_id']}/rows", json={"offset": 9, "limit": 1})
        assert part.json()["rows"] == [["9", "n9"]]
        file = await eves.get(f"/runs/{made['share_id']}/file.csv")
        assert file.text.startswith(f"n,{MARKUP}\r\n0,n0")
        [one] = (await adas.get(url)).json()["shares"]
        assert (one["share"], one["opened"]) == (made["share"], 1)
        left = await adas.post(f"{url}/revoke", json={"share": made["share"]})
        assert left.json()["shares"] == []
        closed = await eves.get(f"/shared/{made['share_id']}")
        assert (closed.status_code, closed.json()["error"]["message"]) == (404, NOT_SHARED)
        assert (await eves.get(url)).status_code == 422
        too_long = await adas.post(url, json={"days": 10**9})
        assert too_long.status_code == 422


async def test_shares_are_every_replicas_and_outlive_a_restart(
    tmp_path: Path, warehouse: Path, store_url: str
) -> None:
    async with served(tmp_path, store_url, warehouse) as one:
        run_id = await one.run(sql=ROWS)
        made = await one.share(run_id)
        await said(one.eve, "open_shared", share_id=made["share_id"])
        async with served(tmp_path, store_url, warehouse) as other:
            await said(other.eve, "open_shared", share_id=made["share_id"])
            await said(one.eve, "open_shared", share_id=made["share_id"])
            [share] = (await said(other.ada, "run_shares", run_id=run_id))["shares"]
            assert share["opened"] == 3
    async with served(tmp_path, store_url, warehouse) as again:
        await said(again.eve, "open_shared", share_id=made["share_id"])
        [share] = (await said(again.ada, "run_shares", run_id=run_id))["shares"]
        assert share["opened"] == 4
        await said(again.ada, "revoke_share", run_id=run_id)
        assert NOT_SHARED in await refused(again.eve, "open_shared", share_id=made["share_id"])
    # Whoever sees what is kept cannot open anything, and nothing is left of what was revoked.
    names = {path.name async for path in anyio.Path(tmp_path / "results").iterdir()}
    assert not [name for name in names if name.endswith((".share", ".opened"))]


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_what_is_kept_of_a_share_does_not_open_it(kind: str, tmp_path: Path) -> None:
    where = tmp_path.as_uri() if kind == "file" else f"memory://{secrets.token_hex(8)}"
    storage = open_storage(where, tmp_path / "drafts")
    shares = Shares(storage)
    run_id = secrets.token_hex(16)
    share, share_id = shares.make(run_id, owner="ada", by=None, now_ms=0, expires_at_ms=None)
    secret = share_id.removeprefix(run_id)
    assert len(secret) * 4 >= 128
    shares.count(share)
    kept = storage.read(storage.names(""))
    assert len(kept) == 2
    assert secret not in str(kept)
    assert shares.find(share.key, now_ms=0) is None
    assert shares.find(share_id, now_ms=0) == share
    Shares(storage).count(share)
    assert shares.opened(run_id) == {share.key: 2}
    shares.revoke(run_id)
    assert storage.names("") == []


async def test_sharing_and_reading_by_a_share_are_written_down_without_what_would_open_it(
    tmp_path: Path, warehouse: Path, trail: Trail
) -> None:
    async with served(tmp_path, on_a_file(tmp_path), warehouse) as app:
        run_id = await app.run(sql=ROWS)
        share_id = (await app.share(run_id))["share_id"]
        trail.records.clear()
        await said(app.eve, "open_shared", share_id=share_id)
        await said(app.eve, "result_rows", run_id=share_id)
        await app.file(f"{share_id}.csv")
        await said(app.ada, "revoke_share", run_id=run_id)
        await refused(app.eve, "open_shared", share_id=share_id)
    eve, ada = f"{ISSUER}|user:eve", f"{ISSUER}|user:ada"
    assert trail.told("owner", "did", "task_id", "how", "outcome") == [
        (eve, "saw", run_id, "open_shared", "done"),
        (eve, "saw", run_id, "result_rows", "done"),
        (eve, "saw", run_id, "results", "done"),
        (ada, "revoked", run_id, "revoke_share", "done"),
        (eve, "saw", run_id, "open_shared", "error"),
    ]
    assert share_id not in str([record.__dict__ for record in trail.records])


async def test_where_there_is_one_user_nothing_is_shared(quick: App) -> None:
    run_id = (await quick.call("run_sql", sql="SELECT 1 AS n"))["run_id"]
    assert (await quick.call("describe_database"))["can_share"] is False
    assert "one user" in await refused(quick.server, "share_run", run_id=run_id)
    assert NOT_SHARED in await refused(quick.server, "open_shared", share_id="0" * 64)


async def test_where_callers_are_told_apart_runs_can_be_shared(
    tmp_path: Path, warehouse: Path
) -> None:
    async with served(tmp_path, on_a_file(tmp_path), warehouse) as app:
        assert (await said(app.ada, "describe_database"))["can_share"] is True
