"""The built-in translator: no model, no network, a few milliseconds a question.

Source: ours. It answers only what it can ground: every word of the question is a grammar word, a
name of the schema, a value of the data or a time, and each has found its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.ask.translators.compile import compile_intent
from awhile.ask.translators.contract import Choice, QuestionBack, Refusal, Sql
from awhile.ask.translators.doubts import Stuck, Undecided
from awhile.ask.translators.figures import Figures
from awhile.ask.translators.joins import Joins, TwoWays
from awhile.ask.translators.link import Lexicon, link
from awhile.ask.translators.marks import Unknown, Word
from awhile.ask.translators.plan import plan
from awhile.ask.translators.reader import read
from awhile.ask.translators.reading import reading_of
from awhile.ask.translators.settle import reworded, settle
from awhile.ask.translators.words import tokenise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from awhile.ask.schema import Schema
    from awhile.ask.translators.contract import Translation
    from awhile.ask.translators.marks import Mark
    from awhile.ask.translators.words import Token

__all__ = ["BuiltInTranslator"]

_LONGEST_QUESTION = 1000
_MOST_TOKENS = 80


class BuiltInTranslator:
    """See `contract.Translator`. Keeps what it derived from the last schema it was given."""

    def __init__(self) -> None:
        self._known: tuple[Schema, Lexicon, Joins, Figures] | None = None

    def translate(self, question: str, schema: Schema, today: date) -> Translation:
        """See `contract.Translator.translate`."""
        _, lexicon, joins, figures = self._derived(schema)
        tokens = tokenise(question) if len(question) <= _LONGEST_QUESTION else ()
        marks: Sequence[Mark] = ()
        try:
            if not 0 < len(tokens) <= _MOST_TOKENS:
                raise Stuck("a question of a few words up to a few lines is needed")
            marks = link(tokens, lexicon, today)
            self._unknown(question, tokens, marks, lexicon)
            settled = settle(question, tokens, marks, joins)
            draft = read(question, settled, figures)
            intent = plan(draft, figures)
            sql = compile_intent(intent, schema, joins)
            return Sql(sql, reading_of(intent, figures), tuple(draft.meanings))
        except Undecided as doubt:
            choices = tuple(
                choice
                for choice in doubt.choices
                if choice.question != question
                and isinstance(self.translate(choice.question, schema, today), Sql)
            )
            if choices:
                return QuestionBack(doubt.text, choices)
            return _refusal("", doubt.words, marks, schema, figures)
        except Stuck as doubt:
            return _refusal(doubt.why, doubt.words, marks, schema, figures)
        except TwoWays as doubt:
            return _refusal(str(doubt), (), marks, schema, figures)

    def _derived(self, schema: Schema) -> tuple[Schema, Lexicon, Joins, Figures]:
        if self._known is None or self._known[0] is not schema:
            joins = Joins(schema)
            self._known = (schema, Lexicon(schema), joins, Figures(schema, joins))
        return self._known

    def _unknown(
        self, question: str, tokens: Sequence[Token], marks: Sequence[Mark], lexicon: Lexicon
    ) -> None:
        """The first half of the guard: a word nothing explains ends it, or is asked about."""
        unknown = [mark for mark in marks if isinstance(mark.what, Unknown)]
        if not unknown:
            return
        choices: list[Choice] = []
        if len(unknown) == 1:
            token = tokens[unknown[0].start]
            if len(token.norm) > 4:
                choices = [
                    Choice(word, reworded(question, tokens, unknown[0], word))
                    for word in lexicon.spelled_like(token.norm)
                ]
        texts = tuple(mark.text for mark in unknown)
        if choices:
            raise Undecided(
                f"I do not know {texts[0]!r}. Did you mean {choices[0].label!r}?",
                tuple(choices),
                *texts,
            )
        raise Stuck("", *texts)


def _refusal(
    why: str, words: Sequence[str], marks: Sequence[Mark], schema: Schema, figures: Figures
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
    return Refusal(understood, tuple(words), tables, measures, " ".join(parts))
