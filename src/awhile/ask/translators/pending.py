"""What a reader has pending between two nouns, and what it may ask of the schema.

Source: ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from awhile.ask.translators.contract import Choice, Meaning
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.draft import Draft, Said
from awhile.ask.translators.intent import Among, Either, Flag, Matching
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.marks import (
    Aggregate,
    ColumnNoun,
    Compare,
    GrainNoun,
    MeasureNoun,
    Number,
    TableNoun,
    TimeRange,
    ValueNoun,
    Word,
)
from awhile.ask.translators.names import column_words, table_words

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from awhile.ask.translators.figures import Figures
    from awhile.ask.translators.intent import ColumnRef, Filter
    from awhile.ask.translators.marks import Mark, Recognised, Role

__all__ = ["Pending"]

_OF = Word("preposition")
_FLAGS = (("is",), ("has",))


class Pending:
    """The words that wait for the noun they rule: `by`, a function, a negation, a sorting."""

    def __init__(
        self, question: str, marks: Sequence[Mark], claimed: Set[int], figures: Figures
    ) -> None:
        self.draft = Draft(question)
        self.marks = marks
        self.claimed = claimed
        self.figures = figures
        self.at: int = 0
        self.by: Mark | None = None
        self.per = False
        self.functions: list[tuple[Mark, Aggregate]] = []
        self.negation: Mark | None = None
        self.link: Role | None = None
        self.joiner: Mark | None = None
        self.sort: Mark | None = None
        self.share: Mark | None = None
        self.last: Mark | None = None
        self.rows: Mark | None = None
        self.more_groups = False
        self.more_figures = False
        self.claiming = False
        self.tied = False
        self.side = 0
        self.subject: Mark | None = None
        """A value that begins the question, as what is asked for: "leads of project Atlas"."""
        self.passing = False
        """Whether a column only names what its value or number follows: "or status is returned"."""

    def check_nothing_waits(self) -> None:
        """Raises `Stuck` for a word whose noun never came."""
        rest = self.draft.rest
        if rest:
            rest.functions.extend(each.function for _, each in self.functions)
            rest.share = self.share is not None
            self.functions.clear()
            self.share = None
        self.refuse_or()
        last = self.marks[-2:]
        if len(last) == 2 and isinstance(last[0].what, TimeRange) and last[1].what == _OF:
            # "from March on"
            raise Stuck("I do not understand the time meant", last[0].text, last[1].text)
        for waiting in (self.by, self.negation, self.sort, self.share, self.rows):
            if waiting:
                raise Stuck("nothing follows it that it could apply to", waiting.text)
        if self.functions:
            self.function_after(*self.functions[-1])
        if self.side == 1 and self.draft.ratio:
            raise Stuck("it is not said what it is divided by", self.draft.ratio.text)

    def function_after(self, mark: Mark, said: Aggregate) -> None:
        """ "how many orders does a customer have on average": of the figure said before."""
        figures = self.draft.figures
        only = figures[0] if len(figures) == 1 and len(self.functions) == 1 else None
        after = [each.what for each in self.marks if each.start > mark.start]
        last = all(isinstance(each, TimeRange | Word) for each in after)
        last = last and said.function in ("avg", "median", "max", "min")
        if only is None or not last or only.outer or only.share or only.kind == "column":
            raise Stuck("it is not said of what", self.functions[0][0].text)
        if only.kind == "value" and only.function is None:
            only.function = said.function
        else:
            only.outer = said.function
        self.functions.clear()

    def ahead(self, steps: int = 0) -> Recognised | None:
        """What the next mark was recognised as, or the one `steps` after it."""
        place = self.at + steps
        return self.marks[place].what if place < len(self.marks) else None

    def note(self, mark: Mark, meaning: str) -> None:
        self.draft.meanings.append(Meaning(mark.text, meaning))

    def keep(self, mark: Mark, condition: Filter) -> None:
        """One more condition, with how it was said."""
        draft = self.draft
        if self.joiner and self.joiner.what == Word("or"):
            condition = self.alternative(self.joiner, condition)
        noun = isinstance(self.ahead(), TableNoun | MeasureNoun) and not self.claiming
        how: Literal["adjective", "phrase", "claim"] = "phrase"
        if mark.start in self.claimed or self.claiming or self.link == "with":
            how = "claim"
        elif noun and self.link is None:
            how = "adjective"
        after = bool(draft.figures or draft.target)
        draft.said.append(Said(condition, mark, how, after, self.side))

    def alternative(self, mark: Mark, condition: Filter) -> Either:
        """ "from the web or with status returned": takes the condition before with it."""
        draft = self.draft
        before = draft.said[0] if len(draft.said) == 1 else None
        if (
            before is None
            or before.filter.ref.table != condition.ref.table
            or before.side != self.side
            or any(
                isinstance(one, Among | Flag | Matching) and one.negated
                for one in (before.filter, condition)
            )
            or draft.thresholds
            or draft.bare
        ):
            raise Stuck("I only understand it between two conditions of one table", mark.text)
        draft.said.clear()
        return Either((before.filter, condition))

    def refuse_or(self) -> None:
        if self.joiner and self.joiner.what == Word("or"):
            raise Stuck("I only understand it between values or conditions", self.joiner.text)

    def refuse_not(self) -> None:
        if self.negation:
            raise Stuck("I do not understand what it excludes", self.negation.text)

    def numeric(self, ref: ColumnRef) -> bool:
        return self.figures.column(ref).kind in ("integer", "number")

    def is_flag(self, ref: ColumnRef) -> bool:
        column = self.figures.column(ref)
        first = column_words(column.name, ref.table)[:1]
        return column.kind == "boolean" or (column.kind == "integer" and first in _FLAGS)

    def dated(self, ref: ColumnRef) -> bool:
        return self.figures.column(ref).kind in ("date", "timestamp")

    def is_key(self, ref: ColumnRef) -> bool:
        table = self.figures.table(ref.table)
        return ref.column in table.primary_key or any(
            ref.column in key.columns for key in table.foreign_keys
        )

    def is_people(self, table: str) -> bool:
        return any(word in ENGLISH.people for word in table_words(table))

    def adds_up(self, ref: ColumnRef) -> bool:
        return self.figures.adds_up(ref)

    def owner_of(self, mark: Mark) -> str:
        """The table said last before, unless columns or units of time were: "countries with …"."""
        compared = [figure.mark for figure, _ in self.draft.thresholds]
        for place in range(len(self.marks) - 1, -1, -1):
            each = self.marks[place]
            following = self.marks[place + 1].what if place + 1 < len(self.marks) else None
            if each.start >= mark.start or each in compared:
                continue
            if isinstance(each.what, TableNoun):
                return each.what.table
            told = isinstance(following, ValueNoun | Compare | Number | TimeRange)
            column = isinstance(each.what, ColumnNoun) and not each.what.verb and not told
            if column or isinstance(each.what, GrainNoun):
                return ""
        return ""

    def before_joiner(self) -> Mark | None:
        """The mark before the joining word that stands right before this one."""
        for place in range(self.at - 2, 0, -1):
            if self.marks[place] == self.joiner:
                return self.marks[place - 1]
        return None

    def refuse_by_whom(self, mark: Mark, noun: TableNoun) -> None:
        """ "orders by customers in Munich" may be a list or a count for each customer."""
        target = self.draft.target
        if target is None or self.by is None or self.draft.figures or self.draft.rank:
            return
        people = noun.plural and self.is_people(noun.table) and isinstance(self.ahead(), Word)
        if not people or self.by.text.casefold() != "by":
            return
        said, old = target.mark.text, f"{self.by.text} {mark.text}"
        question = self.draft.question
        counted = question.replace(said, f"number of {said}", 1)
        raise Undecided(
            f"Do you mean {said} from these {mark.text}, or a number for each of them?",
            (
                Choice(f"{said} from them", question.replace(old, f"from {mark.text}", 1)),
                Choice("a number for each", counted.replace(old, f"for each {mark.text}", 1)),
            ),
            old,
        )

    def refuse_bare(self, mark: Mark) -> None:
        """A table's name right after another name, with no word between, has no part to play."""
        nouns = (ColumnNoun, GrainNoun, MeasureNoun, TableNoun)
        if self.last and isinstance(self.last.what, ColumnNoun) and self.last.what.verb:
            return
        if self.last and self.last.end == mark.start and isinstance(self.last.what, nouns):
            raise Stuck("I do not understand the two together", self.last.text, mark.text)

    def is_modifier(self, mark: Mark, noun: TableNoun) -> bool:
        """ "customer orders": the first name only says more of the second. Raises `Stuck`."""
        following = self.marks[self.at] if self.at < len(self.marks) else None
        if following is None or following.start != mark.end:
            return False
        if not isinstance(following.what, TableNoun) or following.what.table == noun.table:
            return False
        if noun.plural or noun.table not in self.figures.joins.reach(following.what.table):
            raise Stuck("I do not understand the two together", mark.text, following.text)
        return True
