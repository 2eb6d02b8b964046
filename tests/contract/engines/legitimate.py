"""Statements that analysts write, and that must run (field case D15).

`legitimate.sql` has one a line, under headings that name the engines whose dialect it is in.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["statements"]

_HEADING = "-- engines: "


def statements(engine: str) -> list[str]:
    """Those in the dialect of an engine, by its name in the contract suite."""
    found: list[str] = []
    engines: list[str] = []
    for line in (Path(__file__).parent / "legitimate.sql").read_text().splitlines():
        if line.startswith(_HEADING):
            engines = line.removeprefix(_HEADING).split()
        elif line and engine in engines:
            found.append(line)
    return found
