"""What a run asks its person before it goes on: which reading is meant, and whether to run it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from awhile import CancelOutcome, Handle, OnInput, State
from awhile.ask.answer.answerer import LEAVE, NARROW, RUN
from awhile.ask.engines.postgres.engine import PostgresEngine
from awhile.errors import Cancelled
from checks.postgres import Cluster
from tests.contract.engines.server import new_database, running
from tests.interaction.ask.conftest import PATIENCE_SECONDS, App, built, serving
from tests.interaction.ask.instant import Instant
from tests.interaction.server.legacy import Legacy
from tests.interaction.server.peer import accepted
from tests.interaction.server.peer import serving as served_by_peer

pytestmark = pytest.mark.anyio

DEAR = "SELECT count(*) FROM orders JOIN customers USING (customer_id)"
CHEAP = "SELECT count(*) FROM orders"
AMBIGUOUS = "average revenue by country"

Json = dict[str, Any]


@asynccontextmanager
async def priced(
    folder: Path, warehouse: Path, *, on_input: OnInput | None = None, forms: bool = True
) -> AsyncGenerator[tuple[App, Instant]]:
    """The app on such an engine, which asks from a cost of 100 on."""
    engine = Instant(warehouse)
    async with serving(
        folder,
        engine,
        ask_above_cost=100,
        on_input=on_input,
        answers_forms=forms,
        lease_seconds=1,
    ) as app:
        yield app, engine


def saying(seen: list[Json] | None = None, **fields: str) -> OnInput:
    """Fills in every form, field by field."""

    async def answer(request: Mapping[str, Any]) -> Json:
        if seen is not None:
            seen.append(dict(request["params"]))
        wanted = request["params"]["requestedSchema"]["properties"]
        return {"action": "accept", "content": {name: fields[name] for name in wanted}}

    return answer


async def refusing(_request: Mapping[str, Any]) -> Json:
    """Says no to every form."""
    return {"action": "decline"}


async def asked(handle: Handle) -> None:
    """Wait until it asks."""
    with anyio.fail_after(PATIENCE_SECONDS):
        async for now in handle.watch():
            if now.state is State.NEEDS_INPUT:
                return


async def test_an_expensive_query_runs_once_its_person_says_so(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: and what was decided is kept with the run."""
    seen: list[Json] = []
    async with priced(tmp_path, warehouse, on_input=saying(seen, choice=RUN)) as (app, engine):
        answer = await app.call("run_sql", sql=DEAR)
        told = await app.call("explain_run", run_id=answer["run_id"])
    assert answer["row_count"] == 1
    assert engine.ran == [DEAR]
    [form] = seen
    assert "estimates a cost of 1,000" in form["message"]
    fields = form["requestedSchema"]["properties"]
    assert fields["choice"]["enum"] == [RUN, NARROW, LEAVE]
    assert DEAR in form["message"]
    assert [one["chosen"] for one in told["decisions"]] == [RUN]
    assert told["estimate"] == {"rows": 2.0, "cost": 1000.0}


async def test_a_cheap_query_is_not_asked_about(tmp_path: Path, warehouse: Path) -> None:
    """Ours."""
    async with priced(tmp_path, warehouse) as (app, _):
        assert (await app.call("run_sql", sql=CHEAP))["row_count"] == 1


async def test_narrowed_sql_goes_on_in_the_same_run(tmp_path: Path, warehouse: Path) -> None:
    """Ours."""
    seen: list[Json] = []
    on_input = saying(seen, choice=NARROW, sql=f"{CHEAP} ")
    async with priced(tmp_path, warehouse, on_input=on_input) as (app, engine):
        answer = await app.call("run_sql", sql=DEAR)
        assert len((await app.call("list_runs"))["runs"]) == 1
    assert seen[1]["requestedSchema"]["properties"]["sql"]["default"] == DEAR
    assert (answer["sql"], answer["row_count"]) == (CHEAP, 1)
    assert engine.ran == [CHEAP]


async def test_a_narrowed_question_is_understood_anew(tmp_path: Path, warehouse: Path) -> None:
    """Ours."""
    narrower = "how many orders are there"
    on_input = saying(choice=NARROW, question=narrower)
    async with priced(tmp_path, warehouse, on_input=on_input) as (app, engine):
        answer = await app.call("ask", question="revenue by country")
    assert (answer["question"], answer["row_count"]) == (narrower, 1)
    assert engine.ran == [answer["sql"]]


@pytest.mark.parametrize(
    ("on_input", "why"),
    [
        (refusing, "you declined"),
        (saying(choice=LEAVE), "you chose not to run it"),
        (saying(choice=NARROW, sql=DEAR), "the SQL was left as it was"),
    ],
    ids=["declined", "not to be run", "left as it was"],
)
async def test_a_no_ends_the_run_honestly_and_is_no_cancel(
    tmp_path: Path, warehouse: Path, on_input: OnInput, why: str
) -> None:
    """Ours."""
    async with priced(tmp_path, warehouse, on_input=on_input) as (app, engine):
        answer = await app.call("run_sql", sql=DEAR)
        [run] = (await app.call("list_runs"))["runs"]
    assert answer["not_run"].startswith(why)
    assert "rows" not in answer
    assert (run["status"], run["outcome"], run["is_error"]) == ("completed", "not_run", False)
    assert run["cancel_asked_at"] is None
    assert engine.ran == []


