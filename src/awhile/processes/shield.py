"""The few steps a cancellation must not cut in half."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import anyio

__all__ = ["shielded"]


@contextmanager
def shielded() -> Generator[None]:
    """Put off any cancellation of the caller until the block has ended.

    `anyio.CancelScope(shield=True)`, typed so that a checker knows the block is not left early.
    """
    with anyio.CancelScope(shield=True):
        yield
