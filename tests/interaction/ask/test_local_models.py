"""A model in a file of this machine, run by llama.cpp in a child process.

The one made here has learnt nothing and writes noise, which is what an honest refusal is for. With
a file named in AWHILE_TEST_GGUF, `long` tests ask a model that has learnt something.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from awhile.ask.schema import Schema, Table, TableColumn
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Refusal
from awhile.ask.translators.models.grammar import FUNCTIONS, answer_grammar
from awhile.ask.translators.models.local import LocalModel
from awhile.ask.translators.models.providers import chosen
from awhile.ask.translators.models.together import Together
from awhile.ask.translators.models.translator import ModelTranslator
from awhile.errors import Cancelled, SettingsError
from tests.conftest import GGUF
from tests.contract.translators.tiny_model import tiny_model
from tests.interaction.ask.conftest import PATIENCE_SECONDS, App, serving
from tests.interaction.ask.instant import Instant
from tests.interaction.client.running import wait_until
from tests.machine.translators.grammars import Grammar

pytestmark = pytest.mark.anyio

FREE = "is there any pattern in what people buy?"
TABLES = (Table("orders", (TableColumn("id", "INTEGER"), TableColumn("day", "DATE"))),)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that writes noise."""
    return tiny_model(tmp_path_factory.mktemp("model") / "noise.gguf")


@asynccontextmanager
async def with_local(
    folder: Path, database: Path, file: Path, seconds: float = PATIENCE_SECONDS
) -> AsyncGenerator[tuple[App, LocalModel]]:
    """The app with a model in a file, and what runs it."""
    named = chosen(f"gguf:{file}")
    assert named.local is not None
    async with ModelTranslator(named, seconds=seconds, settings={"max_tokens": 10}) as translator:
        together = Together(BuiltInTranslator(), translator, "abstains")
        async with serving(folder, Instant(database), translator=together) as app:
            yield app, named.local


@asynccontextmanager
async def asked_directly(
    file: Path, seconds: float = PATIENCE_SECONDS
) -> AsyncGenerator[tuple[Callable[[], Awaitable[str]], LocalModel]]:
    """What has a model in a file refuse and gives its words, and what runs the model."""
    named = chosen(f"gguf:{file}")
    assert named.local is not None
    async with ModelTranslator(named, seconds=seconds, settings={"max_tokens": 3}) as translator:

        async def ask() -> str:
            refused = await translator.translate(FREE, Schema(TABLES), date(2026, 11, 28))
            assert isinstance(refused, Refusal)
            return refused.text

        yield ask, named.local


async def said(local: LocalModel, body: dict[str, Any]) -> str:
    """What the model says to a request, without any deadline of its own."""
    request = httpx2.Request("POST", "http://model.invalid/v1/chat/completions", json=body)
    reply = await local.handle_async_request(request)
    return json.loads(await reply.aread())["choices"][0]["message"]["content"]


def hung(local: LocalModel) -> int:
    """The id of the model's process, which does nothing from here on."""
    assert local.pid is not None
    os.kill(local.pid, signal.SIGSTOP)
    return local.pid


async def test_the_child_starts_with_the_first_question_is_kept_and_ends_with_the_server(
    tmp_path: Path, warehouse: Path, file: Path
) -> None:
    async with with_local(tmp_path, warehouse, file) as (app, local):
        assert local.pid is None
        answer = await app.call("ask", question=FREE)
        first = local.pid
        assert first is not None
        assert "The model gguf:noise.gguf" in answer["refusal"]["text"]
        await app.call("ask", question=FREE)
        assert local.pid == first
        assert _ports(first) == []
    assert not psutil.pid_exists(first)


