"""Every store passes the suite that every store passes."""

from __future__ import annotations

import pytest

from awhile.testing.store_contract import StoreContract
from awhile.testing.store_operating import IsOperated


class TestStores(StoreContract):
    @pytest.fixture
    def store_url(self, every_store_url: str) -> str:
        return every_store_url


class TestOperatedStores(IsOperated):
    @pytest.fixture
    def store_url(self, every_store_url: str) -> str:
        return every_store_url
