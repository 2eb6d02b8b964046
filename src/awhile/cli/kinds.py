"""What a setting's value can be: how its text is read, and how it is written again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, cast

T = TypeVar("T")

Read = Callable[[object, Path], T]
"""Raw value, and the folder that relative paths start from, to value; ValueError says what was
expected, to follow "which is not"."""


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """One kind of value. ``metavar`` stands for it in a command's help."""

    metavar: str
    read: Read[T]
    secret: bool = False
    """Whether the value is never shown, nor taken from a command line, which others can see."""


def whole(at_least: int, at_most: int | None = None) -> Kind[int]:
    """A whole number within bounds."""
    upto = "or more" if at_most is None else f"to {at_most:,}"
    expected = (
        f"a whole number of {at_least:,} {upto}"
        if at_most is None
        else (f"a whole number from {at_least:,} {upto}")
    )

    def read(raw: object, _folder: Path) -> int:
        try:
            value = int(raw) if isinstance(raw, str) else raw
        except ValueError:
            raise ValueError(expected) from None
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            raise ValueError(expected)
        if at_most is not None and value > at_most:
            raise ValueError(expected)
        return value

    return Kind("N", read)


def optional(kind: Kind[T]) -> Kind[T | None]:
    """A value of this kind, or none."""
    return Kind(kind.metavar, kind.read, kind.secret)


def seconds(at_least: float, *, metavar: str = "SECONDS") -> Kind[float]:
    """A number of seconds (or of another unit that ``metavar`` names)."""
    expected = f"a number of {metavar.lower()}, {at_least:g} or more"

    def read(raw: object, _folder: Path) -> float:
        try:
            value = float(raw) if isinstance(raw, str | int | float) else None
        except ValueError:
            value = None
        # Written so that "nan" is refused, too.
        if value is None or isinstance(raw, bool) or not at_least <= value < float("inf"):
            raise ValueError(expected)
        return value

    return Kind(metavar, read)


def one_of(*choices: str) -> Kind[str]:
    """One of a few words."""

    def read(raw: object, _folder: Path) -> str:
        if raw not in choices:
            raise ValueError(f"one of {', '.join(map(repr, choices))}")
        return str(raw)

    return Kind("|".join(choices), read)


def _text(raw: object, _folder: Path) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a text")
    return raw


def _optional_text(raw: object, folder: Path) -> str | None:
    return _text(raw, folder)


def _path(raw: object, folder: Path) -> Path:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a path")
    return (folder / Path(raw).expanduser()).resolve()


def _optional_path(raw: object, folder: Path) -> Path | None:
    return _path(raw, folder)


def _optional_path_or_url(raw: object, folder: Path) -> str | None:
    if isinstance(raw, str) and "://" in raw:
        return raw
    return str(_path(raw, folder))


def _named_path_or_url(raw: object, folder: Path) -> str:
    if not isinstance(raw, str) or not raw.strip():
        raise ValueError("a path or a URL")
    if "://" in raw:
        return raw
    path = folder / Path(raw).expanduser()
    # A link at its end is kept: its name may say more than the name of what it leads to.
    return str(path.parent.resolve() / path.name if path.name not in ("", "..") else path.resolve())


def _optional_paths_or_urls(raw: object, folder: Path) -> tuple[str, ...] | None:
    given: object = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(given, list | tuple) or not given:
        raise ValueError("a path or a URL, or several paths (in a variable: one on each line)")
    return tuple(_named_path_or_url(each, folder) for each in cast("list[object]", given))


FROM_VARIABLE = "env:"
"""Before the name of a variable, where a file could be meant as well."""


def _token_source(raw: object, folder: Path) -> str | None:
    if isinstance(raw, str) and raw.startswith(FROM_VARIABLE):
        if not raw.removeprefix(FROM_VARIABLE).strip():
            raise ValueError(f"a path, or {FROM_VARIABLE} and the name of a variable")
        return raw
    return str(_path(raw, folder))


def _names(raw: object, _folder: Path) -> tuple[str, ...]:
    given: object = raw.replace(",", "\n").splitlines() if isinstance(raw, str) else raw
    if not isinstance(given, list | tuple):
        raise ValueError("names with commas between them")
    names = cast("list[object]", given)
    if not all(isinstance(each, str) for each in names):
        raise ValueError("names with commas between them")
    return tuple(each.strip() for each in cast("list[str]", names) if each.strip())


SHORTEST_KEY = 32
"""Letters of a key, as the SDK asks of those it seals request states with."""


def _keys(raw: object, folder: Path) -> str:
    keys = [one.strip() for one in _text(raw, folder).split(",")]
    if any(len(one) < SHORTEST_KEY for one in keys) or len(set(keys)) < len(keys):
        raise ValueError(
            f"a secret of {SHORTEST_KEY} letters or more (while it is being changed: several, the "
            "one to use first, with commas between them)"
        )
    return ",".join(keys)


def header(given: str) -> tuple[str, str]:
    """A header that is written as ``Name: value``.

    Source: RFC 9110, "Field Names" and "Field Values"; without what is beyond ASCII.

    Raises:
        ValueError: it is none.
    """
    name, colon, value = (part.strip() for part in given.partition(":"))
    if not colon or not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise ValueError("a header, as 'Name: value', in printable ASCII")
    return name, value


def _headers(raw: object, _folder: Path) -> tuple[tuple[str, str], ...]:
    expected = "headers, each as 'Name: value', in ASCII (in a variable: one on each line)"
    given: object = raw.splitlines() if isinstance(raw, str) else raw
    if not isinstance(given, list | tuple):
        raise ValueError(expected)
    try:
        return tuple(header(str(each)) for each in cast("list[object]", given))
    except ValueError:
        raise ValueError(expected) from None


_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t -~]*")

_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}


def _yes_or_no(raw: object, _folder: Path) -> bool:
    value = _WORDS.get(raw.strip().lower()) if isinstance(raw, str) else raw
    if not isinstance(value, bool):
        raise ValueError("'true' or 'false'")
    return value


TEXT = Kind("TEXT", _text)
URL = Kind("URL", _text)
NAMES = Kind("NAME,…", _names)
OPTIONAL_TEXT = Kind("TEXT", _optional_text)
OPTIONAL_URL = Kind("URL", _optional_text)
PATH = Kind("PATH", _path)
OPTIONAL_PATH = Kind("PATH", _optional_path)
OPTIONAL_PATH_OR_URL = Kind("PATH|URL", _optional_path_or_url)
OPTIONAL_PATHS_OR_URLS = Kind("PATH|URL", _optional_paths_or_urls)
YES_OR_NO = Kind("", _yes_or_no)
KEYS = Kind("KEY", _keys, secret=True)
SECRETS = Kind("SECRET", _text, secret=True)
HEADERS = Kind("HEADERS", _headers, secret=True)
TOKEN_SOURCE = Kind("PATH|env:NAME", _token_source)

__all__ = [
    "FROM_VARIABLE",
    "HEADERS",
    "KEYS",
    "NAMES",
    "OPTIONAL_PATH",
    "OPTIONAL_PATHS_OR_URLS",
    "OPTIONAL_PATH_OR_URL",
    "OPTIONAL_TEXT",
    "OPTIONAL_URL",
    "PATH",
    "SECRETS",
    "TEXT",
    "TOKEN_SOURCE",
    "URL",
    "YES_OR_NO",
    "Kind",
    "header",
    "one_of",
    "optional",
    "seconds",
    "whole",
]
