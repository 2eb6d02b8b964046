"""Reading: marks from left to right into a draft. Every mark must find its place, or none is used.

Source: ours. This is the guard's first half: a mark whose place is unclear raises `Stuck` with
its words, so nothing of the question is passed over in silence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Meaning
from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Draft, Figure, Grouping, Rank, Target
from awhile.ask.translators.english import PEOPLE
from awhile.ask.translators.figures import table_words
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.marks import Mark, Recognised

__all__ = ["read"]

_HEADS = ("list", "what", "which", "who", "when", "how many", "how much")
_SUMMING = ("sum", "add", "adding", "summarise", "summarize", "totals")


def read(question: str, marks: Sequence[Mark], figures: Figures) -> Draft:
    """The draft of a question. Raises `Stuck` for a mark that has no place."""
    telling = [mark for mark in marks if mark.what != Word("silent")]
    return _Reader(question, telling, figures).run()


class _Reader:
    """One pass. The pending words (`by`, a function, a negation) wait for the noun they rule."""

    def __init__(self, question: str, marks: Sequence[Mark], figures: Figures) -> None:
        self.draft = Draft(question)
        self.marks = marks
        self.figures = figures
        self.at = 0
        self.by: Mark | None = None
        self.per = False
        self.functions: list[tuple[Mark, Aggregate]] = []
        self.negation: Mark | None = None
        self.link = ""
        self.joiner: Mark | None = None
        self.sort: Mark | None = None
        self.share: Mark | None = None
        self.last: Mark | None = None
        self.more = False

    def run(self) -> Draft:
        while self.at < len(self.marks):
            mark = self.marks[self.at]
            self.at += 1
            self.take(mark)
            self.last = mark
        for pending in (self.by, self.negation, self.sort, self.share):
            if pending:
                raise Stuck("nothing follows it that it could apply to", pending.text)
        if self.functions:
            raise Stuck("it is not said of what", self.functions[0][0].text)
        return self.draft

    def ahead(self, steps: int = 0) -> Recognised | None:
        place = self.at + steps
        return self.marks[place].what if place < len(self.marks) else None

    def note(self, mark: Mark, meaning: str) -> None:
        self.draft.meanings.append(Meaning(mark.text, meaning))

    def take(self, mark: Mark) -> None:
        match mark.what:
            case Word():
                self.word(mark, mark.what)
            case Aggregate():
                self.functions.append((mark, mark.what))
            case Superlative():
                self.superlative(mark, mark.what)
            case Number():
                self.number(mark, mark.what)
            case GrainNoun():
                self.grain(mark, mark.what)
            case TimeRange():
                self.refuse_joiner("or", "not")
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
        if not isinstance(mark.what, Word):
            self.link = ""
            self.joiner = None
            self.more = False

    def refuse_joiner(self, *kinds: str) -> None:
        if "or" in kinds and self.joiner and self.joiner.what == Word("or"):
            raise Stuck("I only understand it between values of one column", self.joiner.text)
        if "not" in kinds and self.negation:
            raise Stuck("I do not understand what it excludes", self.negation.text)

    # Words ------------------------------------------------------------------------------------

    def word(self, mark: Mark, word: Word) -> None:
        role = word.role
        draft = self.draft
        if role in _HEADS:
            if draft.head is None:
                draft.head = role
            if role == "how many":
                self.functions.append((mark, Aggregate("count")))
            if role in ("when", "how much") and draft.head != role:
                raise Stuck("I do not understand it at this place", mark.text)
        elif role == "by":
            before = self.last.what if self.last else None
            following = self.ahead()
            agent = isinstance(following, TableNoun) and self.is_people(following.table)
            if isinstance(before, Verb) and agent:
                self.link = "preposition"
            else:
                self.by, self.per = mark, mark.text.casefold().startswith(("per", "for ", "in "))
        elif role == "each":
            if self.by is None:
                self.by = mark
            self.per = True
        elif role in ("with", "preposition", "is"):
            self.link = role
        elif role in ("and", "or", "comma"):
            if not (role == "comma" and self.joiner):
                self.joiner = mark
                groups = draft.groupings
                self.more = bool(groups) and self.last == groups[-1].mark
        elif role in ("not", "without"):
            if self.negation:
                raise Stuck("two negations in a row", self.negation.text, mark.text)
            self.negation = mark
        elif role == "together":
            draft.together = True
            self.note(mark, "in the same order")
        elif role == "often":
            draft.often = True
        elif role == "sort":
            self.sort = mark
        elif role in ("ascending", "descending"):
            draft.descending = role == "descending"
            self.sort = None
        elif role == "distinct":
            draft.distinct = True
        elif role == "new":
            draft.new = mark
        elif role == "share":
            self.share = mark

    def is_people(self, table: str) -> bool:
        return any(word in PEOPLE for word in table_words(table))

    def superlative(self, mark: Mark, word: Superlative) -> None:
        draft = self.draft
        if draft.rank:
            if draft.rank.word.about is None and word.about is None and not draft.rank.figure:
                raise Stuck("two rankings in one question", draft.rank.mark.text, mark.text)
            if word.about == "units" and draft.rank.word.about == "rank":
                draft.rank.word = Superlative(draft.rank.word.descending, "units")
                return
            raise Stuck("two rankings in one question", draft.rank.mark.text, mark.text)
        count = None
        before = self.last.what if self.last else None
        if isinstance(before, Number):
            count = int(before.value)
        following = self.ahead()
        if isinstance(following, Number):
            count = int(following.value)
            self.at += 1
        if count is not None and not 0 < count <= 10_000:
            raise Stuck("it is not a sensible number of rows", str(count))
        draft.rank = Rank(word, mark, count)

    def number(self, mark: Mark, number: Number) -> None:
        following, before = self.ahead(), self.last.what if self.last else None
        if isinstance(following, Superlative) and number.value == int(number.value):
            return
        if isinstance(before, ColumnNoun) and self.numeric(_ref(before)):
            self.draft.filters.append(Comparison(_ref(before), "=", number.value))
            return
        if isinstance(following, TableNoun) and self.link == "with":
            self.compare(mark, Compare("=", number.value))
            return
        raise Stuck("I do not know what it counts", mark.text)

    def numeric(self, ref: ColumnRef) -> bool:
        return self.figures.column(ref).kind in ("integer", "number")

    def grain(self, mark: Mark, grain: GrainNoun) -> None:
        draft = self.draft
        self.refuse_joiner("or", "not")
        if self.by or grain.adjective or self.more:
            draft.groupings.append(Grouping(mark, grain=grain, per=self.per or grain.adjective))
            self.by = None
            self.note(mark, f"one group for each {grain.unit}")
        elif draft.target is None and (draft.head in ("which", "what") or draft.rank):
            draft.target = Target(mark, mark.text.endswith("s"), grain=grain)
        else:
            raise Stuck("I do not understand the time meant", mark.text)

    # Figures ----------------------------------------------------------------------------------

    def measure(self, mark: Mark, noun: MeasureNoun) -> None:
        self.refuse_joiner("or")
        if noun.name == "value":
            following = self.ahead(1) if self.ahead() == Word("preposition") else None
            if not (isinstance(following, TableNoun) and self.figures.order_like(following.table)):
                raise Stuck("it is not said of what", mark.text)
            self.at += 2
            self.place(self.made("value", mark, following.table), mark)
            return
        if self.negation and self.draft.target:
            raise Stuck("I do not understand what it excludes", self.negation.text)
        self.refuse_joiner("not")
        if noun.name == "revenue" and self.functions and self.functions[-1][1].function == "count":
            raise Stuck("a number of sales can be orders or units; say which", mark.text)
        self.place(self.made(noun.name, mark), mark)

    def made(self, kind: str, mark: Mark, table: str = "") -> Figure:
        """A figure with the functions that wait; "average total revenue" has an outer one."""
        names = [each.function for _, each in self.functions]
        self.functions.clear()
        figure = Figure("count", mark, table=table)
        if kind == "revenue":
            figure.kind = "revenue"
        elif kind == "units":
            figure.kind = "units"
            if names and names[-1] == "count":
                names.pop()
        elif kind == "value":
            figure.kind = "value"
            figure.function = names.pop() if names else None
            return self.rest(figure, names)
        if kind == "count" or (names and names[-1] == "sum"):
            figure.function = names.pop()
        outer = [name for name in names if name != "sum"]
        return self.rest(figure, outer)

    def rest(self, figure: Figure, names: list[str]) -> Figure:
        outer = [name for name in names if name != "sum"]
        if len(outer) > 1 or any(name.startswith("count") for name in outer):
            raise Stuck("too many functions one upon another", figure.mark.text)
        if outer:
            figure.outer = outer[0]  # type: ignore[assignment]
        figure.share = self.share is not None
        self.share = None
        return figure

    def place(self, figure: Figure, mark: Mark) -> None:
        """A figure's place: what a ranking ranks by, what a list is sorted by, or an answer."""
        draft = self.draft
        if self.sort or (self.by and draft.target and not draft.rank):
            draft.sort = figure
            self.sort = self.by = None
        elif self.by and not (draft.rank or draft.groupings):
            raise Stuck("one groups by names or dates, not by a figure", self.by.text, mark.text)
        else:
            self.by = None
        rank = draft.rank
        if (
            rank
            and not rank.figure
            and not rank.column
            and rank.word.about
            in (
                None,
                "rank",
                "size",
            )
        ):
            aggregate = rank.word.also_aggregate and not draft.target
            if aggregate and not isinstance(self.ahead(), GrainNoun | ColumnNoun | TableNoun):
                if figure.outer or figure.function:
                    raise Stuck("too many functions one upon another", rank.mark.text, mark.text)
                name = "max" if rank.word.descending else "min"
                if figure.kind == "value":
                    figure.function = name
                else:
                    figure.outer = name
                draft.rank = None
            else:
                rank.figure = figure
        draft.figures.append(figure)

    # Nouns ------------------------------------------------------------------------------------

    def table(self, mark: Mark, noun: TableNoun) -> None:
        draft, name = self.draft, noun.table
        self.refuse_joiner("or")
        said = f"the table {name}"
        following = self.ahead()
        if following == MeasureNoun("value") and self.figures.order_like(name):
            self.at += 1
            self.note(mark, f"the value of one row of {name}")
            self.place(self.made("value", mark, name), mark)
            return
        if self.functions:
            self.note(mark, said)
            self.counted(mark, noun)
            return
        self.note(mark, said)
        if self.by or self.more:
            draft.groupings.append(Grouping(mark, table=name, per=self.per))
            self.by = None
        elif self.negation:
            if self.negation.what == Word("not") and self.link == "preposition":
                raise Stuck("I do not understand what it excludes", self.negation.text)
            draft.never.append(name)
            self.negation = None
        elif draft.rank and draft.rank.word.about is None and not draft.rank.figure:
            self.place(Figure("count", mark, "count", table=name), mark)
        elif draft.target is None and (not draft.figures or self.ranks_it()):
            draft.target = Target(mark, noun.plural, table=name)
        elif draft.target and not draft.target.table and not draft.target.grain:
            if self.link == "preposition" and not draft.figures:
                draft.target.table = name
            else:
                draft.related.append(name)
        elif draft.target and draft.target.table == name:
            return
        else:
            draft.related.append(name)

    def ranks_it(self) -> bool:
        """Whether a noun after a figure is what is ranked: "highest revenue product"."""
        before = self.last.what if self.last else None
        return self.draft.rank is not None and self.link == "" and isinstance(before, MeasureNoun)

    def counted(self, mark: Mark, noun: TableNoun) -> None:
        """A table under a function: counted, or, for an order-like table, its value."""
        said, last = self.functions[-1][0], self.functions[-1][1].function
        words = said.text.casefold().split()
        if last == "sum" and words[0] in _SUMMING:
            if not self.figures.order_like(noun.table):
                raise Stuck(f"{noun.table} has no one figure to add up", said.text, mark.text)
            self.note(said, f"adding up the value of {noun.table}")
            self.place(self.made("revenue", mark), mark)
        elif last in ("count", "count_distinct"):
            self.functions[-1] = (said, Aggregate("count"))
            self.place(self.made("count", mark, noun.table), mark)
        elif last == "sum" or noun.plural:
            self.functions.append((mark, Aggregate("count")))
            self.place(self.made("count", mark, noun.table), mark)
        elif self.figures.order_like(noun.table):
            self.place(self.made("value", mark, noun.table), mark)
        else:
            raise Stuck("it is not said of what", said.text, mark.text)

    def column(self, mark: Mark, noun: ColumnNoun) -> None:
        draft, ref = self.draft, _ref(noun)
        following = self.ahead()
        if following == Word("is"):
            following = self.ahead(1)
        kind = self.figures.column(ref).kind
        self.note(mark, f"{ref.table}.{ref.column}")
        if isinstance(following, ValueNoun) and _sense_ref(following) == ref and not self.by:
            return
        self.refuse_joiner("or")
        if kind in ("date", "timestamp") and not self.functions:
            if self.by or draft.date:
                raise Stuck("I group dates by day, month and so on", mark.text)
            draft.date = ref
            return
        if isinstance(following, Compare | Number) and self.numeric(ref) and not self.functions:
            self.refuse_joiner("not")
            return
        if self.functions:
            self.measured(mark, ref)
        elif self.negation:
            draft.filters.append(Missing(ref))
            self.negation = None
        elif self.sort:
            draft.sort, self.sort = ref, None
        elif self.by and self.numeric(ref) and draft.target and draft.target.table:
            if draft.rank:
                draft.rank.column = ref
            else:
                draft.sort = ref
            self.by = None
        elif self.by or self.more:
            draft.groupings.append(Grouping(mark, column=ref, per=self.per))
            self.by = None
        elif self.ranked(mark, noun, ref):
            return
        elif (draft.target is None and not draft.figures) or (
            draft.target is None and self.ranks_it()
        ):
            draft.target = Target(mark, noun.plural, columns=[ref])
        elif (
            draft.target
            and (draft.target.columns or self.link == "with")
            and (not draft.figures and not draft.target.grain)
        ):
            draft.target.columns.append(ref)
        else:
            raise Stuck("I do not understand its part in the question", mark.text)

    def ranked(self, mark: Mark, noun: ColumnNoun, ref: ColumnRef) -> bool:
        """A column after a superlative: "highest price", "most cities", "most common city"."""
        draft, rank = self.draft, self.draft.rank
        if not rank or rank.figure or rank.column or (draft.target and rank.word.about == "time"):
            return False
        about = rank.word.about
        if about == "rows" and draft.target is None:
            draft.target = Target(mark, noun.plural, columns=[ref])
            return True
        if about is None and not self.numeric(ref):
            self.place(Figure("column", mark, "count_distinct", column=ref), mark)
            return True
        if about in (None, "size") and self.numeric(ref):
            if draft.target is None:
                name = "max" if rank.word.descending else "min"
                draft.figures.append(Figure("column", mark, name, column=ref))
                draft.rank = None
            elif draft.target.table == ref.table:
                rank.column = ref
            else:
                raise Stuck("it is not said how to add it up", mark.text)
            return True
        return False

    def measured(self, mark: Mark, ref: ColumnRef) -> None:
        said, function = self.functions[-1][0], self.functions[-1][1].function
        if function in ("count", "count_distinct"):
            if self.numeric(ref) and not self.is_key(ref):
                raise Stuck("it is a figure, not something to count", said.text, mark.text)
            function = "count_distinct"
        elif function in ("sum", "avg", "median") and not self.numeric(ref):
            raise Stuck("it holds no numbers", said.text, mark.text)
        self.functions.pop()
        figure = Figure("column", mark, function, column=ref)
        names = [each.function for _, each in self.functions]
        self.functions.clear()
        self.place(self.rest(figure, names), mark)

    def is_key(self, ref: ColumnRef) -> bool:
        table = self.figures.table(ref.table)
        return ref.column in table.primary_key or any(
            ref.column in key.columns for key in table.foreign_keys
        )

    def value(self, mark: Mark, noun: ValueNoun) -> None:
        draft, ref, value = self.draft, _sense_ref(noun), noun.senses[0].value
        if self.by or (self.functions and not isinstance(self.ahead(), TableNoun | Compare)):
            at_fault = self.by or self.functions[-1][0]
            raise Stuck("I expected a name after it, not a value", at_fault.text, mark.text)
        last = draft.filters[-1] if draft.filters else None
        alike = isinstance(last, Among) and last.ref == ref
        if isinstance(last, Among) and alike and not self.negation:
            draft.filters[-1] = Among(ref, (*last.values, value), last.negated)
            if self.joiner and self.joiner.what != Word("or"):
                draft.anded.add(ref)
            elif not self.joiner:
                raise Stuck("two values side by side", mark.text)
        else:
            self.refuse_joiner("or")
            draft.filters.append(Among(ref, (value,), negated=self.negation is not None))
        verb = "is not" if self.negation else "is"
        self.negation = None
        self.note(mark, f"{ref.table}.{ref.column} {verb} {value!r}")

    # Verbs and comparisons --------------------------------------------------------------------

    def verb(self, mark: Mark, verb: Verb) -> None:
        draft = self.draft
        self.refuse_joiner("or")
        if self.negation:
            if draft.never_verb:
                raise Stuck("two negations", mark.text)
            draft.never_verb = verb
            self.negation = None
            self.note(mark, "no such row may exist")
            return
        draft.verbs.append((mark, verb))

    def compare(self, mark: Mark, compare: Compare) -> None:
        draft = self.draft
        self.refuse_joiner("or")
        if self.negation:
            raise Stuck("I do not understand what it excludes", self.negation.text)
        before, following = self.last.what if self.last else None, self.ahead()
        if isinstance(following, TableNoun) and not compare.about_price:
            after = self.marks[self.at]
            self.at += 1
            figure = Figure("count", after, "count", table=following.table)
            if self.ahead() == MeasureNoun("value"):
                raise Stuck("I do not understand the comparison", mark.text)
            draft.thresholds.append((figure, compare))
            self.note(mark, f"how many rows of {following.table} belong to each")
        elif isinstance(following, MeasureNoun) and following.name != "value":
            after = self.marks[self.at]
            self.at += 1
            draft.thresholds.append((Figure(following.name, after), compare))
        elif (
            isinstance(before, ColumnNoun)
            and self.numeric(_ref(before))
            and not (compare.about_price)
        ):
            ref = _ref(before)
            draft.filters.append(Comparison(ref, compare.operator, compare.low, compare.high))
        elif isinstance(before, MeasureNoun) and draft.target and draft.figures:
            draft.thresholds.append((draft.figures[-1], compare))
        else:
            draft.bare.append((mark, compare))


def _ref(noun: ColumnNoun) -> ColumnRef:
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)


def _sense_ref(noun: ValueNoun) -> ColumnRef:
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)
