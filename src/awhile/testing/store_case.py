"""What the parts of the store suite share: how to open stores, and tasks to put into them."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Collection
from typing import Any

import anyio
import pytest

from awhile.stores.contract import Kept, Store, Watch
from awhile.stores.open import open_store
from awhile.tasks import Lease, TaskRecord, new_record

AT = 1_800_000_000_000
"""The instant the suite's tasks are created at (Unix milliseconds); no test has a real clock."""

PATIENCE_SECONDS = 20.0
"""How long a bounded wait waits before the test fails: generous, for slow machines."""


class StoreCase:
    """Two openings of one new, empty store, for each test."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def anyio_backend(self) -> str:
        """Stores are used on asyncio."""
        return "asyncio"

    @pytest.fixture
    def store_url(self) -> str:
        """The URL of a new, empty store. Every suite that subclasses this says which."""
        raise NotImplementedError(
            "Override the fixture `store_url` with the URL of a new, empty store."
        )

    @pytest.fixture
    async def store(self, store_url: str) -> AsyncGenerator[Store]:
        """The store, open."""
        async with open_store(store_url) as opened:
            yield opened

    @pytest.fixture
    async def second(self, store: Store, store_url: str) -> AsyncGenerator[Store]:
        """The same store, opened once more, as a second process would."""
        async with open_store(store_url) as opened:
            yield opened


def task(
    *,
    tool: str = "report",
    owner: str = "ada",
    worker: str | None = None,
    until_ms: int = AT + 60_000,
    **more: Any,
) -> TaskRecord:
    """A new task; with ``worker``, one whose body is running there already."""
    return new_record(
        task_id=more.pop("task_id", None) or secrets.token_hex(16),
        owner=owner,
        tool=tool,
        arguments=more.pop("arguments", {"year": 2026}),
        at_ms=more.pop("at_ms", AT),
        lease=None if worker is None else Lease(worker=worker, until_ms=until_ms),
        **more,
    )


def kinds(history: Collection[Kept]) -> list[str]:
    """The kinds of the history's entries."""
    return [one.kind for one in history]


async def wait_for(watch: Watch, task_ids: Collection[str]) -> set[str]:
    """Wait until the watch has reported all of these; returns all it reported meanwhile."""
    reported: set[str] = set()
    with anyio.fail_after(PATIENCE_SECONDS):
        while not reported.issuperset(task_ids):
            reported |= (await watch.wait()).keys()
    return reported


__all__ = ["AT", "PATIENCE_SECONDS", "StoreCase", "kinds", "task", "wait_for"]
