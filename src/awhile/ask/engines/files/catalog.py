"""The tables that files make, written down as the views of a small DuckDB database.

Files are looked at here, once for each version of them: which columns a file has, and how it is to
be read, is then part of its view, so that no query finds it out anew or differently.
"""

# ruff: noqa: S608 - every name and text put into a statement is quoted

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import duckdb

from awhile.ask.engines.duckdb.reading import PREFIX, Entry, ReadOnlyFiles
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files.cache import Cache
from awhile.ask.engines.files.finding import Found, Kind, some_of
from awhile.ask.engines.files.looking import Looking
from awhile.ask.engines.files.tables import Part, Source, columns_argument, sources
from awhile.ask.engines.files.texts import size_of
from awhile.ask.engines.files.troubles import in_words
from awhile.ask.engines.quoting import identifier, literal

__all__ = ["Card", "CardTable", "build", "read_card"]

_MOST_TABLES = 300
_SLICES, _SLICE_ROWS = 8, 6_144
_SMALL_BYTES = 64 << 20
"""A text file up to here is read whole for the schema card."""

DATABASE = "files.duckdb"
CARD = "card.json"


@dataclass(frozen=True, slots=True)
class CardTable:
    """What is known of a table beside its columns."""

    name: str
    rows: int | None
    """How many, where that was cheap to know."""
    sample: str | None
    """Rows from all over it, as a FROM clause takes them; None: only its beginning is cheap."""
    is_small: bool
    """Whether it may be read whole to be described."""


@dataclass(slots=True)
class Card:
    """Beside the database of views: which files they read, and what is known of the tables."""

    entries: dict[str, Entry] = field(default_factory=dict[str, Entry])
    sampled: list[str] = field(default_factory=list[str])
    """Locations of files whose types were found by their first rows."""
    tables: list[CardTable] = field(default_factory=list[CardTable])
    notes: list[str] = field(default_factory=list[str])


def build(folder: Path, found: Found, cache: Cache, whole: frozenset[Path]) -> None:
    """Look at the files, and write database and card into the (empty) folder.

    `whole` are files that have to be looked at to their end. Raises `DatabaseNotOpened`.
    """
    card = Card(notes=list(found.notes))
    with closing(duckdb.connect(folder / DATABASE)) as connection:
        files = ReadOnlyFiles(card.entries)
        connection.register_filesystem(files)
        connection.execute(f"SET allowed_directories = [{literal(PREFIX)}]")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET enable_progress_bar = false")
        looking = Looking(connection, cache, card.entries, files, whole)
        parts = looking.parts(found.files)
        card.notes += looking.notes
        card.sampled = sorted(looking.sampled)
        if not parts:
            raise DatabaseNotOpened("; ".join(card.notes) or "the files hold no table")
        tables, apart = sources(parts)
        card.notes += apart
        if len(tables) > _MOST_TABLES:
            raise DatabaseNotOpened(
                f"the files make {len(tables):,} tables, and {_MOST_TABLES} are opened together at "
                "most; give some of them (files with the same columns whose names differ only in "
                "numbers make one table)"
            )
        for source in tables:
            _add(connection, card, source)
    (folder / CARD).write_text(json.dumps(asdict(card), default=str), encoding="utf-8")


def read_card(folder: Path) -> Card:
    """The card of a folder that `build` has filled."""
    told: dict[str, Any] = json.loads((folder / CARD).read_text(encoding="utf-8"))
    entries = {
        location: Entry(each["name"], Path(each["path"]), tuple(each["stamp"]))
        for location, each in told["entries"].items()
    }
    tables = [CardTable(**each) for each in told["tables"]]
    return Card(entries, told["sampled"], tables, told["notes"])


