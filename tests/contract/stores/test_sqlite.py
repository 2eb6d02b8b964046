"""The SQLite store passes the suite that every store passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.testing.store_contract import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'tasks.db'}"
