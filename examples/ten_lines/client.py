import sys

import anyio

from awhile import connect


async def main(url: str) -> None:
    async with connect(url) as server:
        handle = await server.start("yearly", {"year": 2026})
        print(handle.id)  # later, from anywhere: await server.resume(id)
        async for now in handle.watch():
            print(now.words, "" if now.percent is None else f"{now.percent:.0f} %")
        result = await handle.result()  # raises ToolFailed, WorkerLost, Cancelled, Expired, …
        print(result.content)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000/mcp")
