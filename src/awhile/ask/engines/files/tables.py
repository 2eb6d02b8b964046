"""From data files to tables: which of them are one table together, and what each is called.

Source: ours. One table a file (of a workbook: one a sheet), named after it, except for files that
are parts of one table: those under the same folders `column=value` (Hive's partitions), and those
of one folder with the same columns whose names differ only in numbers, as `sales-2024-01.csv` and
`sales-2024-02.csv`. Columns alone do not make one table of two files: `countries.csv` and
`categories.csv` may both have `id` and `name`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from awhile.ask.engines.files.finding import File, Kind, some_of
from awhile.ask.engines.quoting import literal

__all__ = ["Columns", "Look", "Part", "Source", "columns_argument", "sources"]

Columns = tuple[tuple[str, str], ...]
"""Name and DuckDB type of each."""

_PARTITION = re.compile(r"[^=/]+=[^/]*\Z")
_NUMBERS = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+", re.IGNORECASE
)
_NO_NAMES = frozenset(("", "part", "parts", "data", "file", "chunk", "batch", "output", "export"))
"""What is left of such names says nothing: the folder's name says more."""
_NOT_IN_NAMES = re.compile(r"\W+|_{2,}")
_LONGEST = 60


def columns_argument(columns: Iterable[tuple[str, str]]) -> str:
    """Names and types as an argument of DuckDB's readers."""
    told = ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in columns)
    return f"columns = {{{told}}}"


@dataclass(frozen=True, slots=True)
class Look:
    """How DuckDB reads a file, found out by looking at it."""

    columns: Columns
    options: tuple[tuple[str, str], ...] = ()
    """Named arguments of the reader, as SQL has them."""
    said: tuple[str, ...] = ()
    """What a person should know of how it is read."""
    fixed: bool = True
    """Whether the columns are told to the reader, so that it need not look again."""


@dataclass(frozen=True, slots=True)
class Part:
    """One file, or one sheet of a workbook, as DuckDB reads it."""

    file: File
    location: str
    """What DuckDB calls it."""
    reader: Kind
    """Of which kind the bytes are that are read; a sheet's are Parquet."""
    look: Look
    rows: int | None = None
    """How many there are, where that was cheap to know."""
    sheet: str | None = None
    names_itself: bool = True
    """Whether a table of it alone is named after the file, and not after the sheet."""


@dataclass(frozen=True, slots=True)
class Source:
    """A table: its name, and what it is read from."""

    name: str
    parts: tuple[Part, ...]
    partitioned: bool = False
    """Whether the folders on the way say the values of further columns."""


def sources(parts: Sequence[Part]) -> tuple[list[Source], list[str]]:
    """The tables, in the order of their first parts, no two of one name; and what is to be said."""
    together: dict[object, list[Part]] = {}
    for part in parts:
        together.setdefault(_key(part), []).append(part)
    taken: dict[str, Path] = {}
    made: list[Source] = []
    for key, members in together.items():
        partitioned = isinstance(key, _Partitioned)
        made.append(Source(_name(members, partitioned, taken), tuple(members), partitioned))
    return made, _apart(together)


def _apart(together: Mapping[object, Sequence[Part]]) -> list[str]:
    """Sentences about files that are named like the parts of a table, and are none of them."""
    alike: dict[tuple[Path, str], list[Sequence[Part]]] = {}
    for key, members in together.items():
        if isinstance(key, _Numbered):
            alike.setdefault((key.folder, key.pattern), []).append(members)
    said: list[str] = []
    for groups in alike.values():
        most = max(groups, key=len)
        others = [members[0].file.name for members in groups if members is not most]
        if len(most) > 1 and others:
            said.append(
                f"not of the same table as {most[0].file.name!r}, because they have other columns: "
                f"{some_of(others)}"
            )
    return said


@dataclass(frozen=True, slots=True)
class _Partitioned:
    """Files that are one table have an equal one."""

    root: Path
    keys: tuple[str, ...]
    shape: object


@dataclass(frozen=True, slots=True)
class _Numbered:
    """So have these, whose names differ only in numbers."""

    folder: Path
    pattern: str
    shape: object


def _key(part: Part) -> object:
    """Equal for parts of one table."""
    names = tuple(name for name, _ in part.look.columns)
    # A line of a CSV file says nothing of names: there, their order counts.
    named = names if part.reader == "csv" else frozenset(names)
    shape = (part.reader, part.look.options, part.look.fixed, named)
    folders = part.file.inside[:-1]
    split = next((at for at, each in enumerate(folders) if _PARTITION.match(each)), None)
    if part.sheet is not None:
        return (part.file.path, part.sheet)
    if split is not None and part.file.folder is not None:
        keys = tuple(each.partition("=")[0] for each in folders[split:] if _PARTITION.match(each))
        return _Partitioned(part.file.path.parents[len(folders) - split], keys, shape)
    stem = _stem(part.file.inside[-1])
    if _NUMBERS.search(stem):
        return _Numbered(part.file.path.parent, _NUMBERS.sub("0", stem.casefold()), shape)
    return part.file.path


def _name(parts: Sequence[Part], partitioned: bool, taken: dict[str, Path]) -> str:
    """A name of its own, as near to the file's as can be; noted down in `taken`."""
    first = parts[0]
    folder, stem = first.file.path.parent, _stem(first.file.inside[-1])
    best = _sanitised(_best_name(parts, partitioned)) or _sanitised(folder.name) or "data"
    if first.sheet is not None:
        further = [f"{stem} {first.sheet}"]
    elif taken.get(best.casefold()) == folder:
        further = [f"{best} {first.reader}", f"{folder.name} {best}"]
    else:
        further = [f"{folder.name} {best}", f"{best} {first.reader}"]
    numbered = (f"{best}_{number}" for number in count(2))
    for name in chain([best], map(_sanitised, further), numbered):
        if name.casefold() not in taken:
            taken[name.casefold()] = folder
            return name
    raise AssertionError  # there are always more numbers


def _best_name(parts: Sequence[Part], partitioned: bool) -> str:
    first = parts[0]
    file, stem = first.file, _stem(first.file.inside[-1])
    if partitioned:
        at = next(at for at, each in enumerate(file.inside) if _PARTITION.match(each))
        return file.inside[at - 1] if at else file.folder or ""
    if first.sheet is not None:
        return stem if first.names_itself else first.sheet
    if len(parts) == 1:
        return stem
    left = _NUMBERS.sub("", stem)
    return "" if _sanitised(left).casefold() in _NO_NAMES else left


def _stem(name: str) -> str:
    stem = name.removesuffix(".gz").removesuffix(".GZ")
    return stem.rpartition(".")[0] or stem


def _sanitised(name: str) -> str:
    """Letters, digits and single `_`, a letter first: SQL needs no quotes for it (unless it is a
    word of SQL's own)."""
    clean = _NOT_IN_NAMES.sub("_", name).strip("_")[:_LONGEST].rstrip("_")
    return f"t_{clean}" if clean[:1].isdigit() else clean
