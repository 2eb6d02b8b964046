"""Workbooks of rows, as a person would save them."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import xlsxwriter  # pyright: ignore[reportMissingTypeStubs]

__all__ = ["write_workbook"]


def write_workbook(path: Path, **sheets: duckdb.DuckDBPyRelation) -> None:
    """A sheet for each, with the names of its columns in the first row."""
    book: Any = xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    with book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, rows.columns)
            for number, row in enumerate(rows.fetchall(), start=1):
                for column, value in enumerate(row):
                    _write(sheet, number, column, value)


def _write(sheet: Any, row: int, column: int, value: Any) -> None:
    match value:
        case None:
            pass
        case datetime() | date():
            sheet.write_datetime(row, column, value)
        case Decimal():
            sheet.write_number(row, column, float(value))
        case _:
            sheet.write(row, column, value)
