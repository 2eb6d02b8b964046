# What Awhile uses of pyarrow, which ships no types of its own.
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

class ArrowException(Exception): ...
class ArrowInvalid(ValueError, ArrowException): ...

class DataType:
    num_fields: int
    fields: list[Field]
    value_type: DataType
    key_type: DataType
    item_type: DataType
    scale: int
    unit: str
    tz: str | None

class Field:
    name: str
    type: DataType

class Schema:
    names: list[str]
    metadata: dict[bytes, bytes] | None
    def __iter__(self) -> Iterator[Field]: ...
    def field(self, i: int) -> Field: ...

class Array:
    type: DataType
    offset: int
    def __len__(self) -> int: ...
    def buffers(self) -> list[Any]: ...
    def to_pylist(self) -> list[Any]: ...
    def cast(self, target_type: DataType) -> Array: ...

class ChunkedArray:
    chunks: list[Array]
    def combine_chunks(self) -> Array: ...
    def to_pylist(self) -> list[Any]: ...

class _Tabular:
    num_rows: int
    num_columns: int
    nbytes: int
    schema: Schema

class RecordBatch(_Tabular):
    columns: list[Array]
    def column(self, i: int) -> Array: ...
    def slice(self, offset: int = 0, length: int | None = None) -> RecordBatch: ...
    @classmethod
    def from_arrays(
        cls, arrays: Sequence[Array], names: list[str] | None = None, schema: Schema | None = None
    ) -> RecordBatch: ...

class Table(_Tabular):
    columns: list[ChunkedArray]
    def column(self, i: int) -> ChunkedArray: ...
    def slice(self, offset: int = 0, length: int | None = None) -> Table: ...
    def rename_columns(self, names: list[str]) -> Table: ...
    def to_batches(self, max_chunksize: int | None = None) -> list[RecordBatch]: ...
    @classmethod
    def from_arrays(
        cls,
        arrays: Sequence[Array | ChunkedArray],
        names: list[str] | None = None,
        schema: Schema | None = None,
    ) -> Table: ...
    @classmethod
    def from_batches(
        cls, batches: Sequence[RecordBatch], schema: Schema | None = None
    ) -> Table: ...

class RecordBatchReader:
    schema: Schema
    def __iter__(self) -> Self: ...
    def __next__(self) -> RecordBatch: ...
    @classmethod
    def from_batches(
        cls, schema: Schema, batches: Iterable[RecordBatch]
    ) -> RecordBatchReader: ...
    def close(self) -> None: ...

def schema(fields: Sequence[tuple[str, DataType]]) -> Schema: ...
def array(obj: Sequence[Any], type: DataType | None = None) -> Array: ...
def string() -> DataType: ...
def binary() -> DataType: ...
def bool_() -> DataType: ...
def float32() -> DataType: ...
def float64() -> DataType: ...
def int64() -> DataType: ...
def uint64() -> DataType: ...

class _Types:
    is_list: Callable[[DataType], bool]
    is_large_list: Callable[[DataType], bool]
    is_fixed_size_list: Callable[[DataType], bool]
    is_map: Callable[[DataType], bool]
    is_struct: Callable[[DataType], bool]
    is_integer: Callable[[DataType], bool]
    is_floating: Callable[[DataType], bool]
    is_boolean: Callable[[DataType], bool]
    is_string: Callable[[DataType], bool]
    is_large_string: Callable[[DataType], bool]
    is_binary: Callable[[DataType], bool]
    is_large_binary: Callable[[DataType], bool]
    is_date32: Callable[[DataType], bool]
    is_time: Callable[[DataType], bool]
    is_timestamp: Callable[[DataType], bool]
    is_decimal: Callable[[DataType], bool]
    is_null: Callable[[DataType], bool]

types: _Types
