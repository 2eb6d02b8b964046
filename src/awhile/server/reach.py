"""Whether the store answers, for those who ask whether a process is ready."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio

from awhile.errors import AwhileError

if TYPE_CHECKING:
    from awhile.stores.contract import TaskStore

logger = logging.getLogger(__name__)

READY_SECONDS = 2.0
"""How long the store may take to answer before this process says that it is not ready."""


class Reach:
    """Whether a store answers. However often that is asked, an outage is told in one line."""

    def __init__(self) -> None:
        self._away = False

    async def answers(self, store: TaskStore) -> bool:
        """Whether it does now, within `READY_SECONDS`."""
        try:
            with anyio.fail_after(READY_SECONDS):
                await store.get("ready")
        except (AwhileError, TimeoutError) as error:
            if not self._away:
                said = str(error) or f"It took longer than {READY_SECONDS:g} s."
                logger.warning("Not ready: the store does not answer. %s", said)
            self._away = True
            return False
        if self._away:
            logger.info("Ready again: the store answers.")
        self._away = False
        return True


__all__ = ["READY_SECONDS", "Reach"]
