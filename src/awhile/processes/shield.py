"""The few steps a cancellation must not cut in half."""

from __future__ import annotations

from typing import Any, Self

import anyio

__all__ = ["shielded"]


class shielded:  # noqa: N801 - read as `with shielded():`
    """Put off any cancellation of the caller until the block has ended.

    `anyio.CancelScope(shield=True)`, typed so that a checker knows the block is not left early.
    """

    __slots__ = ("_scope",)

    def __enter__(self) -> Self:
        self._scope = anyio.CancelScope(shield=True)
        self._scope.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._scope.__exit__(*error)
