"""Which translator a server gets: the built-in one, alone or with a model."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.models.providers import chosen
from awhile.ask.translators.models.together import Together, When
from awhile.ask.translators.models.translator import ModelTranslator

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from awhile.ask.translators.contract import Translator
    from awhile.cli.settings import Settings


@asynccontextmanager
async def translator_of(settings: Settings) -> AsyncGenerator[Translator]:
    """The translator that the settings name.

    Raises:
        SettingsError: the model cannot be used; it says what to do.
    """
    if settings.model is None:
        yield BuiltInTranslator()
        return
    async with ModelTranslator(
        chosen(settings.model, url=settings.model_url),
        may_show=settings.model_sees,
        seconds=settings.model_seconds,
    ) as model:
        yield Together(BuiltInTranslator(), model, cast("When", settings.model_when))


__all__ = ["translator_of"]
