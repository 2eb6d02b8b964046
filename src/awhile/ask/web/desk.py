"""What one person works at: their board, their connection to the server, their files."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from awhile.ask.web.api import Api
from awhile.ask.web.board import Board
from awhile.ask.web.files import Files
from awhile.ask.web.follow import Follower
from awhile.ask.web.presence import Presence
from awhile.ask.web.sharing import Sharing
from awhile.client import connect

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    import httpx2
    from starlette.routing import Route


class Desk:
    """One person's page backend. Nothing of it is shared with another person's.

    Args:
        mcp_url: the server; it need not be up.
        auth: what shows the server who asks; None where there is one person and no sign-in.
    """

    def __init__(self, mcp_url: str, auth: httpx2.Auth | None = None) -> None:
        self.board = Board()
        self.presence = Presence()
        self.follower = Follower(
            self.board, connect(mcp_url, ledger=None, auth=auth), self.presence
        )
        self._files = Files(mcp_url, auth)

    @asynccontextmanager
    async def at_work(self) -> AsyncGenerator[None]:
        """Follow the server for as long as the block."""
        async with self._files, anyio.create_task_group() as tasks:
            await tasks.start(self.follower.run)
            yield
            tasks.cancel_scope.cancel()

    def routes(self) -> list[Route]:
        """What the page may ask of it, below ``/api``."""
        return [
            *Api(self.board, self.follower, self.presence).routes(),
            *Sharing(self.follower).routes(),
            *self._files.routes(),
        ]


__all__ = ["Desk"]
