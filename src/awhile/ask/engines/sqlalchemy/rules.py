"""What passes in a dialect nobody has made a list for: little, and the same for all."""

from __future__ import annotations

import re

from awhile.ask.engines.listed import listed
from awhile.ask.engines.sqlalchemy.guard import Rules
from awhile.ask.engines.sqlalchemy.lexing import Lexis

__all__ = ["SYNTAX", "rules_of"]

_HERE = "awhile.ask.engines.sqlalchemy"
SYNTAX = listed(_HERE, "syntax.txt")
_SKIPPED = re.compile(
    r"""\s+ | --[^\n]* | /\*(?!M?!|\+)(?:(?!/\*).)*?\*/""", re.ASCII | re.DOTALL | re.VERBOSE
)
"""A comment within a comment ends differently here and there."""
_HIDDEN = {
    name: frozenset[str]()
    for name in (
        *("master", "msdb", "mysql", "performance_schema", "pg_catalog", "pg_toast", "snowflake"),
        *("sys", "syscat", "sysibm", "sysibmadm", "sysproc", "system"),
        # Names of formats, after which some take a path for a table.
        *(
            "avro",
            "binaryfile",
            "csv",
            "delta",
            "iceberg",
            "jdbc",
            "json",
            "orc",
            "parquet",
            "text",
        ),
    )
}


def rules_of(dialect: str) -> Rules:
    """Those of a dialect, by SQLGlot's name."""
    return Rules(Lexis(dialect, _SKIPPED), listed(_HERE, "functions.txt"), SYNTAX, _HIDDEN)
