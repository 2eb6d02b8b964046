"""Several servers on one store and one place for results: any of them answers for any run."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from awhile.ask.results import Results
from awhile.ask.results.cache import Cache
from awhile.ask.results.storage import open_storage
from tests.interaction.ask.conftest import App, serving
from tests.interaction.ask.instant import Instant

pytestmark = pytest.mark.anyio


def results(where: str, folder: Path) -> Results:
    return Results(open_storage(where, folder / "drafts"), Cache(folder / "views", 10**8))


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_any_replica_answers_for_a_run_of_another(
    kind: str, tmp_path: Path, warehouse: Path
) -> None:
    """Ours: rows, filtered and sorted; what was asked; and what its owner says of it."""
    shared = (tmp_path / "shared").as_uri() if kind == "file" else f"memory://{uuid4().hex}"
    homes = [tmp_path / "one", tmp_path / "other"]
    async with (
        serving(tmp_path, Instant(warehouse), results=results(shared, homes[0])) as one,
        serving(tmp_path, Instant(warehouse), results=results(shared, homes[1])) as other,
    ):
        sql = "SELECT range AS n FROM range(300)"
        run_id = (await one.call("run_sql", sql=sql))["run_id"]
        await one.call("label_run", run_id=run_id, title="three hundred")

        async def looked(at: App) -> tuple[object, ...]:
            last = await at.call(
                "result_rows",
                run_id=run_id,
                sort_column=0,
                descending=True,
                filters=[{"column": 0, "operator": "<", "value": "200"}],
                limit=1,
            )
            [run] = (await at.call("list_runs"))["runs"]
            return last["rows"], last["matching_rows"], run["sql"], run["title"]

        assert await looked(other) == ([["199"]], 200, sql, "three hundred")
        assert await looked(one) == await looked(other)
        assert [list(home.glob("drafts/*")) for home in homes] in ([[], []],)
