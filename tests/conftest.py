"""What every test may rely on."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Everything here runs on asyncio: the SDK's HTTP server (uvicorn) does."""
    return "asyncio"
