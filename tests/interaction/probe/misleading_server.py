"""The bench with stale messages: ``python -m tests.interaction.probe.misleading_server``.

It prints its URL, keeps its store in ``$BENCH_FOLDER``, and ends when its stdin closes.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import anyio

from tests.interaction.probe.bench import Bench
from tests.interaction.probe.defects import StaleMessage


def _end_with_stdin() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


async def main() -> None:
    """Serve until stdin closes."""
    bench = Bench(Path(os.environ["BENCH_FOLDER"]) / "tasks.db")
    async with bench.serving(StaleMessage()) as url:
        print(url, flush=True)  # noqa: T201
        await anyio.sleep_forever()


if __name__ == "__main__":
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    anyio.run(main)
