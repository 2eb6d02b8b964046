# What Awhile uses of pyarrow.parquet, which ships no types of its own.
from collections.abc import Iterator, Mapping
from io import RawIOBase
from os import PathLike
from typing import Self

from pyarrow import RecordBatch, Schema, Table

class ParquetWriter:
    def __init__(
        self,
        where: PathLike[str],
        schema: Schema,
        *,
        compression: str = "snappy",
        use_dictionary: bool = True,
        write_statistics: bool = True,
    ) -> None: ...
    def write_table(self, table: Table, row_group_size: int | None = None) -> None: ...
    def add_key_value_metadata(self, key_value_metadata: Mapping[str, str]) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

class _RowGroup:
    num_rows: int
    total_byte_size: int

class FileMetaData:
    num_rows: int
    num_row_groups: int
    metadata: dict[bytes, bytes] | None
    def row_group(self, i: int) -> _RowGroup: ...

class ParquetFile:
    metadata: FileMetaData
    schema_arrow: Schema
    def __init__(self, source: PathLike[str] | RawIOBase) -> None: ...
    def iter_batches(
        self, batch_size: int = 65536, *, columns: list[str] | None = None
    ) -> Iterator[RecordBatch]: ...
    def read_row_groups(self, row_groups: list[int], columns: list[str] | None = None) -> Table: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *args: object) -> None: ...

def write_table(
    table: Table, where: PathLike[str], row_group_size: int | None = None, *, compression: str
) -> None: ...