@pytest.mark.parametrize("dialect", FUNCTIONS)
async def test_llama_cpp_keeps_noise_to_the_grammar(dialect: str, file: Path) -> None:
    """Ours: as another parser reads the grammar, too."""
    grammar = answer_grammar(TABLES, dialect)
    assert grammar is not None
    body: dict[str, Any] = {
        "messages": [{"role": "user", "content": "?"}],
        "max_tokens": 12,
        "temperature": 1.0,
        "seed": 1,
        "grammar": grammar,
    }
    local = LocalModel(file)
    text = await said(local, body)
    await local.aclose()
    assert len(text) > 6
    assert Grammar(grammar).stops_at(text) in (None, len(text.encode()))


async def test_D7_a_stop_ends_the_process_of_a_model_that_hangs(
    tmp_path: Path, warehouse: Path, file: Path
) -> None:
    async with with_local(tmp_path, warehouse, file) as (app, local):
        await app.call("ask", question=FREE)
        process = hung(local)
        handle = await app.start("ask", question=FREE)
        await wait_until(lambda: local.busy)
        await handle.cancel()
        await wait_until(lambda: not psutil.pid_exists(process))
        assert (await app.call("ask", question=FREE))["refusal"]
        assert local.pid not in (None, process)


async def test_a_stop_of_who_waits_leaves_the_one_being_answered_alone(
    tmp_path: Path, warehouse: Path, file: Path
) -> None:
    async with with_local(tmp_path, warehouse, file) as (app, local):
        await app.call("ask", question=FREE)
        process = hung(local)
        first = await app.start("ask", question=FREE)
        await wait_until(lambda: local.busy)
        second = await app.start("ask", question=f"{FREE} really?")
        await second.cancel()
        with pytest.raises(Cancelled):
            await second.result()
        assert local.pid == process
        os.kill(process, signal.SIGCONT)
        answer = await first.result()
    assert "refusal" in (answer.structured_content or {})


async def test_D7_a_deadline_ends_the_process_of_a_model_that_hangs(file: Path) -> None:
    async with asked_directly(file, seconds=1.0) as (ask, local):
        await said(local, {"messages": [{"role": "user", "content": "?"}], "max_tokens": 1})
        process = hung(local)
        assert "did not answer within 1 s" in await ask()
        assert not psutil.pid_exists(process)


async def test_D7_a_model_whose_process_dies_says_so_and_is_started_again(file: Path) -> None:
    async with asked_directly(file) as (ask, local):
        await ask()
        assert local.pid is not None
        os.kill(local.pid, signal.SIGKILL)
        dead = await ask()
        assert "ended by signal 9" in dead
        assert "memory enough for noise.gguf" in dead
        assert "ended" not in await ask()


async def test_a_file_that_llama_cpp_does_not_take_is_refused_with_its_words(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(200))
    async with asked_directly(broken) as (ask, local):
        assert "broken.gguf cannot be loaded: " in await ask()
        assert local.pid is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"PK\x03\x04", "is no GGUF file: it begins with"),
        (b"", "begins with b''"),
    ],
)
def test_what_is_no_model_file_is_refused_at_the_start_with_what_to_do(
    content: bytes | None, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=says):
        chosen(f"gguf:{path}")


def test_without_the_package_the_extra_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awhile.ask.translators.models.local.find_spec", lambda _name: None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    with pytest.raises(SettingsError, match=r"needs the package 'xllamacpp'.*\[gguf\]"):
        chosen(f"gguf:{file}")


@pytest.mark.long
@pytest.mark.gguf
async def test_a_model_that_has_learnt_something_is_asked_and_marked_or_refuses(
    tmp_path: Path, warehouse: Path
) -> None:
    file = Path(os.environ[GGUF])
    async with with_local(tmp_path, warehouse, file, seconds=300) as (app, local):
        answer = await app.call("ask", question=FREE)
        assert local.pid is not None
    if answer["refusal"] is None:
        assert answer["confidence"] == "unverified"
        assert answer["model_use"]["output_tokens"] > 0


def _ports(process: int) -> Sequence[object]:
    return psutil.Process(process).net_connections("inet")
