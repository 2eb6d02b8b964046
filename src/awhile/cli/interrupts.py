"""Ctrl-C, counted instead of raised: what it means depends on what is going on."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.cli.keyboard import quiet_controls

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from anyio.abc import TaskStatus


class Interrupts:
    """How often Ctrl-C was pressed since `listening` began."""

    def __init__(self) -> None:
        self.presses = 0
        self._pressed = anyio.Event()

    @classmethod
    @asynccontextmanager
    async def listening(cls, *others: signal.Signals) -> AsyncGenerator[Interrupts]:
        """Take Ctrl-C over while the block runs, and other signals that mean the same here."""
        interrupts = cls()
        with quiet_controls():
            async with anyio.create_task_group() as beside:
                await beside.start(interrupts._listen, others)
                yield interrupts
                beside.cancel_scope.cancel()

    async def wait(self, presses: int = 1) -> None:
        """Return once it was pressed that often in all."""
        while self.presses < presses:
            await self._pressed.wait()

    async def _listen(
        self, others: tuple[signal.Signals, ...], *, task_status: TaskStatus[None]
    ) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, *others) as signals:
            task_status.started()
            async for _ in signals:
                self.presses += 1
                self._pressed.set()
                self._pressed = anyio.Event()


__all__ = ["Interrupts"]
