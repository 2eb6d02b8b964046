"""A parent to be killed: starts a child that spins in C code, prints its pid, and waits."""

from __future__ import annotations

import sys

import anyio

from awhile.processes import Child


async def main() -> None:
    child = await Child.start(sys.argv[1])
    print(await child.receive(), flush=True)  # noqa: T201
    await anyio.sleep_forever()


anyio.run(main)
