"""Data files named after a command: the short form of ``--database``, given once for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

FILES = typer.Argument(
    metavar="[FILE]...",
    help="Data files and folders to ask: Parquet, CSV, JSON, Excel; or one database. The same as "
    "--database.",
    show_default=False,
)


def with_files(flags: Mapping[str, Any], name: str = "files") -> dict[str, Any]:
    """The flags of a command, with the files that were named as further databases."""
    files: list[str] = flags.get(name) or []
    return {**flags, "database": [*(flags.get("database") or []), *files]}


def names_server(word: str) -> bool:
    """Whether a word is the name of a server in a module, and not of a file."""
    return "://" not in word and "/" not in word and ":" in word and not Path(word).exists()


__all__ = ["FILES", "names_server", "with_files"]
