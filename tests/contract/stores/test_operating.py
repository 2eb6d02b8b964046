"""Stores that can be operated pass the part of the suite that says what operators may ask."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.testing.store_operating import IsOperated


class TestOperatedStores(IsOperated):
    @pytest.fixture
    def store_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'tasks.db'}"
