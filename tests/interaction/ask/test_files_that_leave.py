"""Results leave as files by a route beside the endpoint, for their owner alone."""

from __future__ import annotations

import io
import json
import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import anyio
import httpx2
import psutil
import pyarrow.parquet as pq
import pytest
from mcp.server.auth.settings import AuthSettings
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from awhile import RemoteServer, Tasks, connect
from awhile.ask.engines.contract import Budget
from awhile.ask.engines.duckdb.engine import DuckDBEngine
from awhile.ask.mcp_server.build import build_server
from awhile.ask.results import Results
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.web.files import Files
from tests.interaction.ask.conftest import TODAY
from tests.interaction.ask.instant import Instant
from tests.interaction.server.peer import serving, serving_app, until
from tests.interaction.server.test_owners import ISSUER, SERVER_URL, Verifier
from tests.machine.results.writing import sheets

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 60

ROWS = (
    "SELECT 9007199254740992 + range AS id, 'n, ' || range % 3 AS name, NULL AS nothing "
    "FROM range({})"
)
ADA = "ada-at-home"


@dataclass(frozen=True)
class Served:
    """The app over HTTP, its callers known by their tokens."""

    url: str
    http: httpx2.AsyncClient
    ada: RemoteServer
    results: Path

    async def run(self, sql: str) -> str:
        """Ada's run of it; its id."""
        answer = await self.ada.call("run_sql", {"sql": sql})
        content: dict[str, Any] = answer.structured_content or {}
        return str(content["run_id"])

    async def get(self, name: str, token: str | None = ADA, **headers: str) -> httpx2.Response:
        """The answer to a request for a file."""
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        return await self.http.get(urljoin(self.url, f"results/{name}"), headers=headers)


@asynccontextmanager
async def served(
    folder: Path, database: Path, budget: Budget | None = None
) -> AsyncGenerator[Served]:
    mcp = build_server(
        tasks=Tasks(f"sqlite:///{folder / 'tasks.db'}"),
        engine=Instant(database) if budget is None else DuckDBEngine(database, spill_folder=folder),
        translator=BuiltInTranslator(),
        results=Results.in_folder(folder / "results"),
        budget=budget or Budget(),
        database_name="the sample",
        today=lambda: TODAY,
        log_level="WARNING",
        token_verifier=Verifier(),
        auth=AuthSettings(
            issuer_url=AnyHttpUrl(ISSUER),
            resource_server_url=SERVER_URL,
            validate_token_resource=False,
        ),
    )
    headers = {"authorization": f"Bearer {ADA}"}
    async with (
        serving(mcp) as peer,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
        connect(peer.url, ledger=None, headers=headers) as ada,
    ):
        yield Served(peer.url, http, ada, folder / "results")


