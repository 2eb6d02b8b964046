"""What ``awhile top`` says of workers."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from awhile.cli.overseen import Seen, as_json
from awhile.cli.top import shown
from awhile.runtime.presence import SAY_SECONDS, Presence, present
from awhile.stores.sqlite import SqliteStore
from awhile.testing.clock import HandClock

pytestmark = pytest.mark.anyio


async def test_a_worker_that_was_killed_is_shown_as_silent_once_its_next_word_is_late(
    tmp_path: Path,
) -> None:
    """Ours: one that is killed while it is idle holds no lease that would tell."""
    clock = HandClock()
    async with SqliteStore(tmp_path / "tasks.db") as store:
        killed = Presence(
            store,
            "w1",
            says=lambda: {"slots": 2},
            on_drain=lambda: None,
            now_ms=clock,
        )
        await killed.say()

        async def top() -> tuple[str, list[str]]:
            at_ms = clock()
            workers = await present(store, at_ms)
            seen = Seen(at_ms=at_ms, workers=workers, overview=await store.overview())
            screen = Console(file=io.StringIO(), record=True, width=200)
            screen.print(*shown("sqlite:///tasks.db", seen, rows=9))
            return screen.export_text(), as_json("sqlite:///tasks.db", seen)["silent_workers"]

        clock.move(seconds=SAY_SECONDS)
        text, silent = await top()
        assert "takes tasks" in text
        assert silent == []
        clock.move(seconds=3)
        text, silent = await top()
        assert "silent for 7.0 s" in text
        assert "takes tasks" not in text
        assert silent == ["w1"]
        clock.move(seconds=30)
        assert "Workers (0)" in (await top())[0]
