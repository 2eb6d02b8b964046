"""The translator that asks a language model."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from awhile.ask.translators.contract import Choice, ModelUse, QuestionBack, Refusal, Sql
from awhile.ask.translators.models.asking import (
    AskedBack,
    Cannot,
    Wrote,
    correction_of,
    nearest,
    new_mark,
    pressed,
    reply_of,
    request_of,
)
from awhile.ask.translators.models.cards import LONGEST_CARD, card_of
from awhile.ask.translators.models.grammar import answer_grammar, only_sql
from awhile.ask.translators.models.local import LocalModelFailed
from awhile.ask.translators.models.mending import TOO_DEEP, Unreadable, mended
from awhile.ask.translators.models.saying import said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import date
    from typing import Any, Self

    from pydantic_ai.messages import ModelMessage, ModelResponse

    from awhile.ask.schema import Example, Schema
    from awhile.ask.translators.contract import Translation, Turn
    from awhile.ask.translators.models.asking import Said
    from awhile.ask.translators.models.mending import Mended
    from awhile.ask.translators.models.providers import Chosen

__all__ = ["ModelTranslator"]

SECONDS = 120.0
"""How long one answer may take. A small model on a busy machine needs half a minute."""

MOST_TOKENS = 2000
"""Of an answer; models that think aloud before it need most of them."""

LONGEST_LOCAL_CARD = 6000
"""Characters of a card for a model on this machine: half as many to read before it answers."""

MOST_TOKENS_OF_SQL = 600
"""Of an answer that a grammar keeps to SQL: small models can say one thing again and again."""

_NOT_TAKEN = 400
_CUT_OFF = ("length", "content_filter")
_NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}
"""Beside a grammar: an answer that may only be SQL leaves no room to think aloud."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a model is sent; `grammar` holds its answer, where the server can."""

    system: str
    messages: Sequence[Said]
    grammar: str | None
    today: date

    def and_then(self, said: Sequence[Said]) -> _Asked:
        """The same with what is said after its first answer; that is not asked back again."""
        grammar = self.grammar and only_sql(self.grammar)
        return replace(self, messages=[*self.messages, *said], grammar=grammar)


