"""Results as PostgreSQL's own text, kept as numbers where those lose nothing.

`numeric`, dates, times, intervals, arrays, ranges, JSON, geometry, ... stay text: what PostgreSQL
can hold (NaN and infinity in a numeric, dates before Christ and after 9999, 24:00) has no place in
any narrower type.
"""

from __future__ import annotations

import pyarrow as pa
from psycopg import pq

__all__ = ["arrow_schema", "batch_of"]

_BOOLEAN, _BYTES = 16, 17
_KINDS = {
    _BOOLEAN: pa.bool_(),
    _BYTES: pa.binary(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    26: pa.int64(),
    700: pa.float32(),
    701: pa.float64(),
}
"""By the object ids of `boolean`, `bytea`, `bigint`, `smallint`, `integer`, `oid`, `real` and
`double precision`, which are the same on every server."""


def arrow_schema(result: pq.abc.PGresult) -> pa.Schema:
    """How the columns of a result are kept."""
    return pa.schema(
        [
            (f"c{column}", _KINDS.get(result.ftype(column), pa.string()))
            for column in range(result.nfields)
        ]
    )


def batch_of(result: pq.abc.PGresult, schema: pa.Schema) -> pa.RecordBatch:
    """The rows of a result."""
    arrays = [
        _array([result.get_value(row, column) for row in range(result.ntuples)], field.type)
        for column, field in enumerate(schema)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(cells: list[bytes | None], kind: pa.DataType) -> pa.Array:
    if kind == _KINDS[_BOOLEAN]:
        return pa.array([None if cell is None else cell == b"t" for cell in cells], kind)
    if kind == _KINDS[_BYTES]:
        return pa.array([None if cell is None else _bytes(cell) for cell in cells], kind)
    try:
        texts = pa.array(cells, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        # A text that is no Unicode, which a database in SQL_ASCII may hold, costs a cell.
        texts = pa.array(
            [None if cell is None else cell.decode(errors="backslashreplace") for cell in cells],
            pa.string(),
        )
    return texts.cast(kind)


def _bytes(cell: bytes) -> bytes:
    return bytes.fromhex(cell[2:].decode())  # after the x and its backslash
