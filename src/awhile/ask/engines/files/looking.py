"""Looking at each file: its columns, and what has to be converted before DuckDB can read it."""

# ruff: noqa: S608 - every name and text put into a statement is quoted

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import duckdb

from awhile.ask.engines.duckdb.reading import Entry, ReadOnlyFiles, location_of
from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.files import objects, separated, texts, workbooks
from awhile.ask.engines.files.cache import Cache
from awhile.ask.engines.files.finding import File
from awhile.ask.engines.files.tables import Look, Part
from awhile.ask.engines.files.troubles import in_words
from awhile.ask.engines.quoting import literal
from awhile.ask.engines.stamp import stamp_of

__all__ = ["Looking"]

_WHOLE_BYTES = 64 << 20
"""A text file up to here is looked at to its end, as long as all of them are not more than:"""
_WHOLE_BYTES_IN_ALL = 512 << 20
_SHEETS = "sheets.json"
_TEXT = "utf-8.txt"


class Looking:
    """Looks at files, and adds what is to be read to `entries`.

    A file that cannot be used is an error if it was given itself; one in a folder is left out, and
    a note says why.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        cache: Cache,
        entries: dict[str, Entry],
        read: ReadOnlyFiles,
        whole: frozenset[Path],
    ) -> None:
        self._connection = connection
        self._cache = cache
        self._entries = entries
        self._read = read
        self._whole = whole
        self._whole_bytes = 0
        self._numbers = 0
        self.notes: list[str] = []
        self.sampled: set[str] = set()

    def parts(self, files: Sequence[File]) -> list[Part]:
        """What the files hold, in their order. Raises `DatabaseNotOpened`."""
        parquet = [file for file in files if file.kind == "parquet"]
        found = dict(zip(parquet, self._parquet(parquet), strict=True))
        parts: list[Part] = []
        for file in files:
            if file.kind == "parquet":
                parts += found[file]
                continue
            try:
                parts += self._workbook(file) if file.kind == "excel" else [self._text(file)]
            except DatabaseNotOpened as error:
                self._refuse(file, str(error))
            except duckdb.Error as error:
                self._refuse(file, self._said(error))
            except (OSError, EOFError, UnicodeDecodeError) as error:
                self._refuse(file, f"{file.name!r} cannot be read: {error}")
        return parts

    def _said(self, error: duckdb.Error) -> str:
        trouble, self._read.trouble = self._read.trouble, None
        return trouble or in_words(str(error), self._entries)

    def _refuse(self, file: File, why: str) -> None:
        if file.folder is None:
            raise DatabaseNotOpened(why)
        self.notes.append(f"left out: {why}")

    def _enter(self, name: str, path: Path, inside: tuple[str, ...]) -> str:
        stamp = stamp_of(path)
        if stamp is None:
            raise DatabaseNotOpened(f"{name!r} is no longer there; see to it that it is")
        location = location_of(self._numbers, inside)
        self._numbers += 1
        self._entries[location] = Entry(name, path, stamp)
        return location

    def _parquet(self, files: Sequence[File]) -> list[list[Part]]:
        locations = [self._enter(file.name, file.path, file.inside) for file in files]
        if not locations:
            return []
        looks: dict[str, tuple[Look, int]] = {}
        try:
            looks = self._schemas(locations)
        except duckdb.Error:
            for file, location in zip(files, locations, strict=True):
                try:
                    looks |= self._schemas([location])
                except duckdb.Error as error:
                    self._refuse(file, self._said(error))
        return [
            [Part(file, location, "parquet", *looks[location])] if location in looks else []
            for file, location in zip(files, locations, strict=True)
        ]

    def _schemas(self, locations: Sequence[str]) -> dict[str, tuple[Look, int]]:
        """Columns and number of rows of each: of all files with equal columns, one is asked."""
        listed = f"[{', '.join(map(literal, locations))}]"
        rows = dict(
            self._connection.execute(
                f"SELECT file_name, num_rows FROM parquet_file_metadata({listed})"
            ).fetchall()
        )
        shapes: dict[str, str] = dict(
            self._connection.execute(
                "SELECT file_name, md5(string_agg(concat_ws('|', name, type, logical_type, "
                "converted_type, num_children, scale, precision), '\\n')) "
                f"FROM parquet_schema({listed}) GROUP BY file_name"
            ).fetchall()
        )
        looks: dict[str, Look] = {}
        for location in locations:
            shape = shapes[location]
            if shape not in looks:
                described = self._connection.execute(
                    f"DESCRIBE FROM read_parquet({literal(location)}, hive_partitioning = false)"
                ).fetchall()
                looks[shape] = Look(tuple((str(row[0]), str(row[1])) for row in described))
        return {each: (looks[shapes[each]], int(rows[each])) for each in locations}

    def _text(self, file: File) -> Part:
        whole = self._may_be_read_whole(file)
        try:
            head = texts.head_of(file)
        except (gzip.BadGzipFile, EOFError) as error:
            raise DatabaseNotOpened(f"{file.name!r} is not compressed by gzip: {error}") from None
        encoding = texts.encoding_of(file, head, whole=whole)
        said: tuple[str, ...] = ()
        path = file.path
        inside = file.inside
        if encoding != "utf-8":
            path = (
                self._cache.of(file, lambda folder: self._as_utf8(file, encoding, folder)) / _TEXT
            )
            inside = (*inside[:-1], inside[-1].removesuffix(".gz"))
            said = (f"its text read as {texts.NAMES.get(encoding, encoding)}",)
            head = head.decode(encoding, "replace").encode()
        location = self._enter(file.name, path, inside)
        if file.kind == "csv":
            by_tabs = ".tsv" in file.inside[-1].lower()[-7:]
            look = separated.look_at(self._connection, location, head, whole=whole, by_tabs=by_tabs)
        else:
            look = objects.look_at(self._connection, location, whole=whole)
        if not whole:
            self.sampled.add(location)
        look = Look(look.columns, look.options, (*said, *look.said), look.fixed)
        return Part(file, location, file.kind, look)

    def _may_be_read_whole(self, file: File) -> bool:
        size = texts.size_of(file)
        if file.path in self._whole:
            return True
        if size > _WHOLE_BYTES or self._whole_bytes + size > _WHOLE_BYTES_IN_ALL:
            return False
        self._whole_bytes += size
        return True

    @staticmethod
    def _as_utf8(file: File, encoding: str, folder: Path) -> None:
        try:
            texts.as_utf8(file, encoding, folder / _TEXT)
        except UnicodeDecodeError as error:
            raise DatabaseNotOpened(
                f"{file.name!r} begins as {texts.NAMES.get(encoding, encoding)} and is not that "
                f"further on ({error.reason}); save it as UTF-8"
            ) from None

    def _workbook(self, file: File) -> list[Part]:
        folder = self._cache.of(file, lambda into: _convert(file, into))
        sheets, notes = _converted(folder)
        self.notes += notes
        if not sheets:
            raise DatabaseNotOpened(f"{file.name!r} has no sheet with anything in it")
        parts: list[Part] = []
        for sheet in sheets:
            location = self._enter(file.name, folder / sheet.file, (*file.inside, sheet.file))
            look, rows = self._schemas([location])[location]
            parts.append(
                Part(
                    file,
                    location,
                    "parquet",
                    Look(look.columns, said=sheet.said),
                    rows,
                    sheet.name,
                    names_itself=len(sheets) == 1,
                )
            )
        return parts


def _convert(file: File, folder: Path) -> None:
    sheets, notes = workbooks.convert(file, folder)
    told = {"sheets": [asdict(sheet) for sheet in sheets], "notes": notes}
    (folder / _SHEETS).write_text(json.dumps(told), encoding="utf-8")


def _converted(folder: Path) -> tuple[list[workbooks.Sheet], list[str]]:
    told = json.loads((folder / _SHEETS).read_text(encoding="utf-8"))
    sheets = [
        workbooks.Sheet(each["name"], each["file"], each["rows"], tuple(each["said"]))
        for each in told["sheets"]
    ]
    return sheets, list(told["notes"])
