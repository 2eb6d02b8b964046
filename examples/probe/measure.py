"""Probe a server and print what to fix: `python examples/probe/measure.py URL TOOL`.

The tool is called several times, without arguments, and cancelled: name one for which that is safe.
"""

import sys

import anyio

from awhile.probe import Limits, Target, Trial, probe


async def main(url: str, tool: str) -> None:
    limits = Limits(seconds=60, linger_seconds=1)
    report = await probe(Target(url=url), Trial(tool=tool), limits)
    for fault in report.faults:
        print(f"{fault.grade}: {fault.title} Seen: {fault.seen} {fault.advice}")
    print(f"{report.worst}: {len(report.faults)} faults in {', '.join(report.eras)}")


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