async def test_a_result_leaves_in_every_form_in_the_view_that_is_asked_for(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours; field case D10: exact to the last digit, whichever way it leaves."""
    async with served(tmp_path, warehouse) as app:
        run_id = await app.run(ROWS.format(1000))
        whole = await app.get(f"{run_id}.csv")
        lines = whole.text.split("\r\n")
        assert lines[:2] == ["id,name,nothing", '9007199254740992,"n, 0",']
        assert (len(lines), lines[-1]) == (1002, "")
        assert whole.headers["content-disposition"] == (
            f'attachment; filename="rows-{run_id[:8]}.csv"'
        )
        filters = json.dumps([{"column": 0, "operator": ">", "value": "9007199254741989"}])
        view = f"sort=0&desc=true&filters={filters}"
        part = await app.get(f"{run_id}.csv?{view}&lines=lf&bom=true")
        assert part.content.decode() == (
            '\ufeffid,name,nothing\n9007199254741991,"n, 0",\n9007199254741990,"n, 2",\n'
        )
        excel = await app.get(f"{run_id}.xlsx?{view}")
        found = sheets(excel.content)
        assert found["Rows"][1:] == [["9007199254741991", "n, 0"], ["9007199254741990", "n, 2"]]
        assert ["SQL", ROWS.format(1000)] in found["About these rows"]
        stored = await app.get(f"{run_id}.parquet")
        assert stored.content == await anyio.Path(app.results / f"{run_id}.parquet").read_bytes()
        sorted_ = await app.get(f"{run_id}.parquet?{view}")
        table = pq.ParquetFile(io.BytesIO(sorted_.content)).read_row_groups([0])  # type: ignore[arg-type]
        assert table.column(0).to_pylist() == [9007199254741991, 9007199254741990]


async def test_a_file_can_be_had_in_parts_and_only_when_it_has_changed(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours, after RFC 9110, sections 13.1.5 and 14."""
    async with served(tmp_path, warehouse) as app:
        run_id = await app.run(ROWS.format(10))
        name = f"{run_id}.parquet"
        whole = await app.get(name)
        part = await app.get(name, range="bytes=4-9", **{"if-range": whole.headers["etag"]})
        assert (part.status_code, part.content) == (206, whole.content[4:10])
        head = await app.http.head(
            urljoin(app.url, f"results/{run_id}.csv"),
            headers={"authorization": f"Bearer {ADA}"},
        )
        assert (head.status_code, head.content) == (200, b"")


async def test_nobody_else_learns_whether_a_run_exists(tmp_path: Path, warehouse: Path) -> None:
    """Ours; field case A13."""
    async with served(tmp_path, warehouse) as app:
        run_id = await app.run(ROWS.format(1))
        foreign = await app.get(f"{run_id}.csv", "eve")
        unknown = await app.get(f"{secrets.token_hex(16)}.csv", "eve")
        nonsense = await app.get("..tasks.csv", "eve")
        assert [one.status_code for one in (foreign, unknown, nonsense)] == [404] * 3
        assert foreign.content == unknown.content == nonsense.content
        assert (await app.get(f"{run_id}.csv", "ada-at-work")).status_code == 200
        for token in (None, "forged"):
            refused = await app.get(f"{run_id}.csv", token)
            assert refused.status_code == 401
            assert "resource_metadata" in refused.headers["www-authenticate"]
        rebound = await app.get(f"{run_id}.csv", host="evil.example")
        assert rebound.status_code == 421


async def test_what_is_no_whole_result_is_said(tmp_path: Path, warehouse: Path) -> None:
    """Ours; field cases D8 and D9: a part of the rows is never taken for all of them."""
    async with served(tmp_path, warehouse, Budget(rows=5)) as app:
        run_id = await app.run(ROWS.format(10))
        for kind in ("csv", "parquet", "xlsx"):
            part = await app.get(f"{run_id}.{kind}")
            assert "to make" not in part.headers["awhile-notice"]
            assert "these are of the first 5" in part.headers["awhile-notice"]
            assert f"-first-5.{kind}" in part.headers["content-disposition"]
            if kind == "xlsx":
                last = sheets(part.content)["About these rows"]
                assert ["Rows", "the first 5 of more: the rest was not read"] in last


async def test_what_cannot_be_made_is_told(tmp_path: Path, warehouse: Path) -> None:
    """Ours."""
    async with served(tmp_path, warehouse) as app:
        run_id = await app.run(ROWS.format(1))
        refused = await app.ada.call("ask", {"question": "how happy is the weather"})
        content: dict[str, Any] = refused.structured_content or {}
        no_rows = str(content["run_id"])
        wrong = {
            f"{run_id}.csv?sort=9": "there are 3",
            f"{run_id}.csv?sort=-1": "no column's number",
            f"{run_id}.csv?bom=yes": "neither 'true' nor 'false'",
            f"{run_id}.csv?lines=cr": "neither 'crlf' nor 'lf'",
            f"{run_id}.csv?filters=[1]": "filters",
            f'{run_id}.csv?filters=[{{"column":0,"operator":"=","value":"x"}}]': "no number",
        }
        for name, said in wrong.items():
            answer = await app.get(name)
            assert (answer.status_code, said in answer.text) == (400, True), answer.text
        answer = await app.get(f"{no_rows}.csv")
        assert (answer.status_code, "without rows" in answer.text) == (409, True)


async def test_who_leaves_stops_a_sort_and_the_making_of_a_file(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: nothing goes on of a page or a download whose client has gone."""
    async with served(tmp_path, warehouse) as app:
        run_id = await app.run("SELECT range AS n, md5(range::VARCHAR) AS h FROM range(900_000)")
        views, stored = app.results / ".views", app.results / f"{run_id}.parquet"
        headers = {"authorization": f"Bearer {ADA}"}
        url = urljoin(app.url, f"results/{run_id}")
        before = await app.http.head(f"{url}.xlsx", headers=headers)
        assert "takes about 30 s to make" in before.headers["awhile-notice"]
        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as group:
                asked = {"run_id": run_id, "sort_column": 1}
                group.start_soon(lambda: app.ada.call("result_rows", asked))
                await until(lambda: any(views.glob("*.part")), "the rows are being sorted")
                group.cancel_scope.cancel()
            await until(lambda: not any(views.glob("*")), "nothing is left of it")
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: app.http.get(f"{url}.xlsx", headers=headers))
                await until(lambda: any(views.glob("*.spill/*")), "a sheet is being written")
                group.cancel_scope.cancel()
            await until(lambda: not any(views.glob("*")), "what was written is gone")
            async with app.http.stream("GET", f"{url}.csv", headers=headers) as download:
                async for _ in download.aiter_bytes():
                    break
                assert is_open(stored)
            await until(lambda: not is_open(stored), "the result is closed")


async def test_the_page_passes_files_on_and_keeps_none(tmp_path: Path, warehouse: Path) -> None:
    """Ours: what it is told, it tells; and who leaves it stops the making at the server."""
    tasks = Tasks(f"sqlite:///{tmp_path / 'tasks.db'}")
    mcp = build_server(
        tasks=tasks,
        engine=Instant(warehouse),
        translator=BuiltInTranslator(),
        results=Results.in_folder(tmp_path / "results"),
        budget=Budget(),
        database_name="the sample",
        today=lambda: TODAY,
    )
    async with serving(mcp) as peer, connect(peer.url, ledger=None) as server, Files(peer.url) as f:
        sql = "SELECT range AS n, md5(range::VARCHAR) AS h FROM range(200_000)"
        answer: dict[str, Any] = (
            await server.call("run_sql", {"sql": sql})
        ).structured_content or {}
        run_id, views = str(answer["run_id"]), tmp_path / "results" / ".views"
        page = Starlette(routes=f.routes())
        async with serving_app(page, "/runs") as at, httpx2.AsyncClient(timeout=60) as http:
            url = f"{at.url}/{run_id}/file"
            text = await http.get(f"{url}.csv", params={"sort": "0", "desc": "true", "lines": "lf"})
            assert text.text.splitlines()[1].startswith("199999,")
            part = await http.get(f"{url}.parquet", headers={"range": "bytes=0-3"})
            assert (part.status_code, part.content) == (206, b"PAR1")
            assert part.headers["content-range"].startswith("bytes 0-3/")
            gone = await http.get(f"{at.url}/{'0' * 32}/file.csv")
            assert (gone.status_code, gone.json()["error"]["code"]) == (404, "gone")
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: http.get(f"{url}.xlsx"))
                await until(lambda: any(views.glob("*.spill/*")), "a sheet is being written")
                group.cancel_scope.cancel()
            await until(lambda: not any(views.glob(".*")), "what was written is gone")


def is_open(path: Path) -> bool:
    return any(file.path == str(path) for file in psutil.Process().open_files())
