"""What goes into PostgreSQL and comes back: whole columns as arrays, and text with NUL in it.

A batch of changes is one statement with one array for each column, however many rows there are. The
arrays are written in PostgreSQL's binary form here: psycopg's own choose their type by what is in
them, so the same statement would be prepared anew for every mixture, and the text form of a
megabyte of JSON took 25 times as long to write (source: ours).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.adapt import AdaptersMap, Buffer, Dumper
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper

if TYPE_CHECKING:
    from collections.abc import Iterable

_NULL = b"\xff\xff\xff\xff"
_TEXT, _BIGINT = 25, 20
"""PostgreSQL's numbers for its types (``pg_type.oid``), the same in every server."""


class Texts(list[str | None]):
    """A ``text[]``."""


class Numbers(list[int | None]):
    """A ``bigint[]``."""


def keep(text: str) -> str:
    """``text`` as PostgreSQL can keep it, which has no NUL in a text; `kept` undoes it."""
    if "\x00" not in text and "\x01" not in text:
        return text
    return text.replace("\x01", "\x01\x01").replace("\x00", "\x01\x02")


def kept(text: str) -> str:
    """What `keep` was given."""
    if "\x01" not in text:
        return text
    return "\x01".join(part.replace("\x01\x02", "\x00") for part in text.split("\x01\x01"))


def adapters() -> AdaptersMap:
    """How connections of a store write Python's values: an ``int`` always as ``bigint``."""
    ours = AdaptersMap(psycopg.adapters)
    ours.register_dumper(int, Int8BinaryDumper)
    ours.register_dumper(Texts, _TextsDumper)
    ours.register_dumper(Numbers, _NumbersDumper)
    return ours


def _array(oid: int, length: int, items: Iterable[bytes]) -> bytes:
    # One dimension, "may hold NULL", counted from 1.
    return struct.pack("!iiIii", 1, 1, oid, length, 1) + b"".join(items)


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = 1009

    def dump(self, obj: Any) -> Buffer | None:
        given: Texts = obj
        items: list[bytes] = []
        for one in given:
            if one is None:
                items.append(_NULL)
            else:
                data = keep(one).encode()
                items += (struct.pack("!i", len(data)), data)
        return _array(_TEXT, len(given), items)


class _NumbersDumper(Dumper):
    format = Format.BINARY
    oid = 1016

    def dump(self, obj: Any) -> Buffer | None:
        given: Numbers = obj
        try:
            items = [_NULL if one is None else struct.pack("!iq", 8, one) for one in given]
        except struct.error as error:
            raise psycopg.DataError(f"{given!r} has a number beyond 64 bits") from error
        return _array(_BIGINT, len(given), items)


__all__ = ["Numbers", "Texts", "adapters", "keep", "kept"]
