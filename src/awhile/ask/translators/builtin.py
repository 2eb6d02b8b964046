"""The built-in translator: no model, no network, a few milliseconds a question.

Source: ours. It answers only what it can ground: every word of the question is a grammar word, a
name of the schema, a value of the data or a time, and each has found its place.
"""

from __future__ import annotations

from contextlib import suppress
from copy import deepcopy
from importlib.metadata import version
from typing import TYPE_CHECKING

import anyio.to_thread

from awhile.ask.translators.compile import compile_intent
from awhile.ask.translators.contract import Choice, Meaning, QuestionBack, Refusal, Sql
from awhile.ask.translators.doubts import Beyond, Doubt, Stuck, Undecided
from awhile.ask.translators.figures import Figures
from awhile.ask.translators.following import (
    goes_on,
    joined,
    may_stand_alone,
    refers_back,
    sentences,
    shown,
)
from awhile.ask.translators.joins import Joins, TwoWays
from awhile.ask.translators.language import ENGLISH
from awhile.ask.translators.lexicon import Lexicon
from awhile.ask.translators.link import link
from awhile.ask.translators.marks import ColumnNoun, Unknown, Word
from awhile.ask.translators.plan import plan
from awhile.ask.translators.reader import read
from awhile.ask.translators.reading import reading_of
from awhile.ask.translators.remembered import answered_before
from awhile.ask.translators.settle import reworded, settle
from awhile.ask.translators.words import tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from awhile.ask.schema import Schema
    from awhile.ask.translators.contract import Translation, Turn
    from awhile.ask.translators.draft import Draft
    from awhile.ask.translators.marks import Mark
    from awhile.ask.translators.periods import Period
    from awhile.ask.translators.words import Token

__all__ = ["BuiltInTranslator"]

_LONGEST_QUESTION = 1000
_MOST_TOKENS = 80
_MOST_TURNS = 20
_BEYOND = {
    "change": "data is only read here, and never changed",
    "reason": "rows tell what happened, and not why",
    "future": "rows tell what was, and not what will be",
}


class BuiltInTranslator:
    """See `contract.Translator`. Keeps what it derived from the last schema it was given."""

    name = "built-in"
    version = version("awhile")

    def __init__(self) -> None:
        self._known: tuple[Schema, Lexicon, Joins, Figures] | None = None

    async def translate(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn] = ()
    ) -> Translation:
        """See `contract.Translator.translate`."""
        return await anyio.to_thread.run_sync(
            self.translate_now, question, schema, today, conversation, abandon_on_cancel=True
        )

    def translate_now(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn] = ()
    ) -> Translation:
        """The same without an event loop: some milliseconds of this thread's time."""
        figures = self._derived(schema)[3]
        example = answered_before(question, schema.examples)
        if example and not conversation:
            return example
        marks: list[Mark] = []
        before = self._before(conversation, schema, today)
        try:
            return self._answer(question, schema, today, before, marks)
        except Undecided as doubt:
            choices = tuple(
                each
                for each in doubt.choices
                if each.question != question
                and self._is_answered(each.question, schema, today, before)
            )
            if choices:
                return QuestionBack(doubt.text, choices)
            misspelt = any(isinstance(mark.what, Unknown) for mark in marks)
            why = "" if misspelt else "it can mean more than one thing"
            return _refusal(why, doubt.words, marks, schema, figures)
        except Stuck as doubt:
            beyond = isinstance(doubt, Beyond)
            return _refusal(doubt.why, doubt.words, marks, schema, figures, beyond=beyond)

    def _answer(
        self,
        question: str,
        schema: Schema,
        today: date,
        before: Draft | None,
        linked: list[Mark] | None = None,
    ) -> Sql:
        """The whole pipeline. Raises `Doubt`; `linked` then tells what was recognised."""
        draft = self._understood(question, schema, today, before, linked)
        return self._written(draft, schema, today)

    def _understood(
        self,
        question: str,
        schema: Schema,
        today: date,
        before: Draft | None,
        linked: list[Mark] | None = None,
    ) -> Draft:
        """What was read of a question, with that before it where it goes on from there."""
        _, lexicon, joins, figures = self._derived(schema)
        tokens = tokenise(question) if len(question) <= _LONGEST_QUESTION else ()
        if not 0 < len(tokens) <= _MOST_TOKENS:
            raise Stuck("a question of a few words up to a few lines is needed")
        marks = link(question, tokens, lexicon, today, _last_period(before))
        if linked is not None:
            linked.extend(marks)
        _check_known(question, tokens, marks, lexicon)
        first, *more = sentences(settle(question, tokens, marks, joins, _tables(before)))
        refers = refers_back(tokens, first)
        draft = self._sentence(question, first, schema, today, before, refers)
        for each in more:
            draft = shown(draft, read(question, each, figures, going_on=True))
        return draft

    def _sentence(
        self,
        question: str,
        marks: Sequence[Mark],
        schema: Schema,
        today: date,
        before: Draft | None,
        refers: bool,
    ) -> Draft:
        figures = self._derived(schema)[3]
        if before is None:
            return read(question, marks, figures)
        said = read(question, marks, figures, going_on=True)
        if refers:
            return joined(before, said)
        if not goes_on(marks):
            if said.target or said.figures:
                return read(question, marks, figures)
        elif may_stand_alone(marks, said):
            # What says all that it needs is not changed by what was asked before.
            with suppress(Doubt):
                whole = read(question, marks, figures)
                self._written(whole, schema, today)
                return whole
        return joined(before, said)

    def _written(self, draft: Draft, schema: Schema, today: date) -> Sql:
        _, _, joins, figures = self._derived(schema)
        made = deepcopy(draft)
        try:
            intent = plan(made, figures, today)
            sql = compile_intent(intent, schema, joins)
        except TwoWays as doubt:
            raise Stuck(str(doubt)) from doubt
        return Sql(sql, reading_of(intent, figures), _told(made))

    def _before(self, conversation: Sequence[Turn], schema: Schema, today: date) -> Draft | None:
        """What was read of the last question, where it is what was answered."""
        draft: Draft | None = None
        for turn in conversation[-_MOST_TURNS:]:
            try:
                draft = self._understood(turn.question, schema, today, draft)
                if turn.edited or self._written(draft, schema, today).sql != turn.sql:
                    draft = None
            except Doubt:
                draft = None
        return draft

    def _is_answered(
        self, question: str, schema: Schema, today: date, before: Draft | None
    ) -> bool:
        try:
            self._answer(question, schema, today, before)
        except Doubt:
            return False
        return True

    def _derived(self, schema: Schema) -> tuple[Schema, Lexicon, Joins, Figures]:
        if self._known is None or self._known[0] is not schema:
            joins = Joins(schema)
            self._known = (schema, Lexicon(schema), joins, Figures(schema, joins))
        return self._known


