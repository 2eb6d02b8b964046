"""``awhile admin`` on a store that nobody serves."""

from __future__ import annotations

import base64
from pathlib import Path

import anyio
import pytest

from awhile.cli import ends
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.aes import AesGcm
from awhile.stores.open import open_store
from awhile.stores.sealing import sealed
from awhile.testing.store_case import task
from tests.interaction.cli.conftest import InThisProcess
from tests.interaction.cli.terminal import Place


def keys(of: str) -> str:
    return f"{of}:{base64.b64encode(of.encode() * 16).decode()}"


def test_a_stop_by_somebody_without_the_key_is_written_and_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ours: how it comes out cannot be read, so it is not said to have stopped."""
    here = InThisProcess(Place(tmp_path, tmp_path / "none.duckdb"), monkeypatch, capfd)
    store_url = f"sqlite:///{tmp_path / 'tasks.db'}"
    now_ms = wall_clock_ms()
    running = task(worker="w", at_ms=now_ms, until_ms=now_ms + 60_000)

    async def keep() -> None:
        async with sealed(open_store(store_url), AesGcm.from_text(keys("k1"))) as store:
            await store.create(running)

    async def cancel_asked() -> bool:
        async with open_store(store_url) as store:
            record = await store.get(running.task_id)
        assert record is not None
        return record.cancel_asked

    anyio.run(keep)
    monkeypatch.setenv("AWHILE_SEAL_KEYS", keys("k2"))
    done = here.run("admin", "stop", running.task_id, "--yes", "--store", store_url)
    assert done.returncode == ends.NOT_STOPPED, done.stderr
    assert "The stops are written. How they come out cannot be seen here" in done.stderr
    assert "1: told to stop, and not known to have stopped." in done.stderr
    assert anyio.run(cancel_asked)
