"""``awhile config``: what holds, and where each value came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from awhile.cli.screen import out
from awhile.cli.settings import ENTRIES, Effective, as_text, read_settings


def config(
    as_json: Annotated[bool, typer.Option("--json", help="Print them as one JSON object.")] = False,
) -> None:
    """Show every setting: its value, and where that came from."""
    effective = read_settings()
    if as_json:
        out().print(json.dumps(_as_json(effective), indent=2), soft_wrap=True, highlight=False)
        return
    screen = out()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("Setting", no_wrap=True)
    table.add_column("Value", overflow="fold")
    table.add_column("From", overflow="fold")
    for name in ENTRIES:
        set_by_hand = effective.given(name)
        value = getattr(effective.settings, name)
        shown = ENTRIES[name].default_words if value is None else as_text(value)
        table.add_row(
            Text(name),
            Text(shown, style="bold" if set_by_hand else ""),
            Text(effective.origins[name], style="" if set_by_hand else "dim"),
        )
    screen.print(table)
    there = "" if effective.config_file.exists() else " (not there)"
    screen.print(Text(f"\nSettings file: {effective.config_file}{there}", style="dim"))
    for variable, near in effective.unused_variables.items():
        meant = f"; did you mean {near}?" if near else "."
        screen.print(Text(f"{variable} is set but is no setting{meant}", style="yellow"))


def _as_json(effective: Effective) -> dict[str, object]:
    def plain(value: object) -> object:
        return str(value) if isinstance(value, Path) else value

    return {
        "settings": {
            name: {
                "value": plain(getattr(effective.settings, name)),
                "from": effective.origins[name],
            }
            for name in ENTRIES
        },
        "config_file": str(effective.config_file),
        "config_file_exists": effective.config_file.exists(),
        "unused_variables": effective.unused_variables,
    }


__all__ = ["config"]