def _told(draft: Draft) -> tuple[Meaning, ...]:
    """What words were taken to mean, each once, in the order of the question."""
    said: dict[str, dict[str, None]] = {}
    for each in draft.meanings:
        said.setdefault(each.words, {})[each.meaning] = None
    told = [Meaning(words, "; ".join(meanings)) for words, meanings in said.items()]
    return tuple(sorted(told, key=lambda each: draft.question.find(each.words)))


def _last_period(before: Draft | None) -> Period | None:
    """The time of the question before, which "the year before" is relative to."""
    return before.periods[-1].time.period if before and before.periods else None


def _tables(before: Draft | None) -> list[str]:
    """The tables the question before is about."""
    if before is None:
        return []
    found = [each.table for each in before.figures if each.table]
    found += [each.column.table for each in before.figures if each.column]
    return found + ([before.target.table] if before.target and before.target.table else [])


def _check_known(
    question: str, tokens: Sequence[Token], marks: Sequence[Mark], lexicon: Lexicon
) -> None:
    """A word nothing explains ends it, or is asked about when it looks misspelt."""
    unknown = [mark for mark in marks if isinstance(mark.what, Unknown)]
    if not unknown:
        return
    texts = tuple(mark.text for mark in unknown)
    _check_beyond(tokens, marks, unknown)
    _check_tables(question, tokens, unknown[0], lexicon)
    word = tokens[unknown[0].start].norm
    near = lexicon.spelled_like(word) if len(unknown) == 1 and len(word) > 4 else []
    if near:
        # Only a spelling that makes the whole question understood is worth asking about.
        raise Undecided(
            f"I do not know {texts[0]!r}. Did you mean {' or '.join(map(repr, near))}?",
            tuple(Choice(each, reworded(question, tokens, unknown[0], each)) for each in near),
            *texts,
        )
    raise Stuck(_known_values(marks, unknown[0], lexicon), *texts)


def _check_beyond(tokens: Sequence[Token], marks: Sequence[Mark], unknown: Sequence[Mark]) -> None:
    """A change, a reason or what is to come is in no row, whatever else is understood."""
    for mark in unknown:
        before = [one.what for one in marks if one.end <= mark.start and one.what != Word("silent")]
        begins = not before or before[-1] == Word("and")
        for kind, why in _BEYOND.items():
            if tokens[mark.start].norm in ENGLISH.beyond[kind] and (begins or kind != "change"):
                raise Beyond(why, mark.text)


def _check_tables(question: str, tokens: Sequence[Token], unknown: Mark, lexicon: Lexicon) -> None:
    """ "payments" where there are payments made and payments received is asked about."""
    tables = lexicon.table_parts.get((tokens[unknown.start].stem,), {})
    if not tables:
        return
    names = [name.rpartition(".")[2].replace("_", " ") for name in tables]
    raise Undecided(
        f"Which {unknown.text} do you mean: {' or '.join(names)}?",
        tuple(Choice(name, reworded(question, tokens, unknown, name)) for name in names),
        unknown.text,
    )


def _known_values(marks: Sequence[Mark], unknown: Mark, lexicon: Lexicon) -> str:
    """ "category Tyos": what the column named just before it does hold."""
    before = next((mark for mark in marks if mark.end == unknown.start), None)
    if before is None or not isinstance(before.what, ColumnNoun):
        return ""
    sense = before.what.senses[0]
    table = lexicon.schema.table(sense.table)
    column = table.column(sense.column) if table else None
    if column is None or not column.sample_values:
        return ""
    return f"{column.name} is for example {', '.join(column.sample_values[:8])}"


def _refusal(
    why: str,
    words: Sequence[str],
    marks: Sequence[Mark],
    schema: Schema,
    figures: Figures,
    *,
    beyond: bool = False,
) -> Refusal:
    understood = tuple(
        dict.fromkeys(
            mark.text
            for mark in marks
            if not isinstance(mark.what, Word | Unknown) and mark.text not in words
        )
    )
    tables = tuple(table.name for table in schema.tables)
    measures = figures.names()
    parts: list[str] = []
    if words:
        quoted = ", ".join(repr(word) for word in words)
        parts.append(f"I did not understand {quoted}" + (f": {why}." if why else "."))
    else:
        parts.append(f"I could not answer this: {why}.")
    if understood:
        parts.append(f"I did understand {', '.join(repr(word) for word in understood)}.")
    if tables:
        parts.append(f"There are the tables {', '.join(tables[:20])}.")
    if measures:
        parts.append(f"You can ask for {', '.join(measures[:8])}.")
    return Refusal(understood, tuple(words), tables, measures, " ".join(parts), beyond)
