"""Nothing but one SELECT of this database's own data, and every such SELECT."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from awhile.ask.engines.errors import EngineError, QueryError, QueryRefused
from awhile.ask.results.pages import page
from tests.contract.engines.cases import CASES, EngineCase
from tests.contract.engines.conftest import Runner
from tests.contract.engines.legitimate import statements

pytestmark = pytest.mark.anyio

HERE = Path(__file__).parent
BYPASSES: list[dict[str, Any]] = tomllib.loads((HERE / "bypass.toml").read_text())["statement"]


async def rows(runner: Runner, sql: str) -> list[list[str | None]]:
    await runner.run(sql)
    found = page(runner.destination, 0, 100).rows
    runner.destination.unlink()
    return found


async def test_d13_d14_no_bypass_runs_and_nothing_is_changed_by_trying(
    case: EngineCase, runner: Runner, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(runner.folder)
    before, session = await case.fingerprint(database), await rows(runner, case.session)
    wrong: list[str] = []
    for one in BYPASSES:
        word = one.get("word", {}).get(case.dialect)
        try:
            await runner.run(one["sql"])
        except QueryRefused as refused:
            if not refused.why or (word is not None and refused.word.casefold() != word.casefold()):
                wrong.append(f"{one['sql']!r} was refused because of {refused.word!r}")
        except EngineError as error:
            if word is not None:
                wrong.append(f"{one['sql']!r} was no refusal: {error}")
        else:
            runner.destination.unlink()
            if case.dialect not in one.get("runs", []):
                wrong.append(f"{one['sql']!r} ran")
    assert wrong == []
    assert runner.files() == []
    assert await case.fingerprint(database) == before
    assert await rows(runner, case.session) == session


async def test_d15_legitimate_reads_pass_and_run(case: EngineCase, shop: Runner) -> None:
    wrong: list[str] = []
    for sql in statements(case.dialect):
        try:
            await shop.run(sql)
        except EngineError as error:
            wrong.append(f"{sql!r}: {error}")
    assert wrong == []


def test_d15_there_are_enough_of_them_to_mean_something() -> None:
    each = {case.dialect: len(statements(case.dialect)) for case in CASES}
    assert len({sql for name in each for sql in statements(name)}) >= 300
    assert min(each.values()) >= 150
    assert each["duckdb"] >= 300
    assert each["postgres"] >= 300


async def test_what_is_not_sql_is_an_error_with_a_place(runner: Runner) -> None:
    with pytest.raises(QueryError) as error:
        await runner.run("SELECT 1,\n  FROM WHERE")
    assert error.value.line == 2


@pytest.mark.parametrize(
    "text",
    ["SELECT " + "(" * 50_000, "SELECT 1" + " " * 300_000, "SELECT 1\0"],
    ids=["deep", "long", "cut"],
)
async def test_a_text_made_to_hurt_the_parser_is_refused(text: str, runner: Runner) -> None:
    with pytest.raises(EngineError):
        await runner.run(text)
    assert (await runner.run("SELECT 1")).row_count == 1


@pytest.mark.parametrize("sql", ["INSERT INTO orders VALUES (1)", "DROP TABLE orders", ""])
def test_what_is_no_select_at_all_is_refused_before_the_database_is_opened(
    sql: str, case: EngineCase, database: str
) -> None:
    with pytest.raises(QueryRefused) as refused:
        case.make(database).check(sql)
    assert refused.value.word == (sql.split() or [""])[0]