async def test_a_run_stopped_while_it_asks_is_cancelled_and_never_ran(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours."""
    async with priced(tmp_path, warehouse) as (app, engine):
        handle = await app.start("run_sql", sql=DEAR)
        await asked(handle)
        assert await handle.cancel() is CancelOutcome.CANCELLED
        with pytest.raises(Cancelled):
            await handle.result()
    assert engine.ran == []


@pytest.mark.parametrize("tool", ["run_sql", "ask"])
async def test_who_cannot_be_asked_gets_the_question_and_says_so_in_the_next_call(
    tmp_path: Path, warehouse: Path, tool: str
) -> None:
    """Ours: by its result, with its choices."""
    about = {"sql": DEAR} if tool == "run_sql" else {"question": "revenue by country"}
    async with priced(tmp_path, warehouse, forms=False) as (app, engine):
        result = await app.server.call(tool, about)
        answer: Json = result.structured_content or {}
        await app.check(tool, answer)
        assert engine.ran == []
        [run] = (await app.call("list_runs"))["runs"]
        confirmed = await app.call(tool, **about, confirm_cost=True)
    assert answer["cost"]["limit"] == 100
    assert answer["cost"]["tool"] == tool
    assert answer["question_back"]["choices"] == [{"label": RUN, "confirm_cost": True}]
    assert run["outcome"] == "question_back"
    text = result.content[0].text  # type: ignore[union-attr]
    assert "It has NOT been run" in text
    assert "confirm_cost true" in text
    assert confirmed["row_count"] >= 1


async def test_which_reading_is_meant_is_asked_within_the_run(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: the chosen question is the one that is answered, and the run says so."""
    seen: list[Json] = []

    async def first(request: Mapping[str, Any]) -> Json:
        seen.append(dict(request["params"]))
        labels = request["params"]["requestedSchema"]["properties"]["choice"]["enum"]
        return {"action": "accept", "content": {"choice": labels[0]}}

    engine = Instant(warehouse)
    async with serving(tmp_path, engine, on_input=first, answers_forms=True) as app:
        answer = await app.call("ask", question=AMBIGUOUS)
        [run] = (await app.call("list_runs"))["runs"]
        told = await app.call("explain_run", run_id=run["run_id"])
    [form] = seen
    assert answer["row_count"] >= 1
    assert answer["question"] != AMBIGUOUS
    assert run["question"] == answer["question"] == told["question"]
    assert told["asked"] == AMBIGUOUS
    assert told["decisions"][0]["asked"] == form["message"]
    assert [one["action"] for one in run["answers"]] == ["accept"]


async def test_no_reading_at_all_may_be_meant(tmp_path: Path, warehouse: Path) -> None:
    """Ours."""
    engine = Instant(warehouse)
    async with serving(tmp_path, engine, on_input=refusing, answers_forms=True) as app:
        answer = await app.call("ask", question=AMBIGUOUS)
    assert answer["not_run"] == "you declined"


async def test_a_run_whose_worker_was_lost_while_it_asked_asks_again_and_goes_on(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: the tool is safe to run again; the next worker puts the question under a new key."""
    async with priced(tmp_path, warehouse) as (app, engine):
        handle = await app.start("run_sql", sql=DEAR)
        await asked(handle)
        assert handle.id is not None
        task_id, before = handle.id, set(handle.now.inputs)
    assert engine.ran == []  # and nobody has handed it back: the lease has to run out
    async with priced(tmp_path, warehouse) as (app, engine):
        handle = await app.server.resume(task_id)
        await asked(handle)
        [key] = handle.now.inputs
        assert key not in before
        await handle.answer({key: {"action": "accept", "content": {"choice": RUN}}})
        with anyio.fail_after(PATIENCE_SECONDS):
            answer: Json = (await handle.result()).structured_content or {}
    assert answer["row_count"] == 1
    assert engine.ran == [DEAR]


@pytest.mark.postgres
async def test_postgresql_says_itself_what_is_expensive(
    tmp_path: Path, postgres_cluster: Cluster
) -> None:
    """Ours: by EXPLAIN, with the values bound, and without running it."""
    urls = new_database(postgres_cluster)
    endless = "SELECT count(*) FROM generate_series(1, 2000000000) AS n WHERE n % :by = 9"
    about = {"sql": endless, "parameters": {"by": 7}}
    engine = PostgresEngine(urls.reader)
    async with serving(tmp_path, engine, ask_above_cost=10_000_000) as app:
        checked = await app.call("check_sql", **about)
        answer = await app.call("run_sql", **about)
        assert (await app.call("run_sql", sql="SELECT 1"))["row_count"] == 1
        assert running(urls.reader) == []
    assert checked["asks_first"]
    assert answer["cost"]["cost"] == checked["estimate"]["cost"] > 10_000_000
    assert "PostgreSQL estimates a cost of" in answer["question_back"]["text"]


async def test_an_older_client_is_asked_on_the_stream_of_its_call_or_by_its_answer(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: MCP 2025-11-25, with and without elicitation declared."""
    engine = Instant(warehouse)
    mcp, _ = built(tmp_path, engine, ask_above_cost=100)

    async def narrow(request: Json) -> Json:
        wanted = request["params"]["requestedSchema"]["properties"]
        filled = {"choice": NARROW, "sql": CHEAP}
        return {"result": accepted(**{name: filled[name] for name in wanted})}

    async with served_by_peer(mcp) as peer, httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        asked_here = await Legacy(peer.url, http).opened()
        asked_here.on_request = narrow
        answer = (await asked_here.call("run_sql", sql=DEAR)).result["structuredContent"]
        unasked = await Legacy(peer.url, http).opened(can={})
        told = (await unasked.call("run_sql", sql=DEAR)).result["structuredContent"]
    assert (answer["sql"], answer["row_count"]) == (CHEAP, 1)
    assert len(asked_here.asked) == 2
    assert told["question_back"]["choices"][0]["confirm_cost"] is True
    assert engine.ran == [CHEAP]
