"""Putting together: a draft into an intent, or a doubt.

Source: ours. The guard's second half: whatever the draft leaves open is decided only where one
reading is left; else it is asked back (`Undecided`) or given up (`Stuck`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from awhile.ask.translators.contract import Choice, Meaning
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Figure, Grouping, Rank
from awhile.ask.translators.figures import column_words, is_label, table_words
from awhile.ask.translators.intent import (
    Among,
    ColumnRef,
    Comparison,
    Condition,
    During,
    EntityDimension,
    Groups,
    Listing,
    Measure,
    Order,
    Pairs,
    Rows,
    Threshold,
    TimeDimension,
)
from awhile.ask.translators.marks import Superlative

if TYPE_CHECKING:
    from collections.abc import Sequence

    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import Dimension, Expression, Filter, Function, Intent
    from awhile.ask.translators.marks import Compare, Mark

__all__ = ["plan"]

_JOINED = (
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
_DEFAULT_ROWS = 10


def plan(draft: Draft, figures: Figures) -> Intent:
    """The intent of a draft. Raises `Stuck` or `Undecided`."""
    return _Planner(draft, figures).run()


class _Planner:
    def __init__(self, draft: Draft, figures: Figures) -> None:
        self.draft = draft
        self.figures = figures
        self.joins = figures.joins

    def run(self) -> Intent:
        draft = self.draft
        if draft.together:
            return self.pairs()
        self.verbs()
        self.implied_target()
        if draft.head == "when":
            return self.when()
        if draft.rank:
            self.rank(draft.rank)
        if draft.bare:
            self.bare_comparisons()
        if not draft.figures and not draft.thresholds and draft.groupings:
            self.count_target()
        if draft.figures or draft.thresholds:
            return self.groups()
        return self.listing()

    # What the question is about ---------------------------------------------------------------

    def subject(self) -> str:
        """The table whose rows are counted or listed."""
        draft = self.draft
        for figure in draft.figures:
            if figure.kind == "count":
                return figure.table
        if draft.target and draft.target.table:
            return draft.target.table
        if draft.target and draft.target.columns:
            return draft.target.columns[0].table
        for figure in draft.figures:
            if figure.column:
                return figure.column.table
            found = self.figures.revenue() if figure.kind == "revenue" else self.figures.units()
            if len(found) == 1:
                return found[0].table
        raise Stuck("it does not say what to show")

    def verbs(self) -> None:
        """What was bought, sold or booked becomes a related table, or explains a figure."""
        draft, trade = self.draft, self.figures.trade
        for mark, verb in draft.verbs:
            if verb.kind == "event":
                draft.related.append(verb.table)
                continue
            if trade is None:
                raise Stuck("no table here holds purchases or sales", mark.text)
            selling = verb.kind == "sell"
            if draft.head == "how much" and not draft.figures and selling:
                draft.figures.append(Figure("revenue", mark))
                continue
            if draft.head == "what" and not draft.target and not draft.figures and trade.item:
                draft.head = "list"
                self.take_item(mark, trade.item)
            counted = [f for f in draft.figures if f.kind == "count" and f.table == trade.item]
            if counted and not draft.distinct:
                raise Undecided(
                    f"Do you mean how many different {trade.item} were sold, or how many units?",
                    (),
                    mark.text,
                )
            draft.related.append(self.event_for(self.subject(), mark))
        if draft.never_verb:
            verb = draft.never_verb
            if verb.kind == "event":
                draft.never.append(verb.table)
            elif trade is None:
                raise Stuck("no table here holds purchases or sales")
            else:
                draft.never.append(self.event_for(self.subject(), None))

    def take_item(self, mark: Mark, item: str) -> None:
        from awhile.ask.translators.draft import Target

        self.draft.target = Target(mark, True, table=item)

    def event_for(self, subject: str, mark: Mark | None) -> str:
        """The table of the trade that says a row of `subject` took part in it."""
        trade = self.figures.trade
        if trade is None:
            raise Stuck("no table here holds purchases or sales", *([mark.text] if mark else []))
        if subject in (trade.lines, trade.header):
            return subject
        return trade.header if subject in self.joins.reach(trade.header) else trade.lines

    def implied_target(self) -> None:
        """ "Books cheaper than 20": a value stands for the rows that have it."""
        draft = self.draft
        if draft.target or draft.figures:
            return
        among = [each for each in draft.filters if isinstance(each, Among)]
        priced = draft.rank and draft.rank.word.about == "price"
        if among and (priced or any(compare.about_price for _, compare in draft.bare)):
            table = among[0].ref.table
            if self.figures.prices(table):
                self.take_item(draft.bare[0][0] if draft.bare else _mark(draft.rank), table)

    def count_target(self) -> None:
        """ "orders by country": how many rows of the target there are in each group."""
        draft = self.draft
        target = draft.target
        if target is None or not target.table or target.columns or draft.head == "list":
            name = target.mark.text if target else "it"
            raise Stuck(f"it is not said what to compute of {name} for each group")
        draft.figures.append(Figure("count", target.mark, "count", table=target.table))
        draft.target = None

    # Rankings and comparisons without an object -----------------------------------------------

    def rank(self, rank: Rank) -> None:
        """Finds what a superlative ranks by."""
        draft, about, trade = self.draft, rank.word.about, self.figures.trade
        target = draft.target
        if rank.figure or rank.column:
            return
        if about == "time":
            if target is None or not target.table:
                raise Stuck("I do not know which dates it compares", rank.mark.text)
            rank.column = self.date_of(target.table, rank.mark)
        elif about == "price":
            if target is None or not target.table:
                raise Stuck("I do not know which prices it compares", rank.mark.text)
            prices = self.figures.prices(target.table)
            if len(prices) != 1:
                raise Stuck(f"{target.table} has no one price", rank.mark.text)
            rank.column = prices[0]
        elif about == "units":
            self.ranked_by(rank, Figure("units", rank.mark))
        elif about == "events" or (draft.often and draft.verbs):
            if trade is None:
                raise Stuck("no table here holds purchases or sales", rank.mark.text)
            self.ranked_by(rank, Figure("count", rank.mark, "count", table=trade.header))
        elif about == "rows":
            if target is None or not target.columns:
                raise Stuck("I do not know what is counted", rank.mark.text)
            table = target.columns[0].table
            self.ranked_by(rank, Figure("count", rank.mark, "count", table=table))
        elif len(draft.figures) == 1 and about in (None, "rank", "size"):
            rank.figure = draft.figures[0]
        elif about == "size" and target and trade and target.table == trade.header:
            self.ranked_by(rank, Figure("value", rank.mark, "sum", table=trade.header))
        else:
            raise Undecided("By what should they be ranked?", self.rankings(rank), rank.mark.text)

    def ranked_by(self, rank: Rank, figure: Figure) -> None:
        rank.figure = figure
        self.draft.figures.append(figure)

    def rankings(self, rank: Rank) -> tuple[Choice, ...]:
        """Wordings that say what a ranking is by."""
        target, trade = self.draft.target, self.figures.trade
        if target is None or trade is None:
            return ()
        many = f"{rank.count or _DEFAULT_ROWS} " if target.plural or rank.count else "1 "
        end = "top" if rank.word.descending else "bottom"
        header = trade.header.replace("_", " ")
        return tuple(
            Choice(f"by {by}", f"{end} {many}{target.mark.text} by {by}")
            for by in ("revenue", "units sold", f"number of {header}")
        )

    def bare_comparisons(self) -> None:
        """ "products over 100": the one figure the rows have, or the value of an order."""
        draft = self.draft
        for mark, compare in draft.bare:
            table = self.subject()
            if compare.about_price:
                prices = self.figures.prices(table)
                if len(prices) != 1:
                    raise Stuck(f"{table} has no one price", mark.text)
                self.compared(prices[0], compare, mark)
            elif (only := self.figures.only_number(table)) is not None:
                self.compared(only, compare, mark)
            elif self.figures.trade and table == self.figures.trade.header:
                draft.thresholds.append((Figure("value", mark, "sum", table=table), compare))
                self.note(mark, f"the value of one row of {table}")
            else:
                raise Stuck(f"it is not said which figure of {table} it compares", mark.text)

    def compared(self, ref: ColumnRef, compare: Compare, mark: Mark) -> None:
        self.draft.filters.append(Comparison(ref, compare.operator, compare.low, compare.high))
        self.note(mark, f"{ref.table}.{ref.column}")

    def note(self, mark: Mark, meaning: str) -> None:
        self.draft.meanings.append(Meaning(mark.text, meaning))

    # Dates ------------------------------------------------------------------------------------

    def date_of(self, table: str, mark: Mark | None) -> ColumnRef:
        """The date column meant for rows of `table`."""
        draft = self.draft
        if draft.date:
            return draft.date
        words = (mark.text,) if mark else ()
        if draft.new:
            own = [d for d in self.figures.dates(table) if column_words(d.column)[0] in _JOINED]
            if len(own) != 1:
                raise Stuck(f"I do not know since when a row of {table} exists", draft.new.text)
            return own[0]
        found = self.figures.nearest_dates(table)
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(f"{each.table}.{each.column}" for each in found)
            raise Stuck(f"{table} has several dates ({names}); say which one", *words)
        raise Stuck(f"{table} has no dates", *words)

    def event_date(self, mark: Mark) -> ColumnRef:
        """The date column for a period or a time group of the whole question."""
        draft = self.draft
        if draft.date or draft.new:
            return self.date_of(self.subject(), mark)
        events = [table for table in (*draft.never, *draft.related) if self.dated(table)]
        events += [f.table for f, _ in draft.thresholds if f.kind == "count"]
        if any(f.kind != "count" for f, _ in draft.thresholds) and self.figures.trade:
            events.append(self.figures.trade.lines)
        subject = self.subject()
        if draft.rank and draft.rank.word.about == "events" and self.figures.trade:
            subject = self.figures.trade.header
        money = [f for f in draft.figures if f.kind in ("revenue", "units", "value")]
        if money and self.figures.trade:
            return self.date_of(self.figures.trade.lines, mark)
        for event in events:
            if event not in self.joins.reach(subject):
                return self.date_of(event, mark)
        if draft.target and not draft.target.table and draft.figures:
            return self.date_of(subject, mark)
        self.not_either(subject, mark)
        return self.date_of(subject, mark)

    def dated(self, table: str) -> bool:
        return bool(self.figures.nearest_dates(table))

    def not_either(self, subject: str, mark: Mark) -> None:
        """Customers "last year" may have joined or bought then; orders can only be of then."""
        own = self.figures.dates(subject)
        trade = self.figures.trade
        if trade is None or subject in (trade.header, trade.lines):
            return
        if subject not in self.joins.reach(trade.lines):
            return
        draft = self.draft
        target = draft.target.mark.text if draft.target else draft.figures[0].mark.text
        choices: list[Choice] = []
        if own:
            verb = " ".join(column_words(own[0].column)[:1])
            choices.append(
                Choice(
                    f"{target} that {verb} then",
                    draft.question.replace(target, f"{target} that {verb}", 1),
                )
            )
        verb = "ordered" if subject == trade.buyer else "were sold"
        choices.append(
            Choice(
                f"{target} that {verb} then",
                draft.question.replace(target, f"distinct {target} that {verb}", 1),
            )
        )
        raise Undecided(
            f"What about {target} should have happened {mark.text}?", tuple(choices), mark.text
        )

    # Parts ------------------------------------------------------------------------------------

    def condition(self, subject: str | None) -> Condition:
        draft = self.draft
        filters: list[Filter] = list(draft.filters)
        if len(draft.periods) > 1:
            raise Stuck("two times in one question", *(mark.text for mark, _ in draft.periods))
        for mark, time in draft.periods:
            ref = self.event_date(mark)
            filters.append(During(ref, time.period))
            self.note(mark, f"{ref.table}.{ref.column}: {time.period.said}, {time.period.dates}")
        related = tuple(dict.fromkeys(t for t in draft.related if t != subject))
        if draft.never:
            if len(set(draft.never)) > 1:
                raise Stuck("it rules out two different things at once")
            beside = [table for table in related if table not in draft.never]
            if beside and subject and any(t not in self.joins.reach(subject) for t in beside):
                near = self.joins.reach(draft.never[0])
                if any(table not in near for table in beside):
                    raise Stuck("it asks for related rows and rules them out at once")
            return Condition(tuple(filters), (draft.never[0],), never=True)
        for each in draft.filters:
            related_to = subject is not None and each.ref.table not in self.joins.reach(subject)
            if related_to and each.ref in draft.anded:
                raise Stuck("I cannot tell whether one row or several must have these values")
        return Condition(tuple(filters), related)

    def dimension(self, grouping: Grouping) -> Dimension:
        if grouping.grain:
            return TimeDimension(self.event_date(grouping.mark), grouping.grain.unit)
        if grouping.column:
            return grouping.column
        return self.entity(grouping.table, grouping.mark)

    def entity(self, table: str, mark: Mark) -> EntityDimension:
        found = self.figures.entity(table)
        if found is None:
            raise Stuck(f"{table} has no key to tell its rows apart", mark.text)
        return found

    def target_dimensions(self) -> tuple[Dimension, ...]:
        target = self.draft.target
        if target is None:
            return ()
        if target.grain:
            return (TimeDimension(self.event_date(target.mark), target.grain.unit),)
        if target.columns:
            return tuple(target.columns)
        return (self.entity(target.table, target.mark),)

    # Figures ----------------------------------------------------------------------------------

    def groups(self) -> Intent:
        draft = self.draft
        groupings = list(draft.groupings)
        measures = [self.measure(figure, groupings) for figure in draft.figures]
        by_figure = dict(zip(map(id, draft.figures), measures, strict=True))
        dims = tuple(self.dimension(each) for each in groupings)
        counted = [f for f in draft.figures if f.kind == "count" and f.mark.what]
        count_groups = False
        target_dims: tuple[Dimension, ...] = ()
        if draft.target:
            target_dims = self.target_dimensions()
            if self.context_only():
                draft.related.append(draft.target.table)
                target_dims = ()
        elif draft.thresholds and counted and not dims and len(draft.figures) == 1:
            target_dims = (self.entity(counted[0].table, counted[0].mark),)
            count_groups = True
            measures = []
        if draft.rank and target_dims and dims:
            raise Stuck("I cannot rank within groups yet", draft.rank.mark.text)
        if draft.sort and target_dims and dims:
            raise Stuck("it is not clear what each row of the answer should be")
        dims = tuple(dict.fromkeys((*target_dims, *dims)))
        having = tuple(
            Threshold(
                by_figure.get(id(figure)) or self.measure(figure, []),
                compare.operator,
                compare.low,
                compare.high,
            )
            for figure, compare in draft.thresholds
        )
        if having and not dims:
            raise Stuck("it compares a figure, but it is not said of what")
        if not measures:
            measures = [each.measure for each in having]
        subject = self.base_hint(measures)
        where = self.condition(subject)
        if where.never and any(not isinstance(m.of, Rows) or m.per for m in measures):
            raise Stuck("nothing that never happened can be added up")
        if (
            where.never
            and dims
            and any(isinstance(m.of, Rows) for m in measures)
            and (where.related[0] == subject)
        ):
            raise Stuck("nothing that never happened can be counted")
        order, limit = self.order(measures, by_figure, dims)
        return Groups(
            tuple(dict.fromkeys(measures)),
            dims,
            where,
            having,
            order,
            limit,
            self.keeps_empty(dims, having, order, measures),
            count_groups,
        )

    def context_only(self) -> bool:
        """A table named beside a figure without being ranked or listed: "how much did … spend"."""
        draft = self.draft
        target = draft.target
        if target is None or not target.table or target.columns:
            return False
        if draft.rank or draft.thresholds or draft.sort:
            return False
        return draft.head in ("how much", "how many")

    def base_hint(self, measures: Sequence[Measure]) -> str | None:
        tables = {_table(each.of) for each in measures}
        return tables.pop() if len(tables) == 1 else None

    def keeps_empty(
        self,
        dims: Sequence[Dimension],
        having: Sequence[Threshold],
        order: Order | None,
        measures: Sequence[Measure],
    ) -> bool:
        if len(dims) != 1 or not isinstance(dims[0], EntityDimension) or len(measures) != 1:
            return False
        if measures[0].per or measures[0].function not in ("sum", "count"):
            return False
        if _table(measures[0].of) == dims[0].table:
            return False
        for each in having:
            if each.operator in ("<", "<=") or (
                each.operator in ("=", "between", ">=") and each.low == 0
            ):
                return True
        return bool(self.draft.rank) and order is not None and not order.descending

    def order(
        self,
        measures: Sequence[Measure],
        by_figure: dict[int, Measure],
        dims: Sequence[Dimension],
    ) -> tuple[Order | None, int | None]:
        draft = self.draft
        rank = draft.rank
        if not dims:
            if rank:
                raise Stuck("it is not said what is ranked", rank.mark.text)
            return None, None
        if rank and rank.figure:
            plural = draft.target.plural if draft.target else True
            if draft.target is None and rank.count is None and rank.word.about != "rank":
                raise Stuck("it is not said what is ranked", rank.mark.text)
            limit = rank.count or (_DEFAULT_ROWS if plural else 1)
            return Order(by_figure[id(rank.figure)], rank.word.descending), limit
        if rank:
            raise Stuck("I do not know what it ranks by", rank.mark.text)
        if isinstance(draft.sort, Figure):
            down = draft.descending is not False
            return Order(by_figure[id(draft.sort)], down), None
        if draft.sort:
            raise Stuck("the answer can only be sorted by its figures")
        if any(isinstance(each, TimeDimension) for each in dims):
            return None, None
        return Order(measures[0], draft.descending is not False), None

    def measure(self, figure: Figure, groupings: list[Grouping]) -> Measure:
        """The measure of a figure; an outer function takes its unit from `groupings`."""
        if figure.kind == "count":
            return self.outer(figure, Measure("count", Rows(figure.table)), groupings)
        if figure.kind == "column" and figure.column:
            return self.column_measure(figure, figure.column, groupings)
        if figure.kind == "value":
            return self.value_measure(figure)
        of = self.revenue(figure) if figure.kind == "revenue" else self.units(figure)
        self.note(figure.mark, _formula(of))
        return self.outer(figure, Measure("sum", of, share=figure.share), groupings)

    def outer(self, figure: Figure, inner: Measure, groupings: list[Grouping]) -> Measure:
        if figure.share:
            inner = replace(inner, share=True)
        if figure.outer is None:
            return inner
        per = [each for each in groupings if each.per and not each.column]
        if len(per) != 1 or figure.share:
            raise self.of_what(figure, groupings)
        groupings.remove(per[0])
        dimension = self.dimension(per[0])
        assert not isinstance(dimension, ColumnRef)
        return Measure(figure.outer, inner.of, per=dimension)

    def of_what(self, figure: Figure, groupings: list[Grouping]) -> Stuck | Undecided:
        """ "average revenue by country" leaves open of what the average is taken."""
        trade, words = self.figures.trade, {"avg": "average", "max": "highest", "min": "lowest"}
        said = words.get(figure.outer or "", figure.outer or "")
        choices: list[Choice] = []
        if trade and figure.kind == "revenue" and figure.outer:
            one = " ".join(table_words(trade.header))
            old = f"{figure.mark.text}"
            choices.append(
                Choice(f"{said} {one} value", self.draft.question.replace(old, f"{one} value", 1))
            )
            choices.append(
                Choice(
                    "total revenue",
                    _without(self.draft.question, said).replace(old, f"total {old}", 1),
                )
            )
        return Undecided(f"The {said} of what, for each of what?", tuple(choices), figure.mark.text)

    def column_measure(self, figure: Figure, ref: ColumnRef, groupings: list[Grouping]) -> Measure:
        function: Function = figure.function or "sum"
        inner = Measure(function, ref, share=figure.share)
        if figure.outer:
            return self.outer(figure, inner, groupings)
        additive = ref in self.figures.units() or ref in self.figures.revenue()
        per = [each for each in groupings if each.per and each.table]
        if function in ("avg", "median") and additive and per:
            if per[0].table == ref.table:
                groupings.remove(per[0])
            elif self.figures.trade and per[0].table in (
                self.figures.trade.header,
                self.figures.trade.buyer,
            ):
                groupings.remove(per[0])
                return Measure(function, ref, per=self.entity(per[0].table, per[0].mark))
            else:
                raise self.of_what(figure, groupings)
        return inner

    def value_measure(self, figure: Figure) -> Measure:
        trade = self.figures.trade
        of = self.revenue(figure)
        if trade is None or figure.table not in (trade.header, trade.lines):
            raise Stuck("I do not know its value", figure.mark.text)
        if figure.function is None:
            one = figure.mark.text
            raise Undecided(
                f"Do you mean the average or the total {one} value?",
                tuple(
                    Choice(
                        f"{word} {one} value", self.draft.question.replace(one, f"{word} {one}", 1)
                    )
                    for word in ("average", "total", "median")
                ),
                one,
            )
        self.note(figure.mark, f"{_formula(of)}, added up for each row of {figure.table}")
        if figure.function == "sum" or of.table == figure.table:
            return Measure(figure.function, of)
        return Measure(figure.function, of, per=self.entity(figure.table, figure.mark))

    def revenue(self, figure: Figure) -> Expression:
        found = self.figures.revenue()
        if not found:
            raise Stuck("no table here holds amounts of money I could add up", figure.mark.text)
        if len(found) > 1:
            names = ", ".join(_formula(each) for each in found)
            raise Stuck(f"it can be more than one figure ({names})", figure.mark.text)
        return found[0]

    def units(self, figure: Figure) -> ColumnRef:
        found = self.figures.units()
        if len(found) != 1:
            raise Stuck("no one column here holds units sold", figure.mark.text)
        return found[0]

    # Lists ------------------------------------------------------------------------------------

    def listing(self) -> Intent:
        draft = self.draft
        target = draft.target
        if target is None or target.grain:
            raise Stuck("it does not say what to show")
        if draft.often:
            raise Stuck("it is not said what is counted")
        table = target.table or target.columns[0].table
        card = self.figures.table(table)
        if target.columns:
            columns = tuple(dict.fromkeys(target.columns))
        else:
            columns = tuple(ColumnRef(table, column.name) for column in card.columns)
        if any(each.table not in self.joins.reach(table) for each in columns):
            raise Stuck("these columns are not of the same rows")
        names_rows = any(
            each.table == table
            and (each.column in card.primary_key or is_label(card, self.figures.column(each)))
            for each in columns
        )
        distinct = bool(target.columns) and (draft.distinct or not target.table or not names_rows)
        where = self.condition(table)
        order: Order | None = None
        limit: int | None = None
        if draft.rank:
            if draft.rank.column is None or distinct:
                raise Stuck("I do not know what it ranks by", draft.rank.mark.text)
            if draft.rank.column not in columns:
                columns = (*columns, draft.rank.column)
            order = Order(draft.rank.column, draft.rank.word.descending)
            limit = draft.rank.count or (_DEFAULT_ROWS if target.plural else 1)
        elif isinstance(draft.sort, ColumnRef):
            order = Order(draft.sort, draft.descending is not False)
        if draft.head in ("how many", "how much"):
            raise Stuck("it is not said what is counted")
        return Listing(table, columns, distinct, where, order, limit)

    def when(self) -> Intent:
        draft, rank = self.draft, self.draft.rank
        if not rank or rank.word.about != "time" or not draft.target or not draft.target.table:
            raise Stuck("I can only tell when the first or last of something was", "when")
        if draft.figures or draft.groupings or draft.thresholds or draft.bare:
            raise Stuck("I can only tell when the first or last of something was", "when")
        ref = self.date_of(draft.target.table, rank.mark)
        measure = Measure("max" if rank.word.descending else "min", ref)
        return Groups((measure,), (), self.condition(draft.target.table))

    def pairs(self) -> Intent:
        draft, trade = self.draft, self.figures.trade
        if trade is None or trade.item is None or trade.header == trade.lines:
            raise Stuck("no table here holds what was bought in one purchase", "together")
        if draft.figures or draft.groupings or draft.thresholds or draft.bare or draft.never:
            raise Stuck("I only count pairs of things bought together", "together")
        if draft.target is None or draft.target.table != trade.item or draft.never_verb:
            raise Stuck(f"I only count pairs of {trade.item}", "together")
        key = next(each for each in self.joins.keys(trade.lines) if each.table == trade.item)
        basket = next(each for each in self.joins.keys(trade.lines) if each.table == trade.header)
        item = self.entity(trade.item, draft.target.mark)
        if len(key.columns) != 1 or len(item.key) != 1:
            raise Stuck(f"{trade.item} has a key of several columns", "together")
        rank = draft.rank or Rank(Superlative(True), draft.target.mark)
        if rank.word.about not in (None, "rank", "rows", "units"):
            raise Stuck("I only rank pairs by how often they are bought", rank.mark.text)
        where = self.condition(trade.lines)
        return Pairs(
            trade.lines,
            item,
            key.columns[0],
            basket.columns,
            trade.header,
            replace(where, related=()),
            rank.word.descending,
            rank.count or _DEFAULT_ROWS,
        )


def _table(of: Expression) -> str:
    return of.table


def _mark(rank: Rank | None) -> Mark:
    assert rank is not None
    return rank.mark


def _formula(of: Expression) -> str:
    if isinstance(of, ColumnRef):
        return f"{of.table}.{of.column}"
    if isinstance(of, Rows):
        return f"rows of {of.table}"
    return f"{of.table}: {of.quantity.column} × {of.price.column}"


def _without(question: str, word: str) -> str:
    place = question.casefold().find(word)
    return question if place < 0 else question[:place] + question[place + len(word) :].lstrip()
