"""What DuckDB says about a file it could not read, in words that name the file and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping

from awhile.ask.engines.duckdb.reading import PREFIX, Entry

__all__ = ["file_of", "in_words", "is_of_types"]

_LOCATION = re.compile(re.escape(PREFIX) + r"\d+/[\w%.~/=-]*")
_CSV = re.compile(
    r"CSV Error on Line: (?P<line>\d+)\n(?:Original Line: ?(?P<text>[^\n]*)\n)?(?P<why>.*?)"
    r"(?:\n\s*(?:Possible|Column \S+ is being converted|  file =)|\Z)",
    re.DOTALL,
)
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_ADVICE = re.compile(
    r"\s*(?:Try increasing|Try setting|Possible Solution|Possible fixes|\n\nLINE \d+:).*", re.DOTALL
)
_NO_TABLE = "Error when sniffing file"
_KIND = re.compile(r"\A(?:Invalid Input|IO|Conversion) Error: ")
_SHOWN = 120
_OF_TYPES = (
    "Could not convert",
    "Failed to cast",
    "transform error",
    "Invalid unicode",
    "cast value",
)
_NEXT = "correct it there (or leave the file out), and ask again"


def file_of(message: str) -> str | None:
    """The location of the file it is about, if it names one."""
    found = _LOCATION.search(message)
    return found[0] if found else None


def is_of_types(message: str) -> bool:
    """Whether it is about a value that is not of the type that was found for its column."""
    return any(word in message for word in _OF_TYPES)


def in_words(message: str, entries: Mapping[str, Entry]) -> str:
    """The message with the names of files as a person knows them, and what to do next."""
    location = file_of(message)
    entry = entries.get(location) if location else None
    if entry is None:
        return message
    if found := _CSV.search(message):
        why = " ".join(found["why"].split())
        if width := _WIDTH.search(why):
            values = f"{width[2]} value{'' if width[2] == '1' else 's'}"
            why = f"it has {values} where {width[1]} are expected"
        text = (found["text"] or "").rstrip("\r")
        shown = f" ({text[:_SHOWN]!r}{'…' if len(text) > _SHOWN else ''})" if text else ""
        return f"line {int(found['line']):,} of {entry.name!r}: {why}{shown}; {_NEXT}"
    if _NO_TABLE in message:
        return f"{entry.name!r} does not look like CSV: no separator fits its lines; {_NEXT}"
    plain = _LOCATION.sub(lambda each: _named(each[0], entries), _ADVICE.sub("", message))
    return f"{_KIND.sub('', plain).strip().rstrip('.')}; {_NEXT}"


def _named(location: str, entries: Mapping[str, Entry]) -> str:
    return entries[location].name if location in entries else location
