"""Every store passes the suite that every store passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.testing.store_contract import StoreContract


class TestStores(StoreContract):
    @pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
    def store_url(self, request: pytest.FixtureRequest, tmp_path: Path) -> str:
        if request.param == "postgres":
            url: str = request.getfixturevalue("postgres_url")
            return url
        return f"sqlite:///{tmp_path / 'tasks.db'}"
