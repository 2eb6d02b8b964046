"""The store suite's asserts explain themselves, and no store leaves a thread behind."""

from __future__ import annotations

import threading
from collections.abc import Generator
from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def every_store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty store, of each kind there is."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("postgres_url")
        return url
    return f"sqlite:///{tmp_path / 'tasks.db'}"


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Generator[None]:
    """After every test; one that was just given up may take a moment to notice."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("awhile-"):
            thread.join(5)
            assert not thread.is_alive(), thread.name
