"""Ctrl-C before there is any work to ask about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from awhile.cli.screen import say

if TYPE_CHECKING:
    import anyio

    from awhile.cli.interrupts import Interrupts
    from awhile.client import Handle


@dataclass(slots=True)
class Begun:
    """How far a command has come with its request."""

    find: str
    """How to find out whether it was taken, where that is not known."""
    sent: bool = False
    handle: Handle | None = None

    async def leave_when_interrupted(
        self, interrupts: Interrupts, everything: anyio.CancelScope
    ) -> None:
        """Leave on Ctrl-C, as long as nothing of the work is known: on the first before the request
        is sent, on the second after it."""
        await interrupts.wait(1)
        if self.handle is None and self.sent:
            await interrupts.wait(2)
        if self.handle is None:
            say(f"Left. {f'It may have been asked: {self.find}' if self.sent else 'Not asked.'}")
            everything.cancel()


__all__ = ["Begun"]
