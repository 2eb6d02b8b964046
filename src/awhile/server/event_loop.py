"""The event loop of a process that serves or works: uvloop's where it is installed.

Measured: a create takes a quarter less CPU on it (``docs/speed.md``).
It comes with ``uvicorn[standard]``, which the extra ``ask`` needs; nothing here needs it.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

import anyio

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")


def run(main: Callable[[], Awaitable[T]]) -> T:
    """Run ``main`` in a loop of its own, until it returns; `anyio.run` otherwise."""
    options = {"use_uvloop": find_spec("uvloop") is not None}
    return anyio.run(main, backend_options=options)


__all__ = ["run"]
