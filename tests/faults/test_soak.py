"""The soak itself, for a moment: ``make soak`` has the time for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.soak import soak


@pytest.mark.long
@pytest.mark.anyio
async def test_random_faults_under_random_load_leave_nothing_wrong(tmp_path: Path) -> None:
    """Ours: and the checker had something to check."""
    counts, found = await soak(tmp_path, f"sqlite:///{tmp_path}/tasks.db", 10, seed=1)
    assert not found, "\n".join(found)
    assert counts["tasks"] > 0
