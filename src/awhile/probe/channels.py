"""The seam between what is asked and how it travels: Streamable HTTP, or a child's stdio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from awhile.probe.exchanges import Exchange, Frame, Json


class Channel(Protocol):
    """One connection's worth of requests. Nothing is interpreted and nothing tried again."""

    @property
    def over_http(self) -> bool:
        """Whether there are statuses, headers, and a stream for each request."""
        ...

    def open(
        self, exchange: Exchange, headers: dict[str, str]
    ) -> AbstractAsyncContextManager[AsyncIterator[Frame]]:
        """Send the request; the frames of its own stream as they come, each kept in the exchange.

        ``headers`` are those really sent; the exchange has them without secrets. Leaving the block
        closes the stream. What breaks is the exchange's ``ending``, and ends the frames.
        """
        ...

    async def tell(self, message: Json, headers: dict[str, str]) -> int | None:
        """Send a notification or a response; the HTTP status, if there is one."""
        ...

    async def aclose(self) -> None:
        """Close every connection, and end the child."""
        ...


__all__ = ["Channel"]
