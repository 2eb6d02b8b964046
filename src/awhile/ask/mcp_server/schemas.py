"""The schema as each caller may see it, and the news that it is another than it was.

Whoever reads a schema here is thought to know it; listeners (2026-07-28) and the sessions before
that which subscribed are told when the tables are others, and when one of them is.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import quote

import anyio
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated

from awhile.ask.engines.errors import EngineError
from awhile.errors import AwhileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcp.server.subscriptions import ServerEvent

    from awhile.ask.engines.contract import Engine
    from awhile.ask.schema import Schema, Table
    from awhile.server.tasks import Tasks

__all__ = ["TABLE", "TABLES", "Schemas", "news"]

logger = logging.getLogger(__name__)

TABLES = "schema://tables"
TABLE = "schema://tables/{table}"

LOOK_SECONDS = 5.0
"""How often it is looked for changes. The engine bounds what that may cost."""

MOST = 100
"""Of how many callers schemas are looked at: those who have asked last."""


class Schemas:
    """Reads schemas, and publishes what has changed in them."""

    def __init__(self, engine: Engine, tasks: Tasks) -> None:
        self._engine = engine
        self._tasks = tasks
        self._known: OrderedDict[str | None, Schema] = OrderedDict()

    async def of(self, principal: str | None) -> Schema:
        """What that caller can ask about. Raises `EngineError`."""
        schema = await self._engine.describe(principal=principal)
        self._known.setdefault(principal, schema)
        self._known.move_to_end(principal)
        while len(self._known) > MOST:
            self._known.popitem(last=False)
        return schema

    async def watch(self) -> None:
        """Look for changes for ever, and publish them."""
        while True:
            await anyio.sleep(LOOK_SECONDS)
            await self.look()

    async def look(self) -> None:
        """Publish what has changed since the schemas that callers know."""
        changed: dict[ServerEvent, None] = {}
        for principal, before in list(self._known.items()):
            try:
                if await self._engine.changed(before, principal=principal):
                    after = await self._engine.describe(principal=principal)
                    self._known[principal] = after
                    changed |= dict.fromkeys(news(before, after))
            except EngineError as error:
                logger.warning("The schema cannot be read again: %s", error)
        try:
            for event in changed:
                await self._tasks.publish(event)
        except AwhileError as error:
            logger.error("That the schema has changed could not be told: %s", error)


def news(before: Schema, after: Schema) -> Iterator[ServerEvent]:
    """What a listener has to be told: nothing, where only statistics differ."""
    old, new = ({table.name: table for table in one.tables} for one in (before, after))
    differ = [name for name in old | new if _told(old.get(name)) != _told(new.get(name))]
    if old.keys() != new.keys():
        yield ResourcesListChanged()
    if differ:
        yield ResourceUpdated(TABLES)
    for name in differ:
        yield ResourceUpdated(f"{TABLES}/{quote(name, safe='')}")


def _told(table: Table | None) -> object:
    """A table without what changes with its rows."""
    if table is None:
        return None
    columns = [(each.name, each.type, each.nullable, each.comment) for each in table.columns]
    return columns, table.primary_key, table.foreign_keys, table.comment
