"""A server of ours in a process of its own, for programs of other projects to call."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serving import serving


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where the work server listens."""
    with serving("tests.peers.work_server") as server:
        yield server.url
