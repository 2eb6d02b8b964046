"""A second process on the same store, for the suite: told what to do line by line.

``python -m awhile.testing.other_process URL`` reads commands from its standard input and answers
each with lines on its standard output:

- ``create``: creates a task, prints its id;
- ``cancel ID``: asks for that task to be stopped, prints its status;
- ``cancel_each ID …``: the same for each of them at once, printing ``done`` when all are asked;
- ``claim TOOL LIMIT UNTIL_MS``: claims tasks, prints their ids;
- ``watch``: prints ``watching``, then each changed id as it is told;
- ``flood``: 32 callers create tasks without end, printing each id once it was confirmed.
"""

from __future__ import annotations

import contextlib
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import anyio
import anyio.to_thread
from anyio.streams.text import TextReceiveStream

from awhile.errors import IllegalEvent
from awhile.stores.open import open_store
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task

if TYPE_CHECKING:
    from anyio.abc import Process

    from awhile.stores.contract import Store


class OtherProcess:
    """The parent's end: a context manager around a running second process, killed on exit."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stack = AsyncExitStack()
        self._rest = ""

    async def __aenter__(self) -> Self:
        """Start it."""
        command = [sys.executable, "-m", "awhile.testing.other_process", self._url]
        process = await anyio.open_process(command, stderr=None)
        self.process: Process = await self._stack.enter_async_context(process)
        self._stack.push_async_callback(self.kill)
        assert process.stdout is not None
        self._lines = TextReceiveStream(process.stdout)
        return self

    async def __aexit__(self, *_: object) -> None:
        """Kill it."""
        await self._stack.aclose()

    async def tell(self, command: str) -> None:
        """Give it a command."""
        assert self.process.stdin is not None
        await self.process.stdin.send(f"{command}\n".encode())

    async def line(self) -> str:
        """Its next line; an empty one if it has ended."""
        while "\n" not in self._rest:
            try:
                self._rest += await self._lines.receive()
            except anyio.EndOfStream:
                return ""
        line, _, self._rest = self._rest.partition("\n")
        return line

    async def kill(self) -> None:
        """End it as a crash would (SIGKILL)."""
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()


def _say(*words: str) -> None:
    sys.stdout.write("".join(f"{word}\n" for word in words))
    sys.stdout.flush()


async def _cancel(store: Store, task_id: str) -> None:
    with contextlib.suppress(IllegalEvent):  # it has ended already
        await store.append(task_id, ev.CancelAsked(), AT)


async def _flood(store: Store) -> None:
    async def create() -> None:
        while True:
            _say((await store.create(task())).task_id)

    async with anyio.create_task_group() as callers:
        for _ in range(32):
            callers.start_soon(create)


async def _watch(store: Store) -> None:
    async with store.watch() as watch:
        _say("watching")
        while True:
            _say(*await watch.wait())


async def main(url: str) -> None:
    """Obey until the standard input ends."""
    async with open_store(url) as store:
        while command := (await anyio.to_thread.run_sync(sys.stdin.readline)).split():
            match command:
                case ["create"]:
                    _say((await store.create(task())).task_id)
                case ["cancel", task_id]:
                    _say((await store.append(task_id, ev.CancelAsked(), AT)).status)
                case ["cancel_each", *task_ids]:
                    async with anyio.create_task_group() as callers:
                        for task_id in task_ids:
                            callers.start_soon(_cancel, store, task_id)
                    _say("done")
                case ["claim", tool, limit, until_ms]:
                    claimed = await store.claim(
                        worker="other",
                        tools=[tool],
                        at_ms=AT,
                        until_ms=int(until_ms),
                        limit=int(limit),
                    )
                    _say(*(one.task_id for one in claimed))
                case ["watch"]:
                    await _watch(store)
                case ["flood"]:
                    await _flood(store)
                case _:
                    raise ValueError(f"Unknown command {command!r}; the module says which exist.")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
