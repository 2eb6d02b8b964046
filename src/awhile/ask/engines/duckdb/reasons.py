"""Why a DuckDB file could not be opened, and what to do about it."""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path

__all__ = ["why_not_opened"]


def why_not_opened(database: Path, message: str) -> str:
    """DuckDB's words about a file it would not open, with the next step."""
    if not database.exists():
        return f"there is no file {str(database)!r}; check the path"
    if database.is_dir():
        return f"{str(database)!r} is a folder; name the DuckDB file in it"
    if not os.access(database, os.R_OK):
        return f"the file {str(database)!r} may not be read by this user; change its permissions"
    if holder := re.search(r"Conflicting lock is held in (.*?\(PID \d+\))", message):
        return (
            f"{str(database)!r} is open for writing in another process, {holder[1]}; "
            "close it there, or open a copy of the file"
        )
    if "not a valid DuckDB database file" in message:
        return f"{str(database)!r} is not a DuckDB database; DuckDB would read it as another format"
    if "version number" in message:
        return (
            f"{str(database)!r} was made by another version of DuckDB than {version('duckdb')} can "
            f"read ({message}); upgrade the duckdb package, or export the database with the "
            "version that made it"
        )
    return f"{str(database)!r} could not be opened: {message}"
