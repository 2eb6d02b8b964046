"""The store suite's asserts explain themselves, and no store leaves a thread behind."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Generator[None]:
    """After every test; one that was just given up may take a moment to notice."""
    yield
    for thread in threading.enumerate():
        if thread.name.startswith("awhile-"):
            thread.join(5)
            assert not thread.is_alive(), thread.name