def _add(connection: duckdb.DuckDBPyConnection, card: Card, source: Source) -> None:
    locations = [part.location for part in source.parts]
    columns = _merged(source.parts)
    names = {name.casefold() for name, _ in columns}
    tells_file = len(locations) > 1 and not source.partitioned
    read = "*"
    origin: list[tuple[str, str]] = []
    if tells_file:
        path, said = _free("file_path", names), _free("file", names)
        origin = [("filename", literal(path))]
        decoded = f"url_decode(parse_filename({identifier(path)}))"
        read = f"* EXCLUDE ({identifier(path)}), {decoded} AS {identifier(said)}"
    relation = _relation(source, locations, columns, origin)
    view = identifier(source.name)
    try:
        connection.execute(f"CREATE VIEW {view} AS SELECT {read} FROM {relation}")
    except duckdb.Error as error:
        card.notes.append(f"{source.name!r} is left out: {in_words(str(error), card.entries)}")
        return
    connection.execute(f"COMMENT ON VIEW {view} IS {literal(_comment(source, tells_file))}")
    rows = [part.rows for part in source.parts]
    is_text = source.parts[0].reader != "parquet"
    known = sum(each for each in rows if each is not None) if None not in rows else None
    card.tables.append(
        CardTable(
            name=source.name,
            rows=known,
            sample=_sample(source, known),
            is_small=is_text and sum(size_of(part.file) for part in source.parts) <= _SMALL_BYTES,
        )
    )


def _relation(
    source: Source,
    locations: Sequence[str],
    columns: Sequence[tuple[str, str]],
    further: Sequence[tuple[str, str]] = (),
) -> str:
    first = source.parts[0]
    readers: dict[Kind, str] = {"parquet": "read_parquet", "csv": "read_csv", "json": "read_json"}
    arguments = [f"[{', '.join(map(literal, locations))}]"]
    if first.reader == "csv":
        arguments.append("auto_detect = false")
    if first.reader != "parquet" and first.look.fixed:
        arguments.append(columns_argument(columns))
    if first.reader == "parquet" and len({part.look.columns for part in source.parts}) > 1:
        arguments.append("union_by_name = true")
    arguments.append(f"hive_partitioning = {str(source.partitioned).lower()}")
    arguments += [f"{name} = {value}" for name, value in (*first.look.options, *further)]
    return f"{readers[first.reader]}({', '.join(arguments)})"


def _merged(parts: Sequence[Part]) -> list[tuple[str, str]]:
    """The columns of all parts, each with a type that holds what any of them has."""
    kinds: dict[str, set[str]] = {}
    for part in parts:
        for name, kind in part.look.columns:
            kinds.setdefault(name, set()).add(kind)
    return [(name, _common(found)) for name, found in kinds.items()]


def _common(kinds: set[str]) -> str:
    if len(kinds) == 1:
        return next(iter(kinds))
    return "DOUBLE" if kinds <= {"BIGINT", "DOUBLE"} else "VARCHAR"


def _sample(source: Source, rows: int | None) -> str | None:
    """Rows from all over Parquet files: a filter on their numbers reads only what it names."""
    if source.parts[0].reader != "parquet" or not rows:
        return None
    step = max(len(source.parts) // _SLICES, 1)
    parts = source.parts[::step][:_SLICES]
    each = _SLICES // len(parts)
    least = min(part.rows or 0 for part in parts)
    stride = max(least // each, 1)
    slices = " OR ".join(
        f"file_row_number BETWEEN {stride * at} AND {stride * at + _SLICE_ROWS - 1}"
        for at in range(each)
    )
    relation = _relation(
        source, [part.location for part in parts], (), [("file_row_number", "true")]
    )
    return f"(FROM {relation} WHERE {slices})"


def _free(name: str, names: set[str]) -> str:
    number, free = 2, name
    while free.casefold() in names:
        free, number = f"{name}_{number}", number + 1
    return free


def _comment(source: Source, tells_file: bool) -> str:
    """Where the table comes from, and how it is read."""
    first = source.parts[0]
    said = list(dict.fromkeys(words for part in source.parts for words in part.look.said))
    if first.sheet is not None:
        origin = f"sheet {first.sheet!r} of {first.file.name!r}"
    elif source.partitioned:
        count = f"{len(source.parts):,} file{'s' if len(source.parts) > 1 else ''}"
        origin = f"{count}, partitioned by the folders they are in"
    elif len(source.parts) > 1:
        names = [part.file.name for part in source.parts]
        origin = f"{len(names):,} files with the same columns: {some_of(names)}"
        if tells_file:
            said.append("the last column says which file a row is from")
    else:
        origin = f"the file {first.file.name!r}"
    return "; ".join([origin, *said])
