"""One row of the table of settings: its value's kind, its default, and its words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from awhile.cli.kinds import Kind

T = TypeVar("T")

PREFIX = "AWHILE_"
"""What the name of every variable begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the table."""

    name: str
    kind: Kind[Any]
    sentence: str
    otherwise: str
    """What a value that is refused would lead to; follows "so"."""
    default: Callable[[Mapping[str, Any]], Any]
    """From the settings above it in the table to its default."""
    default_words: str
    """The default as documentation has it, the same on every machine."""
    also: tuple[str, ...]

    @property
    def flag(self) -> str:
        """Its name on a command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """Its name in the environment."""
        return f"{PREFIX}{self.name.upper()}"


def setting(
    kind: Kind[T],
    default: T | Callable[[Mapping[str, Any]], T],
    sentence: str,
    *,
    otherwise: str,
    words: str | None = None,
    also: tuple[str, ...] = (),
) -> T:
    """One field of `Settings`; typed as the value it will hold, as dataclass fields are."""
    derive: Callable[[Mapping[str, Any]], Any] = (
        default if callable(default) else lambda _above: default
    )
    row: dict[str, Any] = {
        "kind": kind,
        "sentence": sentence,
        "otherwise": otherwise,
        "default": derive,
        "default_words": as_text(default) if words is None else words,
        "also": also,
    }
    return field(metadata=row)  # type: ignore[return-value]


def as_text(value: object) -> str:
    """A value as one would write it in a variable."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return "\n".join(map(str, cast("tuple[object, ...]", value)))
    return f"{value:g}" if isinstance(value, float) else str(value)


__all__ = ["PREFIX", "Entry", "as_text", "setting"]