class ModelTranslator:
    """See `contract.Translator`, `contract.Corrects` and `contract.Learns`. All it writes is
    `unverified`.

    Used inside ``async with``, which closes its connections at the end.

    Args:
        chosen: the model.
        may_show: patterns of columns whose values the model may be told (`customers.country`);
            of others it learns names, types and comments only.
        seconds: how long one answer may take.
        settings: further settings of every request, by pydantic-ai's names.
    """

    def __init__(
        self,
        chosen: Chosen,
        *,
        may_show: Collection[str] = (),
        seconds: float = SECONDS,
        settings: Mapping[str, object] | None = None,
    ) -> None:
        self._chosen = chosen
        self._examples: Callable[[], Sequence[Example]] | None = None
        self._may_show = may_show
        self._seconds = seconds
        self._mark = new_mark()
        self._settings = {"temperature": 0.0, "max_tokens": MOST_TOKENS, **(settings or {})}

    def learning(self, examples: Callable[[], Sequence[Example]]) -> Self:
        """See `contract.Learns.learning`."""
        one = copy.copy(self)
        one._examples = examples
        return one

    async def __aenter__(self) -> Self:
        await self._chosen.model.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._chosen.model.__aexit__(*raised)
        with anyio.CancelScope(shield=True):
            await self._chosen.aclose()

    @property
    def name(self) -> str:
        """The provider and the model."""
        return self._chosen.name

    @property
    def version(self) -> str:
        """Ours: a provider's model may change behind its name."""
        return version("awhile")

    async def translate(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn] = ()
    ) -> Translation:
        """See `contract.Translator.translate`. Cancelling it ends the request to the model."""
        asked = await self._request(question, schema, today, conversation)
        return await self._answered(question, schema, asked)

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
        """See `contract.Corrects.correct`."""
        asked = await self._request(question, schema, today, conversation)
        asked = asked.and_then(correction_of(written.sql, error))
        came_to = await self._answered(question, schema, asked, before=written.use)
        if not isinstance(came_to, Sql):
            return came_to
        return replace(
            came_to,
            reading=f"{came_to.reading} It was written again after the database did not take the "
            "first text.",
        )

    async def _request(
        self, question: str, schema: Schema, today: date, conversation: Sequence[Turn]
    ) -> _Asked:
        about = " ".join([*(turn.question for turn in conversation), question])

        def request() -> _Asked:
            known = [*(self._examples() if self._examples else ()), *schema.examples]
            longest = LONGEST_CARD if self._chosen.local is None else LONGEST_LOCAL_CARD
            card = card_of(schema, about, may_show=self._may_show, longest=longest)
            # A model may have said it, and somebody written that into the catalogue.
            mark = new_mark() if self._mark in card.text else self._mark
            system, messages = request_of(
                question,
                card.text,
                mark=mark,
                dialect=schema.dialect,
                today=today,
                conversation=conversation,
                examples=nearest(question, known),
            )
            return _Asked(system, messages, answer_grammar(card.tables, schema.dialect), today)

        return await anyio.to_thread.run_sync(request)

    async def _answered(
        self,
        question: str,
        schema: Schema,
        asked: _Asked,
        before: ModelUse | None = None,
    ) -> Translation:
        began = time.monotonic()
        try:
            with anyio.fail_after(self._seconds):
                response = await self._response(asked)
        except TimeoutError:
            return self._failed(schema, question, f"did not answer within {self._seconds:g} s")
        except Exception as error:  # noqa: BLE001 - each provider's client raises its own kinds
            said = self._chosen.without_key(_said_of(error)).splitlines()[0]
            return self._failed(schema, question, f"could not be asked. {said}")
        use = _use_of(self._chosen.name, response, time.monotonic() - began, before)
        reply = reply_of(response.text or "", cut=response.finish_reason in _CUT_OFF)
        if isinstance(reply, AskedBack) and not reply.helps(question):
            if before is not None:
                return self._failed(schema, question, f"found no answer: {reply.text}")
            again = asked.and_then(pressed(response.text or ""))
            return await self._answered(question, schema, again, use)
        match reply:
            case Cannot(why):
                return self._failed(schema, question, f"found no answer: {why}")
            case AskedBack(text, choices):
                return QuestionBack(text, tuple(Choice(one, one) for one in choices))
            case Wrote(text):
                try:
                    found, said = await anyio.to_thread.run_sync(_read, text, schema, asked.today)
                except Unreadable as unreadable:
                    why = f"wrote something that is not run: {unreadable}"
                    return self._failed(schema, question, why)
        return Sql(
            sql=found.sql,
            reading=_marked(said, self.name, found.repairs),
            meanings=(),
            confidence="unverified",
            repairs=found.repairs,
            use=use,
        )

    async def _response(self, asked: _Asked) -> ModelResponse:
        from pydantic_ai.exceptions import ModelHTTPError

        if asked.grammar is None or not await self._chosen.takes_grammar():
            return await self._sent(asked)
        try:
            return await self._sent(asked, {"grammar": asked.grammar, **_NO_THINKING})
        except ModelHTTPError as error:
            if error.status_code != _NOT_TAKEN:
                raise
        response = await self._sent(asked)
        self._chosen.refuses_grammar()
        return response

    async def _sent(
        self, asked: _Asked, further: Mapping[str, object] | None = None
    ) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import (
            ModelRequest,
            ModelResponse,
            SystemPromptPart,
            TextPart,
            UserPromptPart,
        )
        from pydantic_ai.settings import ModelSettings

        sent: list[ModelMessage] = [ModelRequest(parts=[SystemPromptPart(content=asked.system)])]
        for who, text in asked.messages:
            if who == "user":
                sent.append(ModelRequest(parts=[UserPromptPart(content=text)]))
            else:
                sent.append(ModelResponse(parts=[TextPart(content=text)]))
        settings = ModelSettings(timeout=self._seconds, **self._settings)  # type: ignore[typeddict-item]
        if further:
            settings["extra_body"] = dict(further)
            settings["max_tokens"] = min(
                settings.get("max_tokens", MOST_TOKENS), MOST_TOKENS_OF_SQL
            )
        return await model_request(self._chosen.model, sent, model_settings=settings)

    def _failed(self, schema: Schema, question: str, why: str) -> Refusal:
        return Refusal(
            understood=(),
            not_understood=(question,),
            tables=tuple(table.name for table in schema.tables),
            measures=(),
            text=f"The model {self._chosen.name} {why}.".replace("..", "."),
        )


def _said_of(error: BaseException) -> str:
    """An error's words; our own stand for themselves, however deep a client has wrapped them."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LocalModelFailed):
            return str(cause)
        cause = cause.__cause__
    return f"{type(error).__name__}: {error}"


def _read(text: str, schema: Schema, today: date) -> tuple[Mended, str]:
    """A text, mended, and what it computes. Raises `Unreadable`."""
    try:
        found = mended(text, schema, today)
        return found, said_of(found.tree, schema.dialect)
    except RecursionError as deep:
        raise Unreadable(TOO_DEEP) from deep


def _marked(said: str, name: str, repairs: Sequence[str]) -> str:
    mended = f" Mended in it: {'; '.join(repairs)}." if repairs else ""
    told = f"Unverified: the model {name} wrote this, so compare it with what you asked."
    return f"{told} {said}{mended}"


def _use_of(
    name: str, response: ModelResponse, seconds: float, before: ModelUse | None
) -> ModelUse:
    price: float | None
    try:
        price = float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):  # a model without a price list: a local one
        price = None
    use = ModelUse(
        model=name,
        requests=1,
        input_tokens=response.usage.input_tokens,
        output_tokens=response.usage.output_tokens,
        seconds=seconds,
        price_usd=price,
    )
    return use if before is None else before.and_then(use)
