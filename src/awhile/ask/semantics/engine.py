"""An engine that describes its database in the words of a semantic file.

Everything else it leaves to the engine behind it: a semantic file changes what is said, never what
may be run.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from awhile.ask.engines.contract import ReadsResults
from awhile.ask.semantics.applying import applied, fitted

if TYPE_CHECKING:
    from awhile.ask.engines.contract import Capabilities, Engine
    from awhile.ask.schema import Schema
    from awhile.ask.semantics.file import Semantics

__all__ = ["SemanticEngine"]

_MOST_CARDS = 100


class SemanticEngine:
    """An `Engine` (`awhile.ask.engines.contract`); it `ReadsResults` where the one behind does."""

    def __init__(self, engine: Engine, semantics: Semantics) -> None:
        self._engine = engine
        self._semantics = semantics
        self._cards: OrderedDict[int, tuple[Schema, Schema]] = OrderedDict()
        self.close, self.check = engine.close, engine.check
        self.estimate, self.run = engine.estimate, engine.run
        if isinstance(engine, ReadsResults):
            self.look_up, self.run_over = engine.look_up, engine.run_over

    @property
    def capabilities(self) -> Capabilities:
        return self._engine.capabilities

    async def open(self) -> None:
        """Also raises `SettingsError` where the file does not fit the database."""
        await self._engine.open()
        applied(self._semantics, await self._engine.describe(), self._engine.check)

    async def describe(self, *, principal: str | None = None) -> Schema:
        plain = await self._engine.describe(principal=principal)
        known = self._cards.get(id(plain))
        if known is None:
            known = (plain, fitted(self._semantics, plain))
            self._cards[id(plain)] = known
            while len(self._cards) > _MOST_CARDS:
                self._cards.popitem(last=False)
        return known[1]

    async def changed(self, since: Schema, *, principal: str | None = None) -> bool:
        plain = next((one for one, said in self._cards.values() if said is since), since)
        return await self._engine.changed(plain, principal=principal)
