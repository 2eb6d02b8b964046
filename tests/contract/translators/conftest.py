"""The shop, its card, and every translator the contract holds for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from awhile.ask.translators.builtin import BuiltInTranslator
from tests.contract.translators.shop import card, shop

if TYPE_CHECKING:
    from collections.abc import Generator

    import duckdb

    from awhile.ask.schema import Schema
    from awhile.ask.translators.contract import Translator


@pytest.fixture(scope="session")
def warehouse() -> Generator[duckdb.DuckDBPyConnection]:
    """The shop's rows, in this process."""
    con = shop()
    yield con
    con.close()


@pytest.fixture(scope="session")
def schema(warehouse: duckdb.DuckDBPyConnection) -> Schema:
    """The shop's schema card."""
    return card(warehouse)


@pytest.fixture(scope="session", params=["built-in"])
def translator(request: pytest.FixtureRequest) -> Translator:
    """Each translator by name."""
    return {"built-in": BuiltInTranslator}[request.param]()
