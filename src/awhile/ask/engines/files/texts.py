"""Which encoding a text file is in; what is not UTF-8 is converted, since DuckDB reads nothing else
for certain: of UTF-16 in big-endian order it reads no row, and takes Windows-1252 for an error or
its € for a control character (measured with DuckDB 2.0.1).
"""

from __future__ import annotations

import codecs
import gzip
import os
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from awhile.ask.engines.files.finding import File

__all__ = ["NAMES", "as_utf8", "encoding_of", "head_of", "size_of"]

_HEAD_BYTES = 1 << 20
_CHUNK_BYTES = 1 << 20
_PACKED = 8
"""How much smaller a packed text usually is."""
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "Windows-1252 (Latin-1)",
    "latin-1": "Latin-1",
}
"""What a person calls them."""


def size_of(file: File) -> int:
    """About how many bytes of text a file holds. Raises `OSError`."""
    if not file.compressed:
        return file.size
    with file.path.open("rb") as packed:
        packed.seek(-min(4, file.size), os.SEEK_END)
        said = int.from_bytes(packed.read(4), "little")  # of one that is larger than 4 GB, the rest
    return max(said, file.size * _PACKED)


def head_of(file: File) -> bytes:
    """The first megabyte of its text. Raises `OSError` and `EOFError`."""
    with _opened(file) as stream:
        return stream.read(_HEAD_BYTES)


def encoding_of(file: File, head: bytes, *, whole: bool) -> str:
    """The encoding: by its mark; else UTF-8, if the text (all of it: `whole`) is that."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    # In UTF-16 every other byte of a text in a Western language is zero.
    if len(head) >= 4 and head[1:200:2].count(0) > 0.8 * len(head[1:200:2]):
        return "utf-16-le"
    if len(head) >= 4 and head[:200:2].count(0) > 0.8 * len(head[:200:2]):
        return "utf-16-be"
    broken, sound = _utf8_in(file, None if whole else len(head))
    # With more letters in UTF-8 than bytes that are none, those bytes are what is wrong: DuckDB
    # will say in which line.
    if broken == 0 or sound > broken:
        return "utf-8"
    return "cp1252" if _is_cp1252(file) else "latin-1"


def as_utf8(file: File, encoding: str, destination: Path) -> None:
    """Write the text as UTF-8. Raises `UnicodeDecodeError`."""
    with _opened(file) as stream, destination.open("wb") as written:
        decoder = codecs.getincrementaldecoder(encoding)()
        for chunk in _chunks(stream):
            written.write(decoder.decode(chunk).removeprefix("\ufeff").encode())
        written.write(decoder.decode(b"", final=True).encode())


def _opened(file: File) -> gzip.GzipFile | BufferedReader:
    return gzip.open(file.path) if file.compressed else file.path.open("rb")


def _chunks(stream: gzip.GzipFile | BufferedReader) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK_BYTES):
        yield chunk


def _utf8_in(file: File, size: int | None) -> tuple[int, int]:
    """How many bytes are no UTF-8, and how many letters are that and no ASCII."""
    broken = sound = read = 0
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with _opened(file) as stream:
        for chunk in _chunks(stream):
            if not chunk.isascii():
                text = decoder.decode(chunk)
                wrong = text.count("\ufffd")
                broken += wrong
                sound += len(text) - len(text.encode("ascii", "ignore")) - wrong
            read += len(chunk)
            if size is not None and read >= size:
                break
    return broken, sound


def _is_cp1252(file: File) -> bool:
    try:
        with _opened(file) as stream:
            for chunk in _chunks(stream):
                chunk.decode("cp1252")
    except UnicodeDecodeError:
        return False
    return True
