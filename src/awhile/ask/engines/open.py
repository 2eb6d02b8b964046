"""From a path or a URL to an engine: an entry point of the group ``awhile.engines``.

A URL names its engine by its scheme (``postgresql://``, ``sqlite:///``, ``duckdb:///``); where no
engine has that name, it is SQLAlchemy's. A database file is recognised by what is in it, for a
name says little: ``shop.db`` may be anybody's; data files are by their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files.finding import kind_of
from awhile.extras import loaded

if TYPE_CHECKING:
    from awhile.ask.engines.contract import Engine, EngineFromDatabase, EngineFromFiles

__all__ = ["GROUP", "name_of", "open_engine", "without_password"]

GROUP = "awhile.engines"
"""The entry-point group: each name is a URL scheme, and the suffix of a kind of file where files
are what the engine reads; each object is an `EngineFromDatabase`."""

_ANY = "sqlalchemy"
"""Whose engine takes the URLs of every other scheme."""
_FILES = "files"
"""Whose engine takes data files, several together, and folders of them."""
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*\Z")
_CONTENT = ((0, b"SQLite format 3\0", "sqlite"), (8, b"DUCK", "duckdb"), (0, b"PAR1", _FILES))
"""Where in a file, which bytes, and whose files have them there."""
_SUFFIXES = {"db": "sqlite", "sqlite3": "sqlite", "db3": "sqlite", "ddb": "duckdb"}
"""For files that are not there, or empty: which engine says so."""


def open_engine(
    databases: str | Sequence[str],
    *,
    side_by_side: int = 2,
    memory_limit_bytes: int | None = None,
    cache_folder: Path | None = None,
) -> Engine:
    """The engine for a path or URL, or for several data files and folders, to be opened with its
    `open`.

    `cache_folder` is where data files are kept that had to be converted. Raises `DatabaseNotOpened`
    where no installed engine takes it. No password is ever in what is raised.
    """
    asked = [databases] if isinstance(databases, str) else list(databases)
    found = {one.name: one for one in entry_points(group=GROUP)}
    kinds = [_kind(each, set(found)) for each in asked]
    if set(kinds) == {_FILES}:
        files: EngineFromFiles = _loaded(found[_FILES], "data files")
        return files.from_files(
            [Path(each) for each in asked],
            name=name_of(asked),
            side_by_side=side_by_side,
            memory_limit_bytes=memory_limit_bytes,
            cache_folder=cache_folder,
        )
    if len(asked) > 1:
        alone = next(each for each, kind in zip(asked, kinds, strict=True) if kind != _FILES)
        if _scheme(alone) is None and not Path(alone).exists():
            raise DatabaseNotOpened(
                f"there is no file or folder {alone!r}; check the path, and put a question of "
                "several words into quotes"
            )
        raise DatabaseNotOpened(
            f"{without_password(alone)!r} is a database by itself, and only data files (Parquet, "
            "CSV, JSON, Excel) and folders of them can be asked together; leave the others out"
        )
    [database], [kind] = asked, kinds
    scheme = _scheme(database)
    if scheme is not None and scheme not in found:
        kind, database = _of_another(scheme, database, set(found))
    if kind not in found:
        installed = ", ".join(f"'{name}'" for name in sorted(found)) or "none"
        raise DatabaseNotOpened(
            f"no engine is installed for {kind!r} databases; installed: {installed}. A file is "
            "named by its path, PostgreSQL as 'postgresql://user@host/database'"
        )
    engine: EngineFromDatabase = _loaded(found[kind], f"{scheme or kind!r} databases")
    try:
        return engine.from_database(
            database, side_by_side=side_by_side, memory_limit_bytes=memory_limit_bytes
        )
    except ValueError as error:
        raise DatabaseNotOpened(str(error)) from None


def name_of(databases: str | Sequence[str]) -> str:
    """What to call a database to a person: a file's stem, or the name it has on its server."""
    if isinstance(databases, str):
        shown = without_password(databases)
        path = urlsplit(shown).path if _scheme(databases) else databases
        return Path(unquote(path)).stem or shown
    first, *others = databases
    return f"{name_of(first)} and {len(others)} more" if others else name_of(first)


def _loaded(point: EntryPoint, what: str) -> Any:
    try:
        return loaded(point, f"the engine for {what}")
    except ImportError as error:
        raise DatabaseNotOpened(str(error)) from error


def without_password(database: str) -> str:
    """A path or URL as it may be shown."""
    if _scheme(database) is None:
        return database
    scheme, _, rest = database.partition("://")
    # By the last @: somebody may have left a / or a ? in a password as it is.
    before, at, after = rest.rpartition("@")
    return f"{scheme}://{before.partition(':')[0]}{at}{re.split('[?#]', after)[0]}"


def _scheme(database: str) -> str | None:
    scheme, separator, _ = database.partition("://")
    return scheme if separator and _SCHEME.match(scheme) else None


def _of_another(scheme: str, database: str, known: set[str]) -> tuple[str, str]:
    """Who takes a URL that no engine is named by: one whose driver is ours to choose
    (``mysql+pymysql://``), or SQLAlchemy."""
    plain = scheme.partition("+")[0]
    if plain in known:
        return plain, plain + database.removeprefix(scheme)
    return (_ANY if _ANY in known else scheme), database


def _kind(database: str, known: set[str]) -> str:
    scheme = _scheme(database)
    return _kind_of_file(Path(database), known) if scheme is None else scheme


def _kind_of_file(path: Path, known: set[str]) -> str:
    if path.is_dir():
        return _FILES
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except OSError:
        head = b""
    for start, magic, kind in _CONTENT:
        if head[start : start + len(magic)] == magic:
            return kind
    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in known and kind_of(path.name) is not None:
        return _FILES
    named = _SUFFIXES.get(suffix, suffix)
    # Whoever owns the suffix says what is wrong with the file: it knows best.
    return named if named in known else "duckdb"
