"""What a run is about, kept beside its result: the question, its reading, the SQL, who wrote it.

A statement is written before its SQL runs, so that a running query shows what it computes, and an
answer can be explained long after. One small JSON file a run (source: ours).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from awhile.ask.engines.contract import Estimate
from awhile.ask.results.storage import name_of
from awhile.ask.translators.contract import Confidence, Meaning, ModelUse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from awhile.ask.results.storage import Storage

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a person was asked before the SQL ran, and what they chose."""

    asked: str
    chosen: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One SELECT and where it came from. ``question`` is None for SQL a person wrote."""

    sql: str
    question: str | None = None
    """The question that was translated; a person may have changed the one they began with."""
    reading: str | None = None
    meanings: tuple[Meaning, ...] = ()
    confidence: Confidence | None = None
    use: ModelUse | None = None
    """What asking a model took, where one wrote the SQL."""
    translator: str | None = None
    translator_version: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values of the SQL's `:names`, as they were given."""
    engine: str | None = None
    dialect: str | None = None
    database: str | None = None
    """What the database is called to a person."""
    at: str | None = None
    """When this was written, just before it ran (ISO 8601)."""
    estimate: Estimate | None = None
    """What the engine expected of it, where it was asked."""
    decisions: tuple[Decision, ...] = ()
    follows: str | None = None
    """The run whose question this one goes on from."""
    earlier: Mapping[str, str] = field(default_factory=dict[str, str])
    """The earlier results that the SQL reads, in place of the database or beside it: run ids by
    their names."""
    result_name: str | None = None
    """What its rows are called in later SQL of the same person, once they are kept."""


_NAMES = frozenset(one.name for one in fields(Statement))


class Statements:
    """The statements in one storage, by run id. Its methods may block."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def save(self, run_id: str, statement: Statement) -> None:
        """Keep a statement; the file appears whole or not at all."""
        content = json.dumps(asdict(statement), ensure_ascii=False).encode()
        self._storage.write(name_of(run_id, _SUFFIX), content)

    def load(self, run_id: str) -> Statement | None:
        """The statement of a run, or None where none was kept (it was refused, or deleted)."""
        return self.load_all([run_id]).get(run_id)

    def load_all(self, run_ids: Collection[str]) -> dict[str, Statement]:
        """The statements there are of these runs."""
        found = self._storage.read([name_of(run_id, _SUFFIX) for run_id in run_ids])
        read = {name.removesuffix(_SUFFIX): _read(content) for name, content in found.items()}
        return {run_id: statement for run_id, statement in read.items() if statement is not None}

    def delete(self, run_id: str) -> None:
        """Forget a statement; nothing happens if there is none."""
        self._storage.delete(name_of(run_id, _SUFFIX))

    def run_ids(self) -> list[str]:
        """The runs whose statements are kept."""
        return [name.removesuffix(_SUFFIX) for name in self._storage.names(_SUFFIX)]


def _read(content: bytes) -> Statement | None:
    try:
        kept: dict[str, Any] = json.loads(content)
    except json.JSONDecodeError:
        return None
    # What a later version of this program wrote may have more to it.
    known = {name: value for name, value in kept.items() if name in _NAMES}
    known["meanings"] = tuple(Meaning(**one) for one in known.get("meanings", ()))
    known["decisions"] = tuple(Decision(**one) for one in known.get("decisions", ()))
    for name, kind in (("estimate", Estimate), ("use", ModelUse)):
        if known.get(name) is not None:
            known[name] = kind(**known[name])
    return Statement(**known)
