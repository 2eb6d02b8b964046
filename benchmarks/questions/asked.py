"""Questions with what is right for them, as the data files hold them."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DATA", "Expected", "Question", "expanded", "read"]

DATA = Path(__file__).with_name("data")
Expected = Literal["sql", "back", "not_sql"]
_CHOICE = re.compile(r"\{([^{}]+)\}")
_FIELDS = {"ask", "gold", "expect", "after", "ordered", "note"}


@dataclass(frozen=True, slots=True)
class Question:
    """One question. With `sql` expected, the rows of any statement in `gold` are right; else it
    must be asked back, or at least not be answered. `after` are the questions asked before it.
    """

    ask: str
    gold: tuple[str, ...] = ()
    expect: Expected = "sql"
    after: tuple[str, ...] = ()
    ordered: bool = False
    note: str = ""

    @property
    def said(self) -> str:
        """All that was asked, for a list."""
        return " / ".join((*self.after, self.ask))


def read(path: Path) -> tuple[Question, ...]:
    """The questions of one YAML file. Raises `ValueError` for an entry that cannot be meant."""
    entries: list[dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return tuple(_question(path, each) for each in entries)


def _question(path: Path, entry: dict[str, Any]) -> Question:
    gold: str | Sequence[str] = entry.get("gold", ())
    golds = (gold,) if isinstance(gold, str) else tuple(gold)
    expect: Expected = entry.get("expect", "sql")
    if entry.keys() - _FIELDS or "ask" not in entry or (expect == "sql") != bool(golds):
        raise ValueError(f"{path.name}: {entry!r} needs 'ask', and 'gold' or 'expect'")
    return Question(
        entry["ask"],
        tuple(each for one in golds for each in expanded(one)),
        expect,
        tuple(entry.get("after", ())),
        entry.get("ordered", False),
        entry.get("note", ""),
    )


def expanded(gold: str) -> Iterator[str]:
    """`{a, b}` is any choice of these columns: one of them is enough, for more do no harm. What is
    grouped by `{}` are those chosen."""
    choices = [each.split(",") for each in _CHOICE.findall(gold)]
    for chosen in itertools.product(*choices):
        columns = iter(chosen)
        made = _CHOICE.sub(lambda _, columns=columns: next(columns).strip(), gold)
        yield made.replace("{}", ", ".join(map(str.strip, chosen)))
