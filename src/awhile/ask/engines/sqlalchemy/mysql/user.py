"""Whether a user is weak enough to be asked through, and the SQL that makes one that is.

A read-only transaction does not hold back who has the right to: `LOAD_FILE` reads the server's
files in one, and `SELECT ... INTO OUTFILE` writes them (measured on MariaDB 10.11). So the user is
the first line, and one that can do more than read is refused when the engine is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from awhile.ask.engines.errors import DatabaseNotOpened

__all__ = ["check_user", "fit_user"]

_HARMLESS = frozenset(
    (
        *("USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "SHOW CREATE ROUTINE", "SHOW_ROUTINE"),
        *("EXECUTE", "PROCESS", "CREATE TEMPORARY TABLES"),
    )
)
"""`EXECUTE` is for the functions of the database's own that its URL allows."""

_NAME = re.compile(r"`(?:[^`]|``)*`")
_GRANT = re.compile(r"GRANT (?P<what>.+?) ON .+ TO ")
_ROLE = re.compile(r"GRANT (?P<roles>(?:`(?:[^`]|``)*`|[^ ])+) TO ")
_MOST_ROLES = 50

Grants = Callable[[str | None], Iterable[str]]
"""The lines of SHOW GRANTS; of what a role adds, where roles are given as GRANT names them."""


def check_user(grants: Grants, name: str, database: str) -> None:
    """Raise `DatabaseNotOpened` if the user, or a role it may take on, can do more than read."""
    powers: set[str] = set()
    waiting: list[str | None] = [None]
    seen: set[str] = set()
    while waiting:
        for line in grants(waiting.pop()):
            powers |= _powers(line)
            role = _ROLE.match(line)
            if role and role["roles"] not in seen and len(seen) < _MOST_ROLES:
                seen.add(role["roles"])
                waiting.append(role["roles"])
    if powers:
        raise DatabaseNotOpened(
            f"the user of {name} can do more than read tables ({', '.join(sorted(powers))}), so a "
            "query could reach files, other people's data or the server itself; connect as one "
            f"that cannot; this SQL makes one\n\n{fit_user(database)}"
        )


def fit_user(database: str) -> str:
    """The SQL for a user that can read every table of the database, and nothing else."""
    # In GRANT, _ and % stand for other letters.
    pattern = re.sub(r"([_%])", r"\\\1", database).replace("`", "``")
    return (
        "CREATE USER 'awhile_reader'@'%' IDENTIFIED BY 'choose one';\n"
        f"GRANT SELECT, SHOW VIEW ON `{pattern}`.* TO 'awhile_reader'@'%';"
    )


def _powers(line: str) -> set[str]:
    plain = _NAME.sub("``", line)
    found = _GRANT.match(plain)
    if found is None:
        return set()
    names = re.sub(r"\([^)]*\)", "", found["what"]).split(",")
    powers = {name.strip().upper() for name in names} - _HARMLESS
    if plain.rstrip().endswith("WITH GRANT OPTION"):
        powers.add("GRANT OPTION")
    return powers
