"""Answers that people accepted: the next time they ask the same, they get the same SQL.

One small JSON file an answer, in one folder, so that replicas that share it see each other's. What
a person accepted is only used for that person: a question can tell as much as its answer.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from awhile.ask.schema import Example
from awhile.ask.translators.remembered import answered_before, depends_on_the_day, said

if TYPE_CHECKING:
    from pathlib import Path

    from awhile.ask.translators.contract import Sql

__all__ = ["Accepted", "AcceptedAnswers"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A question with the SQL that its owner accepted on a day; the owner None is the local one."""

    question: str
    sql: str
    owner: str | None
    day: str


class AcceptedAnswers:
    """The accepted answers in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def accept(self, question: str, sql: str, *, owner: str | None, today: date) -> None:
        """Keep an answer; one to the same words is replaced."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._path(question, owner)
        draft = path.with_suffix(".tmp")
        kept = Accepted(question.strip(), sql, owner, today.isoformat())
        draft.write_text(json.dumps(asdict(kept), ensure_ascii=False), encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105 - atomic also where the target exists

    def forget(self, question: str, *, owner: str | None) -> bool:
        """Forget the answer to these words; whether there was one."""
        try:
            self._path(question, owner).unlink()
        except FileNotFoundError:
            return False
        return True

    def find(self, question: str, *, owner: str | None, today: date) -> Sql | None:
        """The accepted SQL for the same words of the same person.

        None also where the words mean other dates than on the day it was accepted: "last month"
        was another month then, and the SQL has its dates written out.
        """
        try:
            fields: dict[str, Any] = json.loads(
                self._path(question, owner).read_text(encoding="utf-8")
            )
            kept = Accepted(**fields)
        except (FileNotFoundError, json.JSONDecodeError, TypeError):
            return None
        if kept.day != today.isoformat() and depends_on_the_day(question):
            return None
        return answered_before(question, [Example(kept.question, kept.sql)])

    def _path(self, question: str, owner: str | None) -> Path:
        told = json.dumps([owner, said(question)])
        return self._folder / f"{hashlib.sha256(told.encode()).hexdigest()[:32]}.json"
