"""The store suite's asserts explain themselves, and no store leaves a thread behind."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest

pytest.register_assert_rewrite("awhile.testing")


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Generator[None]:
    """After every test."""
    yield
    assert [one.name for one in threading.enumerate() if one.name.startswith("awhile-")] == []
