"""The rows of a stored result, some columns of them, for DuckDB to sum up as they come."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

import pyarrow as pa

from awhile.ask.results.texts import column_name

if TYPE_CHECKING:
    from awhile.ask.results.stored import Stored

__all__ = ["rows_of"]

_BATCH_ROWS = 8_192


def rows_of(
    stored: Stored, positions: Iterable[int], *, most: int | None = None
) -> pa.RecordBatchReader:
    """The columns at those positions, of the first rows or of all; to be read once."""
    wanted = sorted(positions)
    names = [stored.file.schema_arrow.names[one] for one in wanted]
    schema = pa.schema([(column_name(one), stored.kinds[one]) for one in wanted])

    def batches() -> Generator[pa.RecordBatch]:
        left = most
        for batch in stored.file.iter_batches(_BATCH_ROWS, columns=names):
            part = batch if left is None else batch.slice(0, left)
            yield pa.RecordBatch.from_arrays(part.columns, schema=schema)
            if left is not None:
                left -= part.num_rows
                if left <= 0:
                    return

    return pa.RecordBatchReader.from_batches(schema, batches())
