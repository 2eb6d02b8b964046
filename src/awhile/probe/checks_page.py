"""The list of checks in ``docs/probe.md``, drawn from their declarations; a test compares.

``python -m awhile.probe.checks_page docs/probe.md`` draws it anew, in place.
"""

from __future__ import annotations

import sys
from pathlib import Path

from awhile.probe.checks import CHECKS, ROOMS
from awhile.probe.checks.registry import Check
from awhile.probe.grades import Source

BEGIN, END = "<!-- checks: begin -->", "<!-- checks: end -->"
"""The list stands between them."""


def checks_section() -> str:
    """Every check, by what it is about, as Markdown."""
    parts: list[str] = []
    for room in ROOMS:
        mine = [one for one in CHECKS.values() if one.judge.__module__ == room.__name__]
        parts.append(f"### {(room.__doc__ or '').strip()}\n")
        parts.append("| Check | Should be so | If not | Needs | Source |")
        parts.append("|---|---|---|---|---|")
        parts += [_row(one) for one in mine]
        parts.append("")
    return "\n".join(parts)


def _row(check: Check) -> str:
    sources = "; ".join(_link(source) for source in check.sources.values())
    cells = (f"`{check.id}`", check.title, check.fault.value, check.needs, sources)
    return f"| {' | '.join(one.replace('|', chr(92) + '|') for one in cells)} |"


def _link(source: Source) -> str:
    return source.words if source.url is None else f"[{source.words}]({source.url})"


def with_checks(page: str) -> str:
    """The page with the list as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{checks_section()}\n{END}{after}"


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_checks(path.read_text("utf-8")), "utf-8")
