"""The built-in translator and a model, one where the other does not answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from awhile.ask.translators.contract import Refusal, Sql

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from typing import Self

    from awhile.ask.schema import Example, Schema
    from awhile.ask.translators.builtin import BuiltInTranslator
    from awhile.ask.translators.contract import Corrects, Translation, Turn
    from awhile.ask.translators.models.translator import ModelTranslator

__all__ = ["Together", "When"]

When = Literal["abstains", "always"]
"""When the model is asked: where the built-in one refuses what rows could tell, or first, for
every question."""


class Together:
    """See `contract.Translator`, `contract.Corrects` and `contract.Learns`.

    Args:
        grounded: the built-in translator. What it grounds needs no model, what it asks back is the
            person's to decide, not a model's to guess, and what no row can tell no model knows.
        model: the model.
        when: when the model is asked.
    """

    def __init__(self, grounded: BuiltInTranslator, model: ModelTranslator, when: When) -> None:
        self._grounded = grounded
        self._model = model
        self._when: When = when

    @property
    def name(self) -> str:
        """The built-in one's; what the model wrote carries its name (`Sql.use`)."""
        return self._grounded.name

    @property
    def version(self) -> str:
        """That of both."""
        return self._model.version

    def learning(self, examples: Callable[[], Sequence[Example]]) -> Self:
        """See `contract.Learns.learning`: the model goes by them."""
        return type(self)(self._grounded, self._model.learning(examples), self._when)

    async def translate(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn] = ()
    ) -> Translation:
        """See `contract.Translator.translate`."""
        grounded = await self._grounded.translate(question, schema, today, conversation)
        open_yet = isinstance(grounded, Refusal) and not grounded.beyond
        if self._when == "abstains" and not open_yet:
            return grounded
        said = await self._model.translate(question, schema, today, conversation)
        if isinstance(said, Refusal):
            if isinstance(grounded, Refusal):
                return replace(grounded, text=f"{grounded.text} {said.text}")
            return grounded
        return said

    async def correct(
        self,
        question: str,
        schema: Schema,
        today: date,
        conversation: Sequence[Turn] = (),
        *,
        written: Sql,
        error: str,
    ) -> Translation:
        """See `contract.Corrects.correct`: by the model, which wrote what is to be corrected."""
        correcting: Corrects = self._model
        return await correcting.correct(
            question, schema, today, conversation, written=written, error=error
        )
