"""Writing results as the engines do, and reading files of the kinds that leave."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import duckdb

from awhile.ask.engines.contract import Column
from awhile.ask.engines.parquet import ParquetResult

Cell = str | float | bool | None


def write_result(
    path: Path, sql: str, types: Sequence[str] | None = None, *, truncated: bool = False
) -> Path:
    """What DuckDB has for a query, as a stored result; ``types`` as another engine called them."""
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        relation = connection.sql(sql)
        kinds = types or [str(kind) for kind in relation.types]
        columns = [Column(name, kind) for name, kind in zip(relation.columns, kinds, strict=True)]
        batches = relation.to_arrow_reader(1024)
        with ParquetResult(path, columns, batches.schema) as result:
            for batch in batches:
                result.write(batch)
            result.finish(truncated=truncated)
    return path


def sheets(workbook: bytes) -> dict[str, list[list[Cell]]]:
    """The cells of a workbook by the names of its sheets: numbers as numbers, texts as texts."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(io.BytesIO(workbook)) as packed:
        names = [
            str(one.get("name")) for one in _parsed(packed, "xl/workbook.xml").iter(f"{space}sheet")
        ]
        found: dict[str, list[list[Cell]]] = {}
        for number, name in enumerate(names, start=1):
            tree = _parsed(packed, f"xl/worksheets/sheet{number}.xml")
            found[name] = [
                [_cell(cell, space) for cell in row.iter(f"{space}c")]
                for row in tree.iter(f"{space}row")
            ]
        return found


def _parsed(packed: zipfile.ZipFile, name: str) -> ElementTree.Element:
    return ElementTree.fromstring(packed.read(name))  # noqa: S314 - our own


def _cell(cell: ElementTree.Element, space: str) -> Cell:
    kind = cell.get("t")
    if kind == "inlineStr":
        text = "".join(each.text or "" for each in cell.iter(f"{space}t"))
        return re.sub("_x([0-9A-F]{4})_", lambda found: chr(int(found[1], 16)), text)
    value = cell.findtext(f"{space}v")
    if value is None:
        return None
    return value == "1" if kind == "b" else float(value)
