"""A person's earlier results as tables: which of them a text names, and running it over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio.to_thread

from awhile.ask.engines.contract import ReadsResults
from awhile.ask.engines.duckdb.guard import tables_in
from awhile.ask.engines.errors import QueryRefused
from awhile.ask.engines.parameters import bound, names_in
from awhile.ask.results.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from awhile.ask.engines.contract import Engine
    from awhile.ask.engines.earlier.engine import EarlierResults
    from awhile.ask.engines.parameters import Scalar
    from awhile.ask.results.names import ResultNames
    from awhile.ask.results.results import Results

__all__ = ["Earlier", "Over", "is_result_name", "result_name"]

_NAME = re.compile(r"result_([1-9][0-9]{0,8})\Z", re.IGNORECASE)


def result_name(number: int) -> str:
    """What the result of that number is called in SQL."""
    return f"result_{number}"


def is_result_name(name: str) -> bool:
    """Whether a table so called may be a result."""
    return _NAME.match(name) is not None


@dataclass(frozen=True, slots=True)
class Over:
    """Earlier results that a text reads: by their names, the runs and their files; and those of
    them that are the first rows of more. `engine` runs it: where it reads the database, too
    (`beside`), that is the database's."""

    run_ids: Mapping[str, str]
    files: Mapping[str, Path]
    cut: frozenset[str]
    engine: ReadsResults
    beside: bool

    @property
    def reading(self) -> str:
        """What the text is about, in a sentence that passes no part off as the whole."""
        names = [
            f"{name} (only the first rows of more, so no total of it is one)"
            if name in self.cut
            else name
            for name in self.files
        ]
        where = "beside" if self.beside else "in place of"
        return f"Over earlier results {where} the database: {', '.join(names)}."


@dataclass(frozen=True, slots=True)
class Earlier:
    """Everybody's earlier results; each person reaches their own alone."""

    engine: EarlierResults
    names: ResultNames
    results: Results

    async def give_name(self, owner: str, run_id: str) -> str:
        """The name of a result that has been kept."""
        return result_name(await anyio.to_thread.run_sync(self.names.give, owner, run_id))

    @staticmethod
    def may_be_about(sql: str, values: Mapping[str, Scalar]) -> bool:
        """Whether the text reads something that is called like a result."""
        return any(is_result_name(name) for name in _tables(sql, values))

    async def named_in(
        self,
        sql: str,
        values: Mapping[str, Scalar],
        *,
        principal: str | None,
        database: Engine,
    ) -> Over | None:
        """The results that the text reads; None if it is about the database alone.

        A table of the database that is called like a result is the database's. Raises
        `QueryRefused` for a name that stands for nothing (any more), and for a text that reads the
        database, too, where its engine reads no results.
        """
        owner = principal or ""
        tables = await anyio.to_thread.run_sync(_tables, sql, values)
        own = {name: int(found[1]) for name in tables if (found := _NAME.match(name))}
        if own:
            schema = await database.describe(principal=principal)
            own = {name: number for name, number in own.items() if schema.table(name) is None}
        if not own:
            return None
        run_ids = {
            name: await self._run_of(owner, name, number) for name, number in sorted(own.items())
        }
        engine: ReadsResults = self.engine
        if others := sorted(tables - own.keys()):
            if not isinstance(database, ReadsResults):
                following = await anyio.to_thread.run_sync(self.names.highest, owner)
                why = _mixed(others, result_name(following + 1), database.capabilities.name)
                raise QueryRefused(sorted(own)[0], why)
            engine = database
        files = {name: await self._file_of(name, one) for name, one in run_ids.items()}
        cut = await anyio.to_thread.run_sync(_cut, files)
        return Over(run_ids, files, cut, engine, beside=bool(others))

    async def _run_of(self, owner: str, name: str, number: int) -> str:
        run_id = await anyio.to_thread.run_sync(self.names.find, owner, number)
        if run_id is not None:
            return run_id
        highest = await anyio.to_thread.run_sync(self.names.highest, owner)
        if number <= highest:
            raise QueryRefused(name, _expired(name))
        have = "you have no results yet" if not highest else f"your last one is result_{highest}"
        raise QueryRefused(name, f"no result of yours is called that; {have}")

    async def _file_of(self, name: str, run_id: str) -> Path:
        try:
            return await self.results.local(run_id)
        except FileNotFoundError:
            raise QueryRefused(name, _expired(name)) from None


def _tables(sql: str, values: Mapping[str, Scalar]) -> frozenset[str]:
    """The tables of a text that may be about results; of any other, none."""
    if "result_" not in sql.casefold():
        return frozenset()
    for given in (values, dict.fromkeys([*values, *names_in(sql)])):  # some may have no value
        if found := tables_in(bound(sql, given, lambda name: f"${name}")):
            return found
    return frozenset()


def _mixed(others: Sequence[str], following: str, engine: str) -> str:
    names = ", ".join(others)
    return (
        f"it is a result of yours, and {names} of the database: {engine} reads no results, so one "
        f"text reads either. In two steps: run a SELECT on {names} first, of what the join needs; "
        f"its rows are then called {following}; and run this text with that name in place of it"
    )


def _cut(files: Mapping[str, Path]) -> frozenset[str]:
    found: set[str] = set()
    for name, path in files.items():
        with Stored.open(path) as stored:
            if stored.truncated:
                found.add(name)
    return frozenset(found)


def _expired(name: str) -> str:
    return (
        f"{name} is no longer kept: results expire, and may be deleted; list_runs shows those that "
        "are there, and asking again makes a new one"
    )
