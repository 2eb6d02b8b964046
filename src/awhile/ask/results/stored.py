"""A stored result as it is read: columns as the query gave them, and rows a group at a time."""

from __future__ import annotations

import io
import json
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from awhile.ask.results.texts import column_name
from awhile.ask.schema import Column

__all__ = ["Source", "Stored"]

_HEAVY_BYTES = 64 * 1024 * 1024
"""Groups are begun anew at 16 MB, so only a single row makes one as large."""

Source = Path | io.RawIOBase
"""A file of this machine's, or something that reads parts of one elsewhere."""


@dataclass(frozen=True, slots=True)
class Stored:
    """One opened result. Close it, or use it in a `with` block.

    `truncated` means that the query had more rows than were kept.
    """

    file: pq.ParquetFile
    columns: tuple[Column, ...]
    kinds: tuple[pa.DataType, ...]
    row_count: int
    truncated: bool

    @classmethod
    def open(cls, source: Source) -> Self:
        """Reads the end of the file alone. Raises `FileNotFoundError`."""
        file = pq.ParquetFile(source)
        told = file.metadata.metadata or {}
        described: list[dict[str, Any]] = json.loads(told[b"awhile.columns"])
        return cls(
            file=file,
            columns=tuple(Column(one["name"], one["type"]) for one in described),
            kinds=tuple(field.type for field in file.schema_arrow),
            row_count=file.metadata.num_rows,
            truncated=bool(json.loads(told.get(b"awhile.truncated", b"false"))),
        )

    @property
    def is_heavy(self) -> bool:
        """Whether a group of rows needs so much memory that it holds a very large cell."""
        described = self.file.metadata
        return any(
            described.row_group(group).total_byte_size > _HEAVY_BYTES
            for group in range(described.num_row_groups)
        )

    @property
    def metadata(self) -> dict[str, str]:
        """What the writer noted beside the rows."""
        told = self.file.metadata.metadata or {}
        return {key.decode(): told[key].decode() for key in told if key.startswith(b"awhile.")}

    def groups(self, offset: int, limit: int) -> Generator[pa.Table]:
        """The rows from `offset` on, `limit` at most, a row group in memory at a time.

        Columns are called as `texts.column_name` says.
        """
        start = 0
        for group in range(self.file.metadata.num_row_groups):
            count = self.file.metadata.row_group(group).num_rows
            first, last = max(offset - start, 0), min(offset + limit - start, count)
            if first < last:
                table = self.file.read_row_groups([group])
                names = [column_name(position) for position in range(len(self.columns))]
                yield table.rename_columns(names).slice(first, last - first)
            start += count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()
