"""Schema cards: read once, kept as long as they hold, and not lost where the next cannot be read.

There are three questions, of different price. Whether a file has changed, or the last look at a
server is long ago, costs nothing. A look at the catalog costs milliseconds. Only another catalog,
or data that changed long enough ago, is worth the seconds of a new card.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import anyio

from awhile.ask.engines.errors import EngineError, QueryRefused
from awhile.ask.schema import Schema

__all__ = ["Cards"]

_MOST = 100
"""How many people's cards are kept; whoever has not asked for longest is read anew."""
_SHARE = 20
"""Where data changes all the time, a twentieth of the time goes into statistics at most."""
_STATISTICS_SECONDS = 300.0
"""How long they hold on a server, which does not tell when data changes."""
_TRY_AGAIN_SECONDS = 5.0
_SUSPECT_SECONDS = 1.0
"""How soon after a look a query that failed for a name may ask for another."""


@dataclass(slots=True)
class _Card:
    schema: Schema
    catalog: str
    """What identifies the catalog it was read from."""
    stamp: object
    read_at: float
    looked_at: float
    cost: float
    """Seconds that reading it took."""
    data_changed: bool = False
    suspected: bool = False
    """Whether a query failed for a name since the last look."""
    in_doubt: bool = False
    """Whether it could not be read again, which `schema` then says."""


@dataclass(slots=True)
class _Place:
    card: _Card | None = None
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    """Ten who ask at once wait for one reading."""


class Cards:
    """The cards of one database, by who asks (None where that makes no difference).

    `look` gives what identifies the catalog as somebody sees it, and `read` that and the card.
    `stamp` is equal as long as the files are unchanged; on a server, which has none, a look holds
    for `look_seconds`. `now` is a clock in seconds.
    """

    def __init__(
        self,
        look: Callable[[str | None], Awaitable[str]],
        read: Callable[[str | None], Awaitable[tuple[str, Schema]]],
        stamp: Callable[[], object],
        *,
        look_seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._look = look
        self._read = read
        self._stamp = stamp
        self._look_seconds = look_seconds
        self._now = now
        self._places: OrderedDict[str | None, _Place] = OrderedDict()

    def clear(self) -> None:
        """Forget every card."""
        self._places.clear()

    async def get(self, principal: str | None = None) -> Schema:
        """The card as it is now. Where it cannot be read again, the last one, which then says so.

        Raises `EngineError` if there is none yet, and `QueryRefused` for who may not ask.
        """
        place = self._places.setdefault(principal, _Place())
        self._places.move_to_end(principal)
        while len(self._places) > _MOST:
            self._places.popitem(last=False)
        async with place.lock:
            if place.card is None:
                place.card = await self._new(principal)
            elif self._look_is_due(place.card) or self._is_aged(place.card):
                await self._renew(principal, place, place.card)
            return place.card.schema

    async def changed(self, since: Schema, principal: str | None = None) -> bool:
        """Whether `get` would give another card than `since`, for more than its statistics.

        It costs a look at most. False where that cannot be told now.
        """
        place = self._places.get(principal)
        if place is None or place.card is None or place.card.schema is not since:
            return True
        async with place.lock:
            card = place.card
            if not self._look_is_due(card):
                return False
            try:
                stamp = self._stamp()
                if await self._look(principal) != card.catalog:
                    return True
                self._holds(card, stamp)
            except EngineError:
                card.looked_at = self._now()
            return False

    def suspect(self, principal: str | None = None) -> None:
        """A query failed for a name: the next look comes at once, or a second after the last."""
        place = self._places.get(principal)
        if place is not None and place.card is not None:
            place.card.suspected = True

    async def _new(self, principal: str | None) -> _Card:
        stamp, began = self._stamp(), self._now()
        catalog, schema = await self._read(principal)
        now = self._now()
        return _Card(schema, catalog, stamp, read_at=now, looked_at=now, cost=now - began)

    async def _renew(self, principal: str | None, place: _Place, card: _Card) -> None:
        try:
            stamp = self._stamp()
            holds = await self._look(principal) == card.catalog and not card.in_doubt
            if holds:
                self._holds(card, stamp)
            if not holds or self._is_aged(card):
                place.card = await self._new(principal)
        except QueryRefused:
            place.card = None
            raise
        except EngineError as error:
            card.looked_at = self._now()
            if not card.in_doubt:
                card.in_doubt = True
                note = f"this may be out of date: it could not be read again ({error})"
                card.schema = replace(card.schema, notes=(*card.schema.notes, note))

    def _look_is_due(self, card: _Card) -> bool:
        since = self._now() - card.looked_at
        if card.in_doubt:
            return since > _TRY_AGAIN_SECONDS
        if card.suspected and since > _SUSPECT_SECONDS:
            return True
        if self._look_seconds is not None:
            return since > self._look_seconds
        return self._stamp() != card.stamp

    def _holds(self, card: _Card, stamp: object) -> None:
        """The catalog is the same; the data are not, or nobody knows."""
        card.data_changed |= self._look_seconds is not None or stamp != card.stamp
        card.stamp, card.looked_at, card.suspected = stamp, self._now(), False

    def _is_aged(self, card: _Card) -> bool:
        """Whether what it says of the data is no longer true, and is worth reading again."""
        if not card.data_changed or card.in_doubt:
            return False
        least = 0.0 if self._look_seconds is None else _STATISTICS_SECONDS
        return self._now() - card.read_at > max(least, _SHARE * card.cost)
