"""``awhile config``: what holds, and where each value came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.text import Text

from awhile.cli.entries import as_text
from awhile.cli.overseen import shown_url
from awhile.cli.screen import out
from awhile.cli.settings import ENTRIES, Effective, read_settings

ALIGNED_LETTERS = 32
"""A longer value pushes what stands after it to the right."""


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as one JSON object.")] = False,
) -> None:
    """Show every setting: its value, and where that came from."""
    effective = read_settings()
    if as_json:
        out().print(json.dumps(_as_json(effective), indent=2), soft_wrap=True, highlight=False)
        return
    screen = out()
    rows = [("Setting", "Value", "From", False)]
    for name in ENTRIES:
        value = getattr(effective.settings, name)
        shown = ENTRIES[name].default_words if value is None else as_text(_shown(name, value))
        rows.append((name, shown, effective.origins[name], effective.given(name)))
    # Not a table of rich: it folds what is wider than the terminal, and a folded path is no path.
    first = max(len(name) for name, *_ in rows)
    second = max(len(value) for _, value, *_ in rows if len(value) <= ALIGNED_LETTERS)
    for name, value, origin, set_by_hand in rows:
        line = Text(f"{name:<{first}}  ")
        line.append(f"{value:<{second}}", style="bold" if set_by_hand else "")
        line.append(f"  {origin}", style="" if set_by_hand else "dim")
        screen.print(line, soft_wrap=True)
    there = "" if effective.config_file.exists() else " (not there)"
    where = Text(f"\nSettings file: {effective.config_file}{there}", style="dim")
    screen.print(where, soft_wrap=True)
    for variable, near in effective.unused_variables.items():
        meant = f"; did you mean {near}?" if near else "."
        screen.print(Text(f"{variable} is set but is no setting{meant}", style="yellow"))


def _shown(name: str, value: object) -> object:
    if ENTRIES[name].kind.secret and value is not None:
        return "(set, not shown)"
    if isinstance(value, tuple):
        return ", ".join(str(_shown(name, each)) for each in cast("tuple[object, ...]", value))
    return shown_url(value) if isinstance(value, str) and "://" in value else value


def _as_json(effective: Effective) -> dict[str, object]:
    def plain(name: str) -> object:
        value = _shown(name, getattr(effective.settings, name))
        return str(value) if isinstance(value, Path) else value

    return {
        "settings": {
            name: {
                "value": plain(name),
                "from": effective.origins[name],
            }
            for name in ENTRIES
        },
        "config_file": str(effective.config_file),
        "config_file_exists": effective.config_file.exists(),
        "unused_variables": effective.unused_variables,
    }


__all__ = ["config"]
