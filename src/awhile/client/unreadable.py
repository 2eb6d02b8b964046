"""Answers that are not what the protocol says, told in one line. Pure."""

from __future__ import annotations

from mcp_types import INTERNAL_ERROR

from awhile.errors import ProtocolFailed
from awhile.wire.faults import faults


def unreadable(what: str, broken: Exception | str) -> ProtocolFailed:
    """The error for ``what`` (an answer, a result) that is not what the protocol says."""
    return ProtocolFailed(
        f"{what} cannot be read, for it is not what the protocol says ({faults(broken)}). Tell "
        "whoever runs the server; the work may go on, or be done, all the same.",
        code=INTERNAL_ERROR,
    )


__all__ = ["unreadable"]
