"""Answers that people accepted: the next time they ask the same, they get the same SQL.

One small file an answer, in the storage of the results, so that replicas see each other's. What a
person accepted is only used for that person: a question can tell as much as its answer.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING

from awhile.ask.schema import Example
from awhile.ask.translators.remembered import answered_before, depends_on_the_day, said

if TYPE_CHECKING:
    from awhile.ask.results.storage import Storage
    from awhile.ask.translators.contract import Sql

__all__ = ["Accepted", "AcceptedAnswers"]

_SUFFIX = ".accepted"

MOST_EXAMPLES = 500
"""Of one person, that are looked at for those near a question."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A question with the SQL that its owner accepted on a day."""

    question: str
    sql: str
    owner: str
    day: str


class AcceptedAnswers:
    """The accepted answers in one storage. Its methods may block."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def accept(self, question: str, sql: str, *, owner: str, today: date) -> None:
        """Keep an answer; one to the same words is replaced."""
        kept = Accepted(question.strip(), sql, owner, today.isoformat())
        content = json.dumps(asdict(kept), ensure_ascii=False).encode()
        self._storage.write(_name(question, owner), content)

    def forget(self, question: str, *, owner: str) -> bool:
        """Forget the answer to these words; whether there was one."""
        name = _name(question, owner)
        if self._storage.find(name) is None:
            return False
        self._storage.delete(name)
        return True

    def find(self, question: str, *, owner: str, today: date) -> Sql | None:
        """The accepted SQL for the same words of the same person.

        None also where the words mean other dates than on the day it was accepted: "last month"
        was another month then, and the SQL has its dates written out.
        """
        name = _name(question, owner)
        content = self._storage.read([name]).get(name)
        known = None if content is None else _example(content, today)
        return None if known is None else answered_before(question, [known])

    def examples(self, *, owner: str, today: date) -> list[Example]:
        """All that a person accepted and that still means the same, for a model to go by."""
        mine = [name for name in self._storage.names(_SUFFIX) if name.startswith(_of(owner))]
        found = self._storage.read(sorted(mine)[:MOST_EXAMPLES])
        known = (_example(content, today) for content in found.values())
        return [one for one in known if one is not None]


def _example(content: bytes, today: date) -> Example | None:
    """What was accepted; None where it cannot be read, or its words mean other dates today."""
    try:
        kept = Accepted(**json.loads(content))
    except (json.JSONDecodeError, UnicodeDecodeError, TypeError):
        return None
    if kept.day != today.isoformat() and depends_on_the_day(kept.question):
        return None
    return Example(kept.question, kept.sql)


def _of(owner: str) -> str:
    return hashlib.sha256(owner.encode()).hexdigest()[:16]


def _name(question: str, owner: str) -> str:
    told = json.dumps(said(question))
    return f"{_of(owner)}{hashlib.sha256(told.encode()).hexdigest()[:32]}{_SUFFIX}"
