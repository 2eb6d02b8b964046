"""Geometry as the server sends it (four bytes of SRID, then WKB), as the text it stands for.

Source: OGC 06-103r4, "Well-known Binary Representation" and "Well-known Text Representation".
"""

from __future__ import annotations

import struct
from collections.abc import Callable

__all__ = ["as_text"]

_NAMES = {
    1: "POINT",
    2: "LINESTRING",
    3: "POLYGON",
    4: "MULTIPOINT",
    5: "MULTILINESTRING",
    6: "MULTIPOLYGON",
    7: "GEOMETRYCOLLECTION",
}


def as_text(cell: bytes) -> str:
    """Well-known text, after `SRID=n;` where there is one; hexadecimal for what is no geometry."""
    try:
        [srid] = struct.unpack_from("<I", cell)
        reader = _Reader(cell, 4)
        text = reader.geometry()
        if reader.at != len(cell):
            raise ValueError("there is more after it")
    except (struct.error, KeyError, ValueError, RecursionError):
        return cell.hex()
    return f"SRID={srid};{text}" if srid else text


class _Reader:
    def __init__(self, cell: bytes, at: int) -> None:
        self._cell = cell
        self.at = at
        self._order = "<"

    def geometry(self, *, named: bool = True) -> str:
        self._order = "<" if self._cell[self.at : self.at + 1] == b"\1" else ">"
        self.at += 1
        kind = self._number()
        name = _NAMES[kind]
        match kind:
            case 1:
                text = f"({self._point()})"
            case 2:
                text = self._points()
            case 3:
                text = self._several(self._points)
            case 7:
                text = self._several(self.geometry)
            case _:
                text = self._several(lambda: self.geometry(named=False))
        return f"{name}{text}" if named else text

    def _several(self, each: Callable[[], str]) -> str:
        count = self._number()
        return f"({','.join(each() for _ in range(count))})" if count else " EMPTY"

    def _points(self) -> str:
        return self._several(self._point)

    def _point(self) -> str:
        x, y = struct.unpack_from(f"{self._order}dd", self._cell, self.at)
        self.at += 16
        return f"{_plain(x)} {_plain(y)}"

    def _number(self) -> int:
        [number] = struct.unpack_from(f"{self._order}I", self._cell, self.at)
        self.at += 4
        return number


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")
