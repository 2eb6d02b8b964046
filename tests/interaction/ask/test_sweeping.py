"""What is kept of a run is gone with its task; nothing else is."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import anyio
import pytest

from awhile.ask.answer.labels import Label, Labels
from awhile.ask.answer.shares import Shares
from awhile.ask.answer.statements import Statements
from awhile.ask.mcp_server.sweeping import sweep_once
from awhile.ask.results import ResultNames, Results, Sort, View
from tests.interaction.ask.conftest import serving
from tests.interaction.ask.instant import Instant

pytestmark = pytest.mark.anyio


async def test_results_are_swept_with_their_task_and_leave_nothing(
    tmp_path: Path, warehouse: Path
) -> None:
    """Ours: also what a crash has left behind, and never a file of somebody else's."""
    folder = anyio.Path(tmp_path / "results")
    results = Results.in_folder(tmp_path / "results")
    statements, labels = Statements(results.storage), Labels(results.storage)
    numbers, shares = ResultNames(results.storage), Shares(results.storage)

    async def names() -> set[str]:
        return {path.name async for path in folder.rglob("*") if await path.is_file()}

    async with serving(tmp_path, Instant(warehouse)) as app:
        kept = (await app.call("run_sql", sql="SELECT 1 AS n"))["run_id"]
        gone = secrets.token_hex(16)
        for suffix in (".parquet", ".json"):
            await (folder / f"{gone}{suffix}").write_bytes(
                await (folder / f"{kept}{suffix}").read_bytes()
            )
        labels.save(gone, Label(title="once"))
        until = {gone: None, kept: 1}
        for run_id, expires_at_ms in until.items():  # of the kept run, one that has expired
            share, _ = shares.make(
                run_id, owner="ada", by=None, now_ms=0, expires_at_ms=expires_at_ms
            )
            shares.count(share)
        assert [numbers.give("ada", run_id) for run_id in (gone, kept)] == [1, 2]
        results.draft(gone).write_bytes(b"left behind")
        for run_id in (kept, secrets.token_hex(16)):
            old = results.draft(run_id)
            old.write_bytes(b"left behind, of a run that is over")
            os.utime(old, (0, 0))
        await results.page(gone, 0, 1, View(Sort(0)))
        await (folder / "sales.parquet").write_bytes(b"somebody else's")
        await sweep_once(app.tasks, results, statements, labels, shares, numbers)
        left = {name for name in await names() if not name.endswith(".name")}
        assert left == {f"{kept}.parquet", f"{kept}.json", "sales.parquet"}
        assert set(numbers.run_ids()) == {kept}
