"""Models by name: `openai:gpt-5`, `anthropic:…`, `google:…`, `ollama:…`, any compatible server, or
a file (`gguf:…`).

pydantic-ai speaks with all of them; this module only finds the key, the address and the file. A
key comes from the provider's own variable in the environment or from the keyring, and is never
written anywhere.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2

from awhile.ask.translators.models.local import LocalModel, model_file
from awhile.client.http import way_to
from awhile.errors import SettingsError
from awhile.extras import KEYRING_SERVICE, command_to_add, in_keyring

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["COMPATIBLE", "GGUF", "Chosen", "chosen"]

COMPATIBLE = "compatible"
"""The provider of a server that speaks OpenAI's chat completions: llama.cpp, vLLM and others."""

GGUF = "gguf"
"""The provider of a model's file; its name is the path."""

_KEYS = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
"""The variables of the providers in the extra; of any other it is PROVIDER_API_KEY."""

_LOOK_SECONDS = 5.0
"""How long a server may take to say who it is."""

_PATIENT = httpx2.Timeout(None, connect=_LOOK_SECONDS)
"""An answer takes as long as whoever asks gives it (`ModelTranslator`)."""

_OLLAMA = "http://127.0.0.1:11434/v1"
_NO_KEY = "none"
"""What a server without keys is sent: OpenAI's client wants one."""


@dataclass(slots=True)
class Chosen:
    """A model that can be asked, and the key that nothing may show.

    `local` is what runs it, where that is this process's own; `url` is the address of a server
    that speaks OpenAI's chat completions, where one was given; `client` goes there, where it is not
    the provider's own.
    """

    name: str
    model: Model
    key: str | None
    local: LocalModel | None = None
    url: str | None = None
    client: httpx2.AsyncClient | None = None
    _takes_grammar: bool | None = field(default=None, init=False)

    async def aclose(self) -> None:
        """Let go of what was made for it here."""
        if self.local is not None:
            await self.local.aclose()
        if self.client is not None:
            await self.client.aclose()

    def without_key(self, text: str) -> str:
        """The text without the key in it, whole or as providers abridge it."""
        if self.key and len(self.key) > 8:
            text = text.replace(self.key, "…").replace(self.key[:8], "…")
        return text

    async def takes_grammar(self) -> bool:
        """Whether its server keeps an answer to a grammar: llama.cpp's does, and says who it is."""
        if self._takes_grammar is None:
            if self.local is not None or self.url is None:
                self._takes_grammar = self.local is not None
            else:
                self._takes_grammar = await _is_llama_cpp(self.url, self.key)
        return bool(self._takes_grammar)

    def refuses_grammar(self) -> None:
        """Note that it did not take one."""
        self._takes_grammar = False


async def _is_llama_cpp(url: str, key: str | None) -> bool | None:
    """Whether it is; None while it cannot be asked."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx2.AsyncClient(timeout=_LOOK_SECONDS, **way_to(url)) as client:
            reply = await client.get(f"{url.rstrip('/')}/models", headers=headers)
        if reply.is_server_error:
            return None
        models: list[dict[str, Any]] = reply.json()["data"]
        return any(one.get("owned_by") == "llamacpp" for one in models)
    except httpx2.HTTPError:
        return None
    except (ValueError, LookupError, TypeError, AttributeError):
        return False  # whatever it is, it can be asked without a grammar


def chosen(name: str, *, url: str | None = None) -> Chosen:
    """The model of a name, `provider:model`, at a server's address where one is given.

    Raises:
        SettingsError: there is no such provider, or its package, key or file is missing.
    """
    provider, colon, model_name = name.partition(":")
    if not colon or not model_name:
        raise SettingsError(
            f"{name!r} names no model. Write provider:model, as in 'anthropic:claude-sonnet-5', "
            f"'ollama:qwen3', '{GGUF}:/path/to/model.gguf', or '{COMPATIBLE}:any' with --model-url "
            "for a server of your own."
        )
    if provider == GGUF:
        return _in_file(model_name)
    if provider == COMPATIBLE and url is None:
        raise SettingsError(
            f"{name!r} is a model of a server of your own; say where it is with --model-url, as in "
            "'http://127.0.0.1:8080/v1'."
        )
    key = _key(provider)
    if key is None and provider in _KEYS and url is None:
        raise SettingsError(
            f"There is no key for {provider!r}. Put it into the variable {_KEYS[provider][0]}, or "
            f"into the keyring: keyring set {KEYRING_SERVICE} {provider}"
        )
    try:
        speaks = url if provider in (COMPATIBLE, "openai") else None
        place = url or (_ollama() if provider == "ollama" else None)
        client = httpx2.AsyncClient(timeout=_PATIENT, **way_to(place)) if place else None
        model = _model(provider, model_name, place, key, client)
        return Chosen(name, model, key, url=speaks, client=client)
    except ImportError as missing:
        raise SettingsError(
            f"Models need the extra 'models', and for {provider!r} the package {missing.name!r}: "
            f"{command_to_add('models')}"
        ) from missing


def _in_file(name: str) -> Chosen:
    path = model_file(name)
    try:
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
    except ImportError as missing:
        raise SettingsError(
            f"A model in a file needs the package {missing.name!r}: {command_to_add('gguf')}"
        ) from missing
    local = LocalModel(path)
    client = AsyncOpenAI(
        base_url="http://model.invalid/v1",  # never looked up: `local` takes every request
        api_key=_NO_KEY,
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=local),
    )
    model = OpenAIChatModel(path.name, provider=OpenAIProvider(openai_client=client))
    return Chosen(f"{GGUF}:{path.name}", model, None, local)


def _ollama() -> str:
    return os.environ.get("OLLAMA_BASE_URL") or _OLLAMA


def _model(
    provider: str,
    model_name: str,
    url: str | None,
    key: str | None,
    client: httpx2.AsyncClient | None,
) -> Model:
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers import infer_provider, infer_provider_class
    from pydantic_ai.providers.openai import OpenAIProvider

    if provider == COMPATIBLE or (provider == "openai" and url is not None):
        compatible = OpenAIProvider(base_url=url, api_key=key or _NO_KEY, http_client=client)
        return OpenAIChatModel(model_name, provider=compatible)

    def make(called: str) -> Any:
        given: dict[str, Any] = {"api_key": key} if key else {}
        if url:
            given |= {"base_url": url, "http_client": client}
        return infer_provider_class(called)(**given) if given else infer_provider(called)

    try:
        return infer_model(f"{provider}:{model_name}", make)
    except UserError as wrong:
        said = str(wrong).splitlines()[0]
        raise SettingsError(
            f"The model {provider}:{model_name} cannot be used. {said} (A key may also be in the "
            f"keyring: keyring set {KEYRING_SERVICE} {provider})"
        ) from wrong
    except (TypeError, ValueError) as wrong:
        raise SettingsError(
            f"There is no provider {provider!r} of models that can be used so ({wrong}). Write "
            f"'openai', 'anthropic', 'google', 'ollama', '{GGUF}', or '{COMPATIBLE}' with "
            "--model-url."
        ) from wrong


def _key(provider: str) -> str | None:
    """The key from the environment, or else from the keyring where there is one."""
    usual = (f"{provider.upper().replace('-', '_')}_API_KEY",)
    for variable in _KEYS.get(provider, usual):
        if key := os.environ.get(variable):
            return key
    return in_keyring(provider)
