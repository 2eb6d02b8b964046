"""Reading: marks from left to right into a draft. Every mark must find its place, or none is used.

Source: ours. This is the guard's first half: a mark whose place is unclear raises `Stuck` with
its words, so nothing of the question is passed over in silence.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Grouping, Rank, Target
from awhile.ask.translators.intent import Among, ColumnRef, Comparison, Missing
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    GrainNoun,
    MeasureNoun,
    Number,
    Superlative,
    TableNoun,
    TimeRange,
    Unknown,
    ValueNoun,
    Verb,
    Word,
)
from awhile.ask.translators.pending import Pending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import Function
    from awhile.ask.translators.marks import Mark, Recognised

__all__ = ["read"]

_HEADS = ("list", "what", "what thing", "which", "who", "when", "how many", "how much")
_MOST_ROWS = 10_000


def read(question: str, marks: Sequence[Mark], figures: Figures) -> Draft:
    """The draft of a question. Raises `Stuck` for a mark that has no place."""
    heard = [mark for mark in marks if mark.what != Word("silent")]
    telling = [each for at in range(len(heard)) if (each := _brought(heard, at))]
    return _Reader(question, telling, figures).run()


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


class _Reader(Pending):
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
            case TimeRange():
                self.refuse_or()
                self.refuse_not()
                self.draft.periods.append((mark, mark.what))
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
            case Unknown():
                raise Stuck("it is not a word I know here", mark.text)
        self.link = None
        self.joiner = None
        self.more_groups = self.more_figures = False

    # Words ------------------------------------------------------------------------------------

    def word(self, mark: Mark, word: Word) -> None:
        role, draft = word.role, self.draft
        if role in _HEADS:
            self.head(mark, word)
        elif role == "by":
            before, following = self.last.what if self.last else None, self.ahead()
            agent = isinstance(following, TableNoun) and self.is_people(following.table)
            after = self.ahead(1)
            whose = isinstance(following, ValueNoun) and isinstance(after, TableNoun)
            if (isinstance(before, Verb) and agent) or (whose and mark.text.casefold() == "by"):
                self.link = "preposition"
            else:
                self.by, self.per = mark, mark.text.casefold().startswith(("per", "for ", "in "))
        elif role == "each":
            self.by = self.by or mark
            self.per = True
        elif role in ("with", "preposition", "is"):
            self.link = role
        elif role in ("and", "or", "comma"):
            if self.functions:
                raise Stuck("one function at a time, please", self.functions[-1][0].text, mark.text)
            if role != "comma" or not self.joiner:
                self.joiner = mark
            if self.last and not isinstance(self.last.what, Word):
                groups, figures = draft.groupings, draft.figures
                self.more_groups = bool(groups) and self.last == groups[-1].mark
                self.more_figures = bool(figures) and self.last == figures[-1].mark
        elif role in ("not", "without"):
            self.refuse_not()
            self.negation = mark
        elif role == "together":
            draft.together = True
            self.note(mark, "in the same purchase")
        elif role == "often":
            draft.often = True
        elif role == "sort":
            self.sorting(mark)
        elif role in ("ascending", "descending"):
            draft.descending = role == "descending"
            self.sort = None
        elif role == "distinct":
            draft.distinct = True
        elif role == "all":
            # "customers who bought all products" is another question than "all customers".
            if self.by or draft.verbs or draft.never_verb or (draft.target and draft.figures):
                raise Stuck("I do not understand it at this place", mark.text)
        elif role == "new":
            draft.new = mark
        elif role == "share":
            self.share = mark

    def head(self, mark: Mark, word: Word) -> None:
        draft, role = self.draft, word.role
        begun = (draft.target or draft.figures) and not self.joiner
        if begun and role not in ("which", "who", "what"):
            raise Stuck("a second question begins with it", mark.text)
        if draft.head in (None, "list"):
            draft.head = role
        elif role in ("when", "how much", "what thing"):
            raise Stuck("I do not understand it at this place", mark.text)
        if role == "how many":
            self.functions.append((mark, Aggregate("count")))

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

    def superlative(self, mark: Mark, word: Superlative) -> None:
        rank = self.draft.rank
        if rank:
            if word.about == "units" and rank.word.about == "rank":
                rank.word = Superlative(rank.word.descending, "units")
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

    def number(self, mark: Mark, number: Number) -> None:
        before, following = self.last, self.ahead()
        whole = number.value == int(number.value)
        if isinstance(following, Superlative) and whole:
            return
        ranked = any(isinstance(each.what, Superlative) for each in self.marks[self.at :])
        named = isinstance(following, TableNoun | ColumnNoun) and following.plural
        if whole and ranked and named and self.draft.rank is None and self.link != "with":
            self.rows = mark
            return
        if before and isinstance(before.what, ColumnNoun) and self.numeric(_ref(before.what)):
            self.keep(mark, Comparison(_ref(before.what), "=", number.value))
            return
        if isinstance(following, TableNoun) and self.link == "with":
            self.compare(mark, Compare("=", number.value))
            return
        grouped = any(each.mark == before for each in self.draft.groupings)
        if before and isinstance(before.what, TableNoun) and not grouped and whole:
            table = self.figures.table(before.what.table)
            key = ColumnRef(table.name, "".join(table.primary_key[:1]))
            if not before.what.plural and len(table.primary_key) == 1 and self.numeric(key):
                self.keep(mark, Comparison(key, "=", number.value))
                self.note(mark, f"{key.table}.{key.column}")
                return
        raise Stuck("I do not know what it counts", mark.text)

    def grain(self, mark: Mark, grain: GrainNoun) -> None:
        draft = self.draft
        self.refuse_or()
        self.refuse_not()
        if self.by or grain.adjective or self.more_groups:
            draft.groupings.append(Grouping(mark, grain=grain, per=self.per or grain.adjective))
            self.by = None
            self.note(mark, f"one group for each {grain.unit}")
        elif draft.target is None and (draft.head in ("which", "what") or draft.rank):
            draft.target = Target(mark, mark.text.casefold().endswith("s"), grain=grain)
        else:
            raise Stuck("I do not understand the time meant", mark.text)

    # Nouns ------------------------------------------------------------------------------------

    def measure(self, mark: Mark, noun: MeasureNoun) -> None:
        self.refuse_or()
        self.refuse_not()
        draft = self.draft
        if noun.name == "value":
            following = self.ahead(1) if self.ahead() == Word("preposition") else None
            target = draft.target.table if draft.target else ""
            if isinstance(following, TableNoun) and self.figures.order_like(following.table):
                self.at += 2
                self.place(self.valued(mark, following.table))
            elif self.figures.trade and mark.text.casefold().startswith(("basket", "cart")):
                self.place(self.valued(mark, self.figures.trade.header))
            elif self.figures.trade and target == self.figures.trade.header:
                figure = self.valued(mark, target)
                figure.function = figure.function or "sum"
                self.place(figure)
            else:
                raise Stuck("it is not said of what", mark.text)
            return
        functions = [each.function for _, each in self.functions]
        if noun.name == "revenue" and functions[-1:] == ["count"]:
            raise Stuck("a number of sales can be orders or units; say which", mark.text)
        if self.joiner and draft.target and draft.target.mark == self.before_joiner():
            draft.joined_target = True
        self.place(self.summed(mark, noun.name))

    def before_joiner(self) -> Mark | None:
        """The mark before the joining word that stands right before this one."""
        for place in range(self.at - 2, 0, -1):
            if self.marks[place] == self.joiner:
                return self.marks[place - 1]
        return None

    def table(self, mark: Mark, noun: TableNoun) -> None:
        draft, name = self.draft, noun.table
        self.refuse_or()
        if self.ahead() == MeasureNoun("value") and self.figures.order_like(name):
            self.refuse_not()
            self.at += 1
            self.place(self.valued(mark, name))
            return
        self.note(mark, f"the table {name}")
        if self.is_modifier(mark, noun):
            return
        if self.share and not self.functions:
            self.functions.append((mark, Aggregate("count")))
        if self.functions:
            self.counted(mark, noun)
        elif self.by or self.more_groups:
            self.refuse_not()
            self.refuse_by_whom(mark, noun)
            draft.groupings.append(Grouping(mark, table=name, per=self.per))
            self.by = None
        elif self.negation:
            if self.negation.what == Word("not") and self.link == "preposition":
                self.refuse_not()
            draft.never.append(name)
            self.negation = None
        elif self.more_figures or (
            draft.rank and draft.rank.word.about is None and not draft.rank.figure
        ):
            self.place(Figure("count", mark, "count", table=name))
        elif draft.target is None and (not draft.figures or self.is_ranked()):
            draft.target = Target(mark, noun.plural, table=name)
        elif draft.target and draft.target.table == name:
            return
        elif self.joiner:
            raise Stuck("I do not understand the two together", self.joiner.text, mark.text)
        elif (
            draft.target
            and draft.target.columns
            and not draft.target.table
            and self.link == "preposition"
            and not draft.figures
        ):
            draft.target.table = name
        else:
            self.refuse_bare(mark)
            draft.related.append(name)

    def is_ranked(self) -> bool:
        """Whether a noun after a figure is what is ranked: "highest revenue product"."""
        before = self.last.what if self.last else None
        return self.draft.rank is not None and isinstance(before, MeasureNoun | Superlative)

    def column(self, mark: Mark, noun: ColumnNoun) -> None:
        draft, ref = self.draft, _ref(noun)
        following = self.ahead(1) if self.ahead() == Word("is") else self.ahead()
        self.note(mark, f"{ref.table}.{ref.column}")
        if isinstance(following, ValueNoun) and _sense_ref(following) == ref and not self.by:
            return
        self.refuse_or()
        if self.figures.column(ref).kind in ("date", "timestamp") and not self.functions:
            self.refuse_not()
            if self.by or self.sort or draft.date:
                raise Stuck("I group dates by day, month and so on", mark.text)
            draft.date = ref
        elif isinstance(following, Compare | Number) and self.numeric(ref) and not self.functions:
            self.refuse_not()
        elif self.functions:
            self.refuse_not()
            self.measured(mark, ref)
        elif self.negation:
            self.keep(mark, Missing(ref))
            self.negation = None
        elif self.sort:
            draft.sort, self.sort = ref, None
        elif self.by and self.numeric(ref) and draft.target and draft.target.table:
            self.by_number(mark, ref, draft.target.table)
        elif self.by or self.more_groups:
            draft.groupings.append(Grouping(mark, column=ref, per=self.per))
            self.by = None
        elif self.ranked(mark, noun, ref):
            return
        elif self.ahead() == Word("by") and not draft.target and self.adds_up(ref):
            self.place(Figure("column", mark, "sum", column=ref))
        elif draft.target is None and (not draft.figures or self.is_ranked()):
            draft.target = Target(mark, noun.plural, columns=[ref])
        elif (
            draft.target
            and ((draft.target.columns and self.joiner) or self.link == "with")
            and not draft.figures
            and not draft.target.grain
        ):
            draft.target.columns.append(ref)
        else:
            raise Stuck("I do not understand its part in the question", mark.text)

    def ranked(self, mark: Mark, noun: ColumnNoun, ref: ColumnRef) -> bool:
        """A column after a superlative: "highest price", "most cities", "most common city"."""
        draft, rank = self.draft, self.draft.rank
        if not rank or rank.figure or rank.column:
            return False
        about = rank.word.about
        if about is None and not self.numeric(ref):
            self.place(Figure("column", mark, "count_distinct", column=ref))
            return True
        if about in (None, "size") and self.numeric(ref):
            if draft.target is None:
                name: Function = "max" if rank.word.descending else "min"
                draft.figures.append(Figure("column", mark, name, column=ref))
                draft.rank = None
            elif draft.target.table == ref.table and not draft.target.columns:
                rank.column = ref
            else:
                raise Stuck("it is not said how to add it up", mark.text)
            return True
        if about == "rows" and draft.target is None:
            draft.target = Target(mark, noun.plural, columns=[ref])
            return True
        return False

    def value(self, mark: Mark, noun: ValueNoun) -> None:
        draft, ref, value = self.draft, _sense_ref(noun), noun.senses[0].value
        if self.by:
            raise Stuck("I expected a name after it, not a value", self.by.text, mark.text)
        if self.functions and isinstance(self.ahead(), Verb) and self.counts_item(ref):
            self.place(self.summed(mark, "units"))
        elif self.functions and not isinstance(self.ahead(), TableNoun | ValueNoun | MeasureNoun):
            raise Stuck("I expected a name after it, not a value", self.functions[-1][0].text)
        last = draft.filters[-1] if draft.filters else None
        if isinstance(last, Among) and last.ref == ref and not self.negation:
            if not self.joiner:
                raise Stuck("two values side by side", mark.text)
            draft.filters.pop()
            self.keep(mark, Among(ref, (*last.values, value), last.negated))
            if self.joiner.what != Word("or"):
                draft.anded.add(ref)
        else:
            self.refuse_or()
            self.keep(mark, Among(ref, (value,), negated=self.negation is not None))
        verb = "is not" if self.negation else "is"
        self.negation = None
        self.note(mark, f"{ref.table}.{ref.column} {verb} {value!r}")

    # Verbs and comparisons --------------------------------------------------------------------

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

    def compare(self, mark: Mark, compare: Compare) -> None:
        draft = self.draft
        self.refuse_or()
        self.refuse_not()
        before, following = self.last.what if self.last else None, self.ahead()
        if isinstance(following, TableNoun | MeasureNoun) and not compare.about_price:
            after = self.marks[self.at]
            self.at += 1
            if isinstance(following, TableNoun):
                if self.ahead() == MeasureNoun("value"):
                    raise Stuck("I do not understand the comparison", mark.text)
                figure = Figure("count", after, "count", table=following.table)
                self.note(mark, f"how many rows of {following.table} belong to each")
            elif following.name == "value":
                raise Stuck("I do not understand the comparison", mark.text)
            else:
                figure = Figure(following.name, after)
            draft.thresholds.append((figure, compare))
        elif (
            isinstance(before, ColumnNoun)
            and self.numeric(_ref(before))
            and not compare.about_price
        ):
            ref = _ref(before)
            self.keep(mark, Comparison(ref, compare.operator, compare.low, compare.high))
        elif (
            isinstance(before, MeasureNoun)
            and draft.figures
            and (draft.target or draft.figures[0].kind == "count")
        ):
            draft.thresholds.append((draft.figures[-1], compare))
        elif isinstance(before, Verb):
            more = tuple(
                Choice(each, draft.question.replace(mark.text, f"{mark.text} {each}", 1))
                for each in ("units", "revenue")
            )
            raise Undecided(f"Of what should it be {mark.text}?", more, mark.text)
        else:
            draft.bare.append((mark, compare))


def _ref(noun: ColumnNoun) -> ColumnRef:
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)


def _sense_ref(noun: ValueNoun) -> ColumnRef:
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)
