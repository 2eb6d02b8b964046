"""Which date column a time of the question is about.

Source: ours. Said outright ("joined in 2025"), or that of the event spoken of ("ordered last
month"), or the only one near. "Customers last year" has two readings and is asked back.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.intent import Among, ColumnRef
from awhile.ask.translators.names import column_words, date_words, full_name, past_forms

if TYPE_CHECKING:
    from awhile.ask.translators.case import Case
    from awhile.ask.translators.marks import Mark

__all__ = ["date_of", "event_date", "not_another"]

_BEGAN = (
    "joined",
    "created",
    "registered",
    "signed",
    "hired",
    "added",
    "opened",
    "started",
    "since",
    "launched",
    "introduced",
)


def date_of(case: Case, table: str, mark: Mark) -> ColumnRef:
    """The date column meant for rows of `table`. Raises `Doubt`."""
    draft, figures = case.draft, case.figures
    if draft.date and not _told_apart(case, draft.date):
        return draft.date
    if draft.new:
        own = [
            each
            for each in figures.dates(table)
            if {*column_words(each.column, each.table)[:1]}.intersection(_BEGAN)
        ]
        if len(own) != 1:
            raise Stuck(f"I do not know since when a row of {table} exists", draft.new.text)
        return own[0]
    found = figures.nearest_dates(table)
    if len(found) == 1:
        return found[0]
    if found:
        names = [full_name(each.table, each.column) for each in found]
        raise Undecided(
            f"There are several dates. Which one do you mean by {mark.text!r}?",
            tuple(Choice(each, case.reworded(mark.text, f"{each} {mark.text}")) for each in names),
            mark.text,
        )
    raise Stuck(f"{table} has no dates", mark.text)


def event_date(case: Case, mark: Mark) -> ColumnRef:
    """The date column for a period or a time group of the whole question. Raises `Doubt`."""
    draft, figures = case.draft, case.figures
    if draft.new or (draft.date and not _told_apart(case, draft.date)):
        return date_of(case, case.subject(), mark)
    trade = figures.trade
    if trade and draft.rank and draft.rank.word.about == "events":
        return date_of(case, trade.header, mark)
    money = ("revenue", "units", "value")
    named = next((each.table for each in draft.figures if each.kind == "named"), None)
    if named:
        return date_of(case, named, mark)
    if trade and any(each.kind in money for each in draft.figures):
        return date_of(case, trade.lines, mark)
    subject = case.subject()
    events = [*draft.never, *draft.events, *draft.related]
    for figure, _ in draft.thresholds:
        if figure.kind == "count":
            events.append(figure.table)
        elif trade:
            events.append(trade.lines)
    for event in events:
        if figures.nearest_dates(event) and event not in case.joins.reach(subject):
            return date_of(case, event, mark)
    # A group by a table of many rows for one of the subject makes those rows the events.
    for grouping in draft.groupings:
        table = grouping.column.table if grouping.column else grouping.table
        if table and table not in case.joins.reach(subject) and figures.nearest_dates(table):
            return date_of(case, table, mark)
    _not_either(case, subject, mark)
    return date_of(case, subject, mark)


def not_another(case: Case, mark: Mark, ref: ColumnRef, *, grouped: bool = False) -> None:
    """Who "closed tickets in 2025" may have closed them then, or tickets of then.

    Raises `Undecided` where a condition is also the verb of another date than `ref`.
    """
    for said in case.draft.said:
        if not isinstance(said.filter, Among) or said.filter.ref.table != ref.table:
            continue
        word = said.mark.text
        for column in case.figures.table(ref.table).columns:
            other = ColumnRef(ref.table, column.name)
            dated = column.kind in ("date", "timestamp") and other != ref
            if not dated or word.casefold() not in past_forms(date_words(column.name, ref.table)):
                continue
            names = (full_name(other.table, other.column), full_name(ref.table, ref.column))
            own = past_forms(date_words(ref.column, ref.table))[:1]
            old, start = mark.text, case.draft.question
            if grouped:
                found = re.search(rf"\S+ {re.escape(mark.text)}", start)
                old = found[0] if found else old
            plain = start.replace(f"{word} ", "", 1) if grouped else start
            asked = {word: plain, **dict.fromkeys(own, start)}
            raise Undecided(
                f"Is {old!r} about {names[0]}, or about {names[1]}?",
                tuple(
                    Choice(f"{verb} {old}", question.replace(old, f"{verb} {old}", 1))
                    for verb, question in asked.items()
                ),
                mark.text,
            )


def _told_apart(case: Case, ref: ColumnRef) -> bool:
    """Whether the date has its own time, and is of other rows than those asked for: "revenue in
    2026 from customers who joined in 2025"."""
    own = any(when.ref == ref for when in case.draft.periods)
    return own and case.subject() != ref.table


def _not_either(case: Case, subject: str, mark: Mark) -> None:
    """Customers "last year" may have joined or bought then; orders can only be of then."""
    trade, draft = case.figures.trade, case.draft
    if trade is None or subject in (trade.header, trade.lines):
        return
    if subject not in case.joins.reach(trade.lines):
        return
    said = draft.figures[0].mark if draft.figures else draft.target.mark if draft.target else mark
    if draft.figures and draft.figures[0].kind != "count":
        raise Stuck(f"{subject} has no date of its own for it", mark.text)
    choices: list[Choice] = []
    for date in case.figures.dates(subject):
        verbs = past_forms(date_words(date.column, date.table))
        if verbs:
            choices.append(
                Choice(
                    f"when they {verbs[0]}",
                    case.reworded(said.text, f"{said.text} that {verbs[0]}"),
                )
            )
    if subject == trade.buyer:
        one = case.figures.one(trade.header)
        did = "that ordered" if one == "order" else f"with {one}s"
        choices.append(Choice(f"those {did}", case.reworded(said.text, f"{said.text} {did}")))
    elif subject == trade.item:
        sold = f"different {said.text} that were sold"
        choices.append(Choice("when they were sold", case.reworded(said.text, sold)))
    raise Undecided(f"Which date of {said.text} do you mean?", tuple(choices), mark.text)
