"""The schema card as engines fill it; its home is `awhile.ask.schema`, seen by translators too."""

from __future__ import annotations

from awhile.ask.schema import ColumnKind, ForeignKey, Schema, Table, TableColumn

__all__ = ["ColumnKind", "ForeignKey", "Schema", "Table", "TableColumn"]
