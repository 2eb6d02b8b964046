"""Reading: marks from left to right into a draft. Every mark must find its place, or none is used.

Source: ours. This is the guard's first half: a mark whose place is unclear raises `Stuck` with
its words, so nothing of the question is passed over in silence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.comparing import Comparing
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Along, Figure, Rank, Rest
from awhile.ask.translators.intent import ColumnRef
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    GrainNoun,
    MeasureNoun,
    Moving,
    Number,
    Pattern,
    SpanNoun,
    Step,
    Superlative,
    TableNoun,
    TimeRange,
    Unknown,
    ValueNoun,
    Verb,
    Word,
)
from awhile.ask.translators.rewriting import straightened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.marks import Mark, Recognised

__all__ = ["read"]

_MOST_ROWS = 10_000
_LONGEST_WINDOW = 1000


def read(
    question: str, marks: Sequence[Mark], figures: Figures, *, going_on: bool = False
) -> Draft:
    """The draft of a question. Raises `Stuck` for a mark that has no place.

    One that is `going_on` from another may leave its figure and its rows to that one.
    """
    heard, claimed = straightened(marks)
    telling = [each for at in range(len(heard)) if (each := _brought(heard, at))]
    reader = _Reader(question, telling, claimed, figures)
    if going_on:
        reader.draft.rest = Rest()
    return reader.run()


def _brought(marks: Sequence[Mark], at: int) -> Mark | None:
    """ "made more than 1000" is about money; "made the most revenue" is already said by revenue."""
    mark = marks[at]
    if mark.what != Word("bring"):
        return mark
    said: list[Recognised | None] = [each.what for each in marks[at + 1 : at + 3]]
    following, after = (*said, None, None)[:2]
    names = (TableNoun, MeasureNoun, ColumnNoun, Aggregate)
    ranked = isinstance(following, Compare | Superlative) and not isinstance(after, names)
    figures = any(isinstance(each.what, MeasureNoun | TableNoun) for each in marks)
    asked = marks[0].what == Word("how much") and not figures
    return replace(mark, what=MeasureNoun("revenue")) if ranked or asked else None


class _Reader(Comparing):
    """One pass."""

    def run(self) -> Draft:
        while self.at < len(self.marks):
            mark = self.marks[self.at]
            self.at += 1
            self.take(mark)
            self.last = mark
        self.check_nothing_waits()
        return self.draft

    def take(self, mark: Mark) -> None:
        if mark.start in self.claimed:
            self.claiming = True
        match mark.what:
            case Word():
                self.word(mark, mark.what)
                return
            case Aggregate():
                self.functions.append((mark, mark.what))
                return
            case Superlative():
                self.superlative(mark, mark.what)
            case Number():
                self.number(mark, mark.what)
            case GrainNoun():
                self.grain(mark, mark.what)
            case Step() | Moving():
                self.along(mark, mark.what)
            case TimeRange():
                self.period(mark, mark.what)
            case MeasureNoun():
                self.measure(mark, mark.what)
            case Verb():
                self.verb(mark, mark.what)
            case Compare():
                self.compare(mark, mark.what)
            case TableNoun():
                self.table(mark, mark.what)
            case ColumnNoun():
                self.column(mark, mark.what)
            case ValueNoun():
                self.value(mark, mark.what)
            case Pattern():
                self.pattern(mark, mark.what)
            case SpanNoun():
                self.days(mark, mark.what)
            case Unknown():
                raise Stuck("it is not a word I know here", mark.text)
        self.link = None
        if not self.passing:
            self.joiner = None
        self.passing = False
        self.more_groups = self.more_figures = False
        self.tied = False
        if not isinstance(mark.what, ColumnNoun | Verb):
            self.claiming = False

    # Words ------------------------------------------------------------------------------------

    def word(self, mark: Mark, word: Word) -> None:
        role, draft = word.role, self.draft
        match role:
            case "list" | "what" | "what thing" | "which" | "who" | "when" | "how many":
                self.head(mark, word)
            case "how much":
                self.head(mark, word)
            case "by":
                self.grouping(mark)
            case "each":
                self.by = self.by or mark
                self.per = True
            case "with" | "is":
                self.link = role
                self.claiming = self.claiming or role == "with"
            case "preposition":
                self.link = role
                if self.side == 1 and mark.text.casefold() == "to" and draft.figures:
                    self.side = 2
            case "relation":
                self.relation(mark)
            case "and" | "or" | "comma":
                self.joining(mark, word)
            case "not" | "without":
                self.refuse_not()
                self.negation = mark
            case "together":
                draft.together = True
                self.note(mark, "in the same purchase")
            case "often":
                draft.often = True
            case "sort":
                self.sorting(mark)
            case "ascending" | "descending":
                draft.descending = role == "descending"
                self.sort = None
            case "distinct":
                draft.distinct = True
            case "all":
                self.all(mark)
            case "new":
                draft.new = mark
            case "share":
                self.share_of(mark)
            case "part of":
                self.part_of(mark)
            case "ratio":
                draft.ratio, self.side = mark, 1
            case "growth" | "running":
                self.along(mark, word)
            case "versus":
                draft.versus = draft.versus or mark
                self.link = "preposition"
            case "only" | "follow":
                self.following(mark)
            case "naming":
                self.naming(mark)
            case "chart":
                if draft.rest:
                    draft.rest.as_chart = True
            case "both":
                draft.both = mark
            case "between":
                raise Stuck("I do not understand between what", mark.text)
            case "exist" | "bring" | "be" | "stop" | "silent":
                pass

    def following(self, mark: Mark) -> None:
        """ "only", "what about", "instead": about the question before, where there is one."""
        rest = self.draft.rest
        begins = self.last is None or isinstance(self.last.what, Word)
        if rest is None or (mark.what == Word("only") and not begins):
            # "Customers who only bought Toys" rules something out, and nobody said what.
            raise Stuck("I do not understand it at this place", mark.text)
        rest.instead = rest.instead or mark.text.casefold() == "instead"

    def head(self, mark: Mark, word: Word) -> None:
        draft, role = self.draft, word.role
        begun = (draft.target or draft.figures) and not self.joiner
        if begun and role not in ("which", "who", "what"):
            raise Stuck("a second question begins with it", mark.text)
        if begun:
            self.claiming = True
        if role == "how many" and draft.target and draft.said:
            # "… with a condition, and how many …": of those, or of all?
            raise Stuck("a second question begins with it", mark.text)
        if begun:
            pass
        elif draft.head in (None, "list"):
            draft.head = role
        elif role in ("when", "how much", "what thing"):
            raise Stuck("I do not understand it at this place", mark.text)
        if role == "how many":
            self.functions.append((mark, Aggregate("count")))

    def grouping(self, mark: Mark) -> None:
        before, following = self.last.what if self.last else None, self.ahead()
        agent = isinstance(following, TableNoun) and self.is_people(following.table)
        after = self.ahead(1)
        plain = mark.text.casefold() == "by"
        whose = isinstance(following, ValueNoun) and isinstance(after, TableNoun)
        related = before == Word("relation") and self.names_one(following, after)
        if plain and ((isinstance(before, Verb) and agent) or whose or related):
            self.link = "preposition"
        else:
            self.by, self.per = mark, mark.text.casefold().startswith(("per", "for ", "in "))

    def names_one(self, following: Recognised | None, after: Recognised | None) -> bool:
        """ "offered by the department of Physics", "written by Ada": one, not each."""
        if isinstance(following, ValueNoun):
            return True
        if isinstance(following, ColumnNoun | TableNoun):
            last = self.ahead(2) if after == Word("preposition") else after
            return isinstance(last, ValueNoun)
        return False

    def relation(self, mark: Mark) -> None:
        """A verb that ties what stands before it to what follows; the keys tell how."""
        told = any(
            isinstance(each.what, TableNoun | ColumnNoun | MeasureNoun | ValueNoun)
            for each in self.marks
        )
        if not told:
            raise Stuck("it is not said of what", mark.text)
        self.claiming = self.claiming or bool(self.draft.figures or self.draft.target)
        self.tied = True

    def joining(self, mark: Mark, word: Word) -> None:
        draft = self.draft
        if self.functions:
            raise Stuck("one function at a time, please", self.functions[-1][0].text, mark.text)
        if word.role != "comma" or not self.joiner:
            self.joiner = mark
        if self.last and not isinstance(self.last.what, Word):
            groups, figures = draft.groupings, draft.figures
            self.more_groups = bool(groups) and self.last == groups[-1].mark
            begun = draft.target or figures
            if self.more_groups and word.role == "comma" and groups[-1].each and not begun:
                # "In each country, the product with …"
                self.more_groups = False
                self.joiner = None
            self.more_figures = bool(figures) and self.last == figures[-1].mark

    def all(self, mark: Mark) -> None:
        """ "customers who bought all products" is another question than "all customers"."""
        draft = self.draft
        if draft.part_of or self.side == 2:
            return
        following, target = self.ahead(), draft.target
        several = bool(target and draft.figures)
        if isinstance(following, TableNoun) and not several:
            # "Orders where all products are Toys": each order has several of them.
            subject = target.table if target else draft.figures[0].table if draft.figures else ""
            several = bool(subject) and following.table not in self.figures.joins.reach(subject)
        if self.by or draft.verbs or draft.never_verb or several:
            raise Stuck("I do not understand it at this place", mark.text)

    def share_of(self, mark: Mark) -> None:
        """ "share of orders" is of what follows, "as a percentage" of what was said."""
        draft, nouns = self.draft, (TableNoun, MeasureNoun, ValueNoun, ColumnNoun)
        if isinstance(self.ahead(), nouns):
            self.share = mark
        elif draft.figures:
            draft.figures[-1].share = True
        elif draft.target and draft.target.table and not draft.target.columns:
            target, draft.target = draft.target, None
            draft.figures.append(
                Figure("count", target.mark, "count", table=target.table, share=True)
            )
        else:
            self.share = mark

    def naming(self, mark: Mark) -> None:
        """ "the names of customers", who have a first and a last one."""
        following = self.ahead()
        if following == Word("preposition"):
            self.at += 1
            following = self.ahead()
        entity = self.figures.entity(following.table) if isinstance(following, TableNoun) else None
        if entity is None or not entity.labels:
            raise Stuck("I do not know which name is meant", mark.text)
        draft = self.draft
        if draft.figures or draft.rank:
            return
        for label in entity.labels:
            self.shown_column(mark, ColumnRef(entity.table, label), True)
        self.link, self.joiner = "preposition", None

    def part_of(self, mark: Mark) -> None:
        """ "delivered orders as a share of all orders": what was said so far is the part."""
        draft = self.draft
        if draft.ratio and self.side == 1:
            self.side = 2
            return
        if draft.part_of or draft.ratio or self.share:
            raise Stuck("I do not understand this share", mark.text)
        draft.part_of = mark

    def along(self, mark: Mark, what: Recognised) -> None:
        """Growth, a running total or a moving average, whose parts may be said apart."""
        self.refuse_or()
        draft = self.draft
        made = draft.along
        if isinstance(what, Moving):
            if made or what.size > _LONGEST_WINDOW:
                raise Stuck("I do not understand this average", mark.text)
            draft.along = Along("moving", mark, what.size, what.unit)
        elif isinstance(what, Step):
            if made and (made.kind != "growth" or made.unit):
                raise Stuck("I do not understand what is compared with what", mark.text)
            draft.along = Along("growth", mark, 0, what.unit)
        elif what == Word("growth"):
            if made and made.kind != "growth":
                raise Stuck("I do not understand the two together", made.mark.text, mark.text)
            draft.along = made or Along("growth", mark)
        else:
            if made:
                raise Stuck("I do not understand the two together", made.mark.text, mark.text)
            draft.along = Along("running", mark)

    def sorting(self, mark: Mark) -> None:
        """ "ordered by" sorts by a figure, and is a purchase before anything else."""
        sorts = isinstance(self.ahead(), MeasureNoun | Aggregate | ColumnNoun)
        if mark.text.casefold() == "ordered by" and not sorts:
            self.draft.verbs.append((mark, Verb("buy")))
            following = self.ahead()
            if isinstance(following, TableNoun) and self.is_people(following.table):
                self.link = "preposition"
            else:
                self.by = mark
        else:
            self.sort = mark

    # Ranks and numbers ------------------------------------------------------------------------

    def superlative(self, mark: Mark, word: Superlative) -> None:
        self.refuse_or()
        rank = self.draft.rank
        if rank:
            if word.about == "units" and rank.word.about == "rank":
                rank.word = Superlative(rank.word.descending, "units")
                return
            both = word.about in (None, "size") and rank.figure is None and not rank.column
            if both and rank.word.about == "rank" and rank.word.descending == word.descending:
                # "top 3 products with the highest price", "with the most orders"
                rank.word = word
                return
            raise Stuck("two rankings in one question", rank.mark.text, mark.text)
        self.refuse_not()
        count = None
        verb = self.ahead()
        named = isinstance(self.ahead(1), TableNoun | ColumnNoun)
        if word.about is None and isinstance(verb, Verb) and named:
            # "most ordered products": by orders, units or revenue is still open.
            word = Superlative(word.descending, "rank")
            self.draft.verbs.append((self.marks[self.at], verb))
            self.at += 1
        before, following = self.last.what if self.last else None, self.ahead()
        if isinstance(before, Number):
            count = int(before.value)
        if isinstance(following, Number):
            count = int(following.value)
            self.at += 1
        if self.rows and isinstance(self.rows.what, Number):
            count, self.rows = count or int(self.rows.what.value), None
        if count is not None and not 0 < count <= _MOST_ROWS:
            raise Stuck("it is not a sensible number of rows", str(count))
        self.draft.rank = Rank(word, mark, count)

    # Verbs --------------------------------------------------------------------------------

    def verb(self, mark: Mark, verb: Verb) -> None:
        draft = self.draft
        self.refuse_or()
        if not self.negation:
            draft.verbs.append((mark, verb))
            return
        if draft.never_verb:
            raise Stuck("two negations", mark.text)
        draft.never_verb = verb
        self.negation = None
        self.note(mark, "no such row may exist")
