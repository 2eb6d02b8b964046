"""Reading names: tables, columns, values and units of time, each with the part it plays.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.doubts import Stuck
from awhile.ask.translators.draft import Figure, Grouping, Target, When
from awhile.ask.translators.figuring import Figuring
from awhile.ask.translators.intent import Among, ColumnRef, Flag, Matching, Missing
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    MeasureNoun,
    Number,
    Pattern,
    Superlative,
    TableNoun,
    TimeRange,
    ValueNoun,
    Verb,
    Word,
)

if TYPE_CHECKING:
    from awhile.ask.translators.intent import Filter, Function
    from awhile.ask.translators.marks import GrainNoun, Mark

__all__ = ["Naming", "ref_of"]


class Naming(Figuring):
    """A reader's part for names."""

    # Times ------------------------------------------------------------------------------------

    def grain(self, mark: Mark, grain: GrainNoun) -> None:
        draft = self.draft
        self.refuse_or()
        self.refuse_not()
        if self.by or grain.adjective or self.more_groups:
            per = self.per or grain.adjective
            draft.groupings.append(Grouping(mark, grain=grain, per=per, each=self.each()))
            self.by = None
            self.note(mark, f"one group for each {grain.unit}")
        elif draft.target is None and (
            draft.head in ("which", "what") or draft.rank or self.begins_comparison()
        ):
            draft.target = Target(mark, mark.text.casefold().endswith("s"), grain=grain)
        else:
            raise Stuck("I do not understand the time meant", mark.text)

    def each(self) -> bool:
        """Whether a group was said by "each" or "every"."""
        words = self.by.text.casefold().split() if self.by else ()
        return not ENGLISH.calendar["every"].isdisjoint(words)

    def begins_comparison(self) -> bool:
        """ "Months with fewer than 15 orders": the units of time themselves are asked for."""
        where = self.at < len(self.marks) and self.marks[self.at].text.casefold() == "where"
        return not self.draft.figures and (self.ahead() == Word("with") or where)

    def period(self, mark: Mark, time: TimeRange) -> None:
        """A time, of the date said right before it, or of one that the rest tells."""
        self.refuse_not()
        before = self.last.what if self.last else None
        if not isinstance(before, TimeRange):
            self.refuse_or()
        ref = None
        if isinstance(before, ColumnNoun) and self.dated(ref_of(before)):
            ref = ref_of(before)
            self.draft.happened = [each for each in self.draft.happened if each[1] != ref]
            self.draft.date_noun = None
        self.draft.periods.append(When(mark, time, ref, self.joiner is not None))

    # Tables -----------------------------------------------------------------------------------

    def table(self, mark: Mark, noun: TableNoun) -> None:
        draft, name = self.draft, noun.table
        self.refuse_or()
        if any(figure.mark == mark for figure, _ in draft.thresholds):
            return
        if self.ahead() == MeasureNoun("value") and self.figures.order_like(name):
            self.refuse_not()
            self.at += 1
            self.place(self.valued(mark, name))
            return
        self.note(mark, f"the table {name}")
        if self.is_modifier(mark, noun):
            return
        if draft.ratio and self.side and not self.functions and not self.by:
            self.functions.append((draft.ratio, Aggregate("count")))
        if self.share and not self.functions:
            self.functions.append((mark, Aggregate("count")))
        if self.functions:
            self.counted(mark, noun)
        elif self.by or self.more_groups:
            self.refuse_not()
            self.refuse_by_whom(mark, noun)
            draft.groupings.append(Grouping(mark, table=name, per=self.per, each=self.each()))
            self.by = None
        elif self.negation:
            self.never(name)
        elif self.more_figures or (
            draft.rank and draft.rank.word.about is None and not draft.rank.figure
        ):
            self.place(Figure("count", mark, "count", table=name))
        elif draft.target is None and (not draft.figures or self.is_ranked()):
            if self.subject:
                raise Stuck("I do not know what it is asked of", self.subject.text)
            draft.target = Target(mark, noun.plural, table=name)
        elif (draft.target and draft.target.table == name) or (
            draft.figures and draft.figures[0].table == name and draft.part_of
        ):
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
            if self.last and isinstance(self.last.what, Superlative):
                # "customers whose last order was …": what is ranked is not what is asked for.
                raise Stuck("it is not what is asked for", self.last.text, mark.text)
            draft.related.append(name)

    def never(self, table: str) -> None:
        """ "Without orders", "that have no orders": no such row may exist."""
        plain = self.negation and self.negation.what == Word("not") and not self.tied
        if plain and self.link == "preposition":
            self.refuse_not()
        draft = self.draft
        subject = draft.target.table if draft.target else ""
        near = self.figures.joins.reach(subject) if subject else {}
        key = (
            next((each for each in self.figures.joins.keys(subject) if each.table == table), None)
            if subject
            else None
        )
        if table in near and key and len(key.columns) == 1 and self.negation:
            # "Tickets without an agent": what they point at is missing.
            self.keep(self.negation, Missing(ColumnRef(subject, key.columns[0])))
        else:
            draft.never.append(table)
        self.negation = None

    def is_ranked(self) -> bool:
        """Whether a noun after a figure is what is ranked: "highest revenue product"."""
        before = self.last.what if self.last else None
        return self.draft.rank is not None and isinstance(before, MeasureNoun | Superlative)

    # Columns ----------------------------------------------------------------------------------

    def column(self, mark: Mark, noun: ColumnNoun) -> None:
        draft, ref = self.draft, ref_of(noun)
        following = self.ahead()
        if following in (Word("is"), Word("not"), Word("preposition")):
            after = self.ahead(1)
            following = (
                after if isinstance(after, Pattern) or following == Word("is") else following
            )
        self.note(mark, f"{ref.table}.{ref.column}")
        valued = isinstance(following, ValueNoun) and _sense_ref(following) == ref
        compared = isinstance(following, Compare | Number) and self.numeric(ref)
        missing = self.negation and not (self.by or self.functions or self.dated(ref))
        if isinstance(following, Pattern):
            self.refuse_not()
            valued = True
        if valued and not self.by:
            self.passing = True
            return
        if not (compared and not self.functions) and not missing:
            self.refuse_or()
        listed = draft.target and draft.target.columns and self.joiner
        counted = bool(self.functions) and self.functions[-1][1].function == "count"
        if self.dated(ref) and counted and not noun.verb and not self.ahead_is_time():
            raise Stuck("it is not said what is counted", self.functions[-1][0].text, mark.text)
        free = not self.functions or counted
        if self.dated(ref) and free and not (listed and not noun.verb):
            self.date(mark, noun, ref)
        elif compared and not self.functions:
            self.refuse_not()
            self.passing = True
        elif self.functions or (self.share and self.numeric(ref) and self.adds_up(ref)):
            self.refuse_not()
            if not self.functions:
                self.functions.append((mark, Aggregate("sum")))
            self.measured(mark, ref)
        elif (self.link == "with" or self.negation) and self.is_flag(ref) and not self.by:
            # "treatments with placebo"
            self.keep(mark, Flag(ref, self.negation is not None))
            self.negation = None
        elif self.negation:
            if not self.figures.column(ref).nullable:
                raise Stuck(f"every row has its {ref.column}", self.negation.text, mark.text)
            if self.numeric(ref) and self.adds_up(ref) and not self.is_key(ref):
                raise Stuck("none may be 0, or not known", self.negation.text, mark.text)
            self.keep(mark, Missing(ref))
            self.negation = None
        elif self.sort:
            draft.sort, self.sort = ref, None
        elif self.by and self.numeric(ref) and draft.target and draft.target.table:
            self.by_number(mark, ref, draft.target.table)
        elif self.by or self.more_groups:
            draft.groupings.append(Grouping(mark, column=ref, per=self.per, each=self.each()))
            self.by = None
        elif self.more_figures and self.numeric(ref) and draft.figures[-1].kind == "column":
            # "average height and weight"
            self.functions.append((mark, Aggregate(draft.figures[-1].function or "sum")))
            self.measured(mark, ref)
        elif self.ranked(mark, noun, ref):
            return
        elif self.ahead() == Word("by") and self.begins() and self.adds_up(ref):
            self.place(Figure("column", mark, "sum", column=ref))
        elif (draft.target is None and (not draft.figures or self.is_ranked())) or self.lists_on():
            self.shown_column(mark, ref, noun.plural)
        else:
            raise Stuck("I do not understand its part in the question", mark.text)

    def ahead_is_time(self) -> bool:
        return isinstance(self.ahead(), TimeRange)

    def begins(self) -> bool:
        """Whether nothing was asked for yet."""
        return self.draft.target is None and not self.draft.figures

    def lists_on(self) -> bool:
        """Whether a column is one more of a list: "name and city", "products with their price"."""
        draft = self.draft
        target = draft.target
        if target is None or draft.figures or target.grain:
            return False
        return bool((target.columns and self.joiner) or self.link == "with")

    def date(self, mark: Mark, noun: ColumnNoun, ref: ColumnRef) -> None:
        """A date: shown in a list, or what the times of the question are about."""
        draft = self.draft
        if self.negation and noun.verb and self.figures.column(ref).nullable:
            # "who have not left"
            self.keep(mark, Missing(ref))
            self.negation = None
            return
        self.refuse_not()
        if self.by or self.sort:
            if self.sort and not noun.verb:
                draft.sort, self.sort = ref, None
                return
            raise Stuck("I group dates by day, month and so on", mark.text)
        following = self.ahead()
        first = self.ahead(1)
        of = following == Word("preposition")
        asked = self.begins()
        if of and asked and isinstance(first, Superlative) and first.about == "time":
            # "the date of our first order"
            draft.head = "when"
            self.at += 1
            return
        joined = isinstance(following, Word) and following.role in ("and", "comma")
        listed = joined or (of and isinstance(first, TableNoun))
        if not noun.verb and listed and (asked or self.lists_on()):
            self.shown_column(mark, ref, noun.plural)
            return
        if draft.date and draft.date != ref:
            raise Stuck("two dates in one question", mark.text)
        draft.date = ref
        if noun.verb:
            draft.happened.append((mark, ref))
        else:
            draft.date_noun = mark

    def ranked(self, mark: Mark, noun: ColumnNoun, ref: ColumnRef) -> bool:
        """A column after a superlative: "highest price", "most cities", "most common city"."""
        draft, rank = self.draft, self.draft.rank
        if not rank or rank.figure or rank.column:
            return False
        about = rank.word.about
        adds_up = self.numeric(ref) and self.adds_up(ref)
        if about is None and (adds_up or not self.numeric(ref)):
            if adds_up:
                if draft.target and draft.target.table == ref.table and not draft.target.columns:
                    rank.column = ref
                    return True
                self.place(Figure("column", mark, "sum", column=ref))
                return True
            self.place(Figure("column", mark, "count_distinct", column=ref))
            return True
        if about in (None, "size") and self.numeric(ref):
            if draft.target is None and rank.word.place > 1:
                raise Stuck("it is not said what is ranked", rank.mark.text)
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

    # Values -----------------------------------------------------------------------------------

    def value(self, mark: Mark, noun: ValueNoun) -> None:
        draft, sense = self.draft, noun.senses[0]
        ref = _sense_ref(noun)
        alone = self.link is None and self.joiner is None and self.share is None
        if self.begins() and alone and self.ahead() in (Word("preposition"), Word("relation")):
            self.subject = mark
        if self.by:
            raise Stuck("I expected a name after it, not a value", self.by.text, mark.text)
        if self.functions and isinstance(self.ahead(), Verb) and self.counts_item(ref):
            self.place(self.summed(mark, "units"))
        elif self.functions and not isinstance(self.ahead(), TableNoun | ValueNoun | MeasureNoun):
            raise Stuck("I expected a name after it, not a value", self.functions[-1][0].text)
        # "agents who have no urgent tickets": the tickets are ruled out, and not their urgency.
        of_rows = self.rules_out_rows()
        negated = self.negation is not None and not of_rows
        said = "is not" if negated else "is"
        self.note(mark, f"{ref.table}.{ref.column} {said} {sense.value!r}")
        if sense.is_flag:
            self.keep(mark, Flag(ref, negated))
        else:
            self.among(mark, ref, sense.value, negated)
        if self.share and self.ahead() in (Word("preposition"), Word("part of")):
            draft.said[-1].how = "claim"  # "share of Toys in revenue"
        if not of_rows:
            self.negation = None

    def pattern(self, mark: Mark, pattern: Pattern) -> None:
        """ "(name) starts with A", "'oak' in the name"."""
        before = self.last
        if before and before.what == Word("not") and self.at > 2:
            before = self.marks[self.at - 3]
        column = before.what if before else None
        if self.ahead() == Word("preposition") and isinstance(self.ahead(1), ColumnNoun):
            column = self.ahead(1)
            self.at += 2
        if not isinstance(column, ColumnNoun) or self.by or self.functions or self.sort:
            raise Stuck("I do not understand what these letters are of", mark.text)
        ref = ref_of(column)
        if self.figures.column(ref).kind != "text":
            raise Stuck(f"{ref.column} holds no texts", mark.text)
        negated = self.negation is not None
        self.negation = None
        self.note(mark, f"letters of {ref.table}.{ref.column}, upper and lower case alike")
        self.keep(mark, Matching(ref, pattern.where, pattern.text, negated))

    def rules_out_rows(self) -> bool:
        """Whether a negation is of rows that the asked ones may have many of, named ahead."""
        target, following = self.draft.target, self.ahead()
        if self.negation is None or self.negation.what != Word("without") or self.draft.figures:
            return False
        if target is None or not target.table or not isinstance(following, TableNoun):
            return False
        return following.table not in self.figures.joins.reach(target.table)

    def among(self, mark: Mark, ref: ColumnRef, value: str, negated: bool) -> None:
        draft = self.draft
        last: Filter | None = draft.said[-1].filter if draft.said else None
        if isinstance(last, Among) and last.ref == ref and last.negated and self.joiner:
            # "excluding cancelled and returned", "not cancelled or returned"
            draft.said[-1].filter = Among(ref, (*last.values, value), negated=True)
        elif isinstance(last, Among) and last.ref == ref and not negated:
            if draft.said[-1].side != self.side:
                self.keep(mark, Among(ref, (value,)))
                return
            if not self.joiner:
                raise Stuck("two values side by side", mark.text)
            draft.said[-1].filter = Among(ref, (*last.values, value), last.negated)
            if self.joiner.what != Word("or"):
                draft.anded.add(ref)
        else:
            self.keep(mark, Among(ref, (value,), negated))


def ref_of(noun: ColumnNoun) -> ColumnRef:
    """The column a settled name is of."""
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)


def _sense_ref(noun: ValueNoun) -> ColumnRef:
    return ColumnRef(noun.senses[0].table, noun.senses[0].column)
