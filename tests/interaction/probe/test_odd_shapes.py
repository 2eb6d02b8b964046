"""Answers whose fields have a shape that no client expects: judged and told, never tripped over."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import anyio
import jsonschema
import pytest
from rich.console import Console

from awhile.probe import Limits, Target, Trial
from awhile.probe.measures.plan import Gathered, gather
from awhile.probe.probing import judge
from awhile.probe.reports import as_data, as_html, as_junit, schema, show
from tests.interaction.probe.bench import Bench
from tests.interaction.probe.breaking import Json

JUNK: tuple[Any, ...] = (None, True, -1, 10**400, "\ud800\u202e\x1b[2J", [], [[1]], {}, {"a": {}})


QUICK = Limits(run_seconds=8, linger_seconds=0.2, stop_seconds=2)


def gathered(store: Path, era: str) -> Gathered:
    """All that was gathered at a sound server."""
    bench = Bench(store)

    async def run() -> Gathered:
        async with bench.serving() as url:
            found = Gathered(Target(url=url), Trial(tool="steps"), QUICK, (era,))
            await gather(found, lambda _line: None)
            return found

    return anyio.run(run)


def fields(gathered: Gathered) -> Iterator[tuple[str, list[tuple[Json, str]]]]:
    """Every member of every answer, those of the same place and method together."""
    found: dict[str, list[tuple[Json, str]]] = {}

    def walk(value: Any, place: str) -> None:
        if isinstance(value, dict):
            holder = cast("Json", value)
            for name, one in holder.items():
                found.setdefault(f"{place}.{name}", []).append((holder, name))
                walk(one, f"{place}.{name}")
        elif isinstance(value, list):
            for one in cast("list[Any]", value):
                walk(one, f"{place}[]")

    for exchange in gathered.log.exchanges:
        for frame in exchange.frames:
            if frame.message is not None and frame is exchange.answer_frame:
                walk(frame.message.get("result"), f"{exchange.era} {exchange.request['method']}")
            elif frame.message is not None:
                walk(frame.message.get("params"), f"{exchange.era} {frame.method}")
    yield from found.items()


@pytest.mark.parametrize("era", ["2026-07-28", "2025-11-25"])
def test_whatever_stands_in_a_field_every_report_can_be_written(era: str, tmp_path: Path) -> None:
    """Ours: each field of each answer in turn, filled with odd values, another each time."""
    validator: Any = jsonschema.Draft202012Validator(schema())
    found = gathered(tmp_path / "t.db", era)
    places = list(fields(found))
    assert len(places) > 50
    for at, (place, holders) in enumerate(places):
        kept = [holder[name] for holder, name in holders]
        junk = JUNK[at % len(JUNK)]
        for holder, name in holders:
            holder[name] = junk
        try:
            data = as_data(judge(found))
            if at % 8 == 0:  # what is written of it is alike
                written(data)
                validator.validate(data)
        except Exception as error:
            error.add_note(f"{place} was {junk!r}")
            raise
        for (holder, name), value in zip(holders, kept, strict=True):
            holder[name] = value


def written(data: Json) -> None:
    """Write a report in every way there is."""
    as_html(data).encode()
    as_junit(data, 1).encode()
    json.dumps(data, allow_nan=False)
    screen = io.StringIO()
    show(Console(file=screen, width=80), data)
    assert not {"\x1b", "\u202e", "\ud800"} & set(screen.getvalue())
