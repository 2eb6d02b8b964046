"""What a call was is gone with its answer: nothing of ours waits for the garbage collector."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

import pytest

from tests.interaction.server.conftest import App
from tests.interaction.server.peer import Peer

pytestmark = pytest.mark.anyio

CALLS = 5


@contextmanager
def only_by_the_collector() -> Generator[Counter[str]]:
    """Count, by their type, the things of ours that the block leaves to the collector alone."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        kinds = [type(each) for each in cast("list[object]", gc.garbage)]
        found.update(each.__qualname__ for each in kinds if each.__module__.startswith("awhile."))
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


@pytest.mark.parametrize("kept", ["always", "when_slow"])
async def test_a_call_and_its_task_leave_nothing_for_the_garbage_collector(
    app: App, kept: str
) -> None:
    """Ours. The SDK's own circle holds its context, and so what answered a call at once."""

    @app.tool(kept=kept, inline_seconds=0 if kept == "always" else 10)
    async def double(n: int) -> int:
        return 2 * n

    async with app.serving() as peer:
        await once(peer, kept)
        with only_by_the_collector() as found:
            for _ in range(CALLS):
                await once(peer, kept)
        assert set(found) <= {"_Answering", "RunOutbound"}


async def once(peer: Peer, kept: str) -> None:
    """One call to its end."""
    answer = await peer.call("double", n=2)
    if kept == "always":
        await peer.ended(answer.result["taskId"])
    else:
        assert answer.text == "4"
