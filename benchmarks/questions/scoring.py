"""Right, wrong, asked back or refused: one question scored by the rows its SQL returns."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from awhile.ask.translators.contract import QuestionBack, Sql

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awhile.ask.translators.contract import Translation
    from benchmarks.questions.asked import Question
    from benchmarks.questions.databases import Database

__all__ = ["Score", "Scored", "same_rows", "score"]

Score = Literal["right", "wrong", "asked back", "refused"]
_MOST_CHOICES = 20_000


@dataclass(frozen=True, slots=True)
class Scored:
    """`kind` says of a wrong one how: `answered` what has no answer, another number of `rows`,
    other `values`, or it does not run (`error`, with its words)."""

    score: Score
    kind: str = ""


def score(asked: Question, found: Translation, database: Database) -> Scored:
    """An answer to what cannot be answered is wrong; not answering it is right."""
    if not isinstance(found, Sql):
        kind: Score = "asked back" if isinstance(found, QuestionBack) else "refused"
        if asked.expect == "not_sql" or (asked.expect == "back" and kind == "asked back"):
            return Scored("right")
        return Scored(kind)
    if asked.expect != "sql":
        return Scored("wrong", "answered")
    try:
        database.check(found.sql)
        got = database.rows(found.sql)
    except Exception as error:  # noqa: BLE001 - whatever the driver says of it, it is wrong
        return Scored("wrong", f"error: {str(error).splitlines()[0][:100]}")
    counts: list[int] = []
    for gold in asked.gold:
        wanted = database.gold(gold)
        if same_rows(got, wanted, ordered=asked.ordered):
            return Scored("right")
        counts.append(len(wanted))
    return Scored("wrong", "values" if len(got) in counts else "rows")


def same_rows(
    got: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]], *, ordered: bool = False
) -> bool:
    """Whether some choice of the columns got has the gold's rows; extra columns do not matter."""
    if len(got) != len(gold):
        return False
    if not gold:
        return True
    got_columns = [[_plain(cell) for cell in column] for column in zip(*got, strict=True)]
    gold_columns = [[_plain(cell) for cell in column] for column in zip(*gold, strict=True)]
    counted = [Counter(column) for column in got_columns]
    fitting = [
        [at for at, column in enumerate(counted) if column == Counter(wanted)]
        for wanted in gold_columns
    ]
    gold_rows = list(zip(*gold_columns, strict=True))
    for choice in itertools.islice(itertools.product(*fitting), _MOST_CHOICES):
        if len(set(choice)) == len(choice):
            rows = list(zip(*(got_columns[at] for at in choice), strict=True))
            if rows == gold_rows if ordered else _counted(rows) == _counted(gold_rows):
                return True
    return False


def _counted(rows: Iterable[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(rows)


def _plain(cell: Any) -> Any:
    match cell:
        case bool():
            return float(cell)
        case datetime():
            midnight = cell.time().isoformat() == "00:00:00"
            return cell.date().isoformat() if midnight else str(cell)
        case date():
            return cell.isoformat()
        case timedelta():
            return cell.total_seconds()
        case Decimal() | float() | int():
            # Four significant places after the point: engines average in different widths.
            return round(float(cell), 4)
        case _:
            return cell
