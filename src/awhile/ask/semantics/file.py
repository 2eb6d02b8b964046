"""Reading a semantic file: YAML into checked values, with the line of everything that is wrong.

Source: ours; the page docs/semantic-file.md says what each key means.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from awhile.errors import SettingsError

__all__ = ["ColumnWords", "Entity", "Join", "Measure", "Place", "Semantics", "read", "wrong"]

Place = tuple[str | int, ...]
"""Where in the file something is: keys and positions from the top."""
_MOST_BYTES = 1_000_000


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class ColumnWords(_Part):
    """What is said of one column."""

    name: str | None = Field(None, min_length=1)
    synonyms: tuple[str, ...] = ()
    description: str | None = None
    hide: bool = False
    values: dict[str, str] = Field(default_factory=dict)
    """What people say for a value, by the value as it stands in the data."""


class Entity(_Part):
    """What is said of one table."""

    name: str | None = Field(None, min_length=1)
    synonyms: tuple[str, ...] = ()
    description: str | None = None
    label: tuple[str, ...] | str = ()
    date: str | None = None
    hide: bool = False
    columns: dict[str, ColumnWords | None] = Field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns that name a row."""
        return (self.label,) if isinstance(self.label, str) else self.label


class Measure(_Part):
    """A figure with a name."""

    table: str
    sql: str = Field(min_length=1)
    aggregate: Literal["sum", "avg", "median", "min", "max", "count", "count_distinct"] | None = (
        None
    )
    synonyms: tuple[str, ...] = ()
    description: str | None = None


class Join(_Part):
    """A key the database does not declare, or one that is not to be followed (`never`)."""

    source: str = Field(alias="from", pattern=r"^.+\.[^.]+$")
    target: str = Field(alias="to", pattern=r"^.+\.[^.]+$")
    never: bool = False


class AnExample(_Part):
    """A question and its SQL."""

    question: str = Field(min_length=1)
    sql: str = Field(min_length=1)


class _File(_Part):
    version: Literal[1] = 1
    times: Literal["today", "last day of the data"] = "today"
    entities: dict[str, Entity | None] = Field(default_factory=dict)
    measures: dict[str, Measure] = Field(default_factory=dict)
    joins: tuple[Join, ...] = ()
    examples: tuple[AnExample, ...] = ()


@dataclass(frozen=True, slots=True)
class Semantics:
    """A file that is well-formed; whether it fits a database is `applied` to see."""

    path: Path
    content: _File
    lines: dict[Place, int]

    def line(self, place: Place) -> int:
        """The line of a place, or that of the nearest one above it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read(path: Path) -> Semantics:
    """The semantic file at `path`. Raises `SettingsError` with every mistake and its line."""
    try:
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise SettingsError(
                f"The semantic file {str(path)!r} has {size:,} bytes; more than {_MOST_BYTES:,} "
                "are not read. Is it the right file?"
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"The semantic file {str(path)!r} cannot be read: {error}. `awhile model init` "
            "drafts one."
        ) from error
    return parsed(text, path)


def parsed(text: str, path: Path) -> Semantics:
    """The semantic file with that text. Raises `SettingsError` with every mistake and its line."""
    try:
        node: Any = yaml.SafeLoader(text).get_single_node()
        loaded: Any = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "it is no YAML"
        raise wrong(path, [(line, f"not well-formed YAML: {problem}")]) from error
    lines: dict[Place, int] = {}
    doubled: list[tuple[int, str]] = []
    if node is not None:
        _locate(node, (), lines, doubled)
    if doubled:
        raise wrong(path, doubled)
    try:
        content = _File.model_validate({} if loaded is None else loaded)
    except ValidationError as error:
        read_so_far = Semantics(path, _File(), lines)
        raise wrong(
            path,
            [
                (read_so_far.line(_place(each["loc"], lines)), _sentence(each))
                for each in cast("list[dict[str, Any]]", error.errors())
            ],
        ) from error
    return Semantics(path, content, lines)


def wrong(path: Path, problems: Sequence[tuple[int, str]]) -> SettingsError:
    """Every problem with its line, in one message."""
    told = dict.fromkeys(sorted(problems))
    return SettingsError(
        "The semantic file cannot be used:\n"
        + "\n".join(f"  {path}:{line}: {problem}" for line, problem in told)
    )


def nearest(word: str, known: Sequence[str]) -> str:
    """ "; did you mean …?" where something near is known."""
    near = difflib.get_close_matches(word, known, 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""


def _locate(
    node: Any, place: Place, lines: dict[Place, int], doubled: list[tuple[int, str]]
) -> None:
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        pairs = cast("list[tuple[Any, Any]]", node.value)
        for key, value in pairs:
            inner = (*place, str(key.value))
            if inner in lines:
                doubled.append((key.start_mark.line + 1, f"{key.value!r} is here a second time"))
            _locate(value, inner, lines, doubled)
            lines[inner] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for at, value in enumerate(cast("list[Any]", node.value)):
            _locate(value, (*place, at), lines, doubled)


def _place(loc: Sequence[str | int], lines: dict[Place, int]) -> Place:
    """Where pydantic's location is in the file; the names of alternatives are left out."""
    place: Place = ()
    for each in loc:
        if (*place, each) in lines:
            place = (*place, each)
    return place


def _sentence(error: dict[str, Any]) -> str:
    where = ".".join(str(each) for each in error["loc"])
    last = str(error["loc"][-1]) if error["loc"] else ""
    match error["type"]:
        case "extra_forbidden":
            return f"{where}: no such key{nearest(last, _keys(error['loc']))}"
        case "missing":
            return f"{where}: it is missing"
        case "literal_error":
            return f"{where}: {error['input']!r} is none of {error['ctx']['expected']}"
        case _:
            return f"{where}: {error['msg']}, not {error['input']!r}"


def _keys(loc: Sequence[str | int]) -> list[str]:
    """The keys there are where a wrong one stands."""
    parts: dict[str, type[_Part]] = {
        "entities": ColumnWords if "columns" in loc[:-1] else Entity,
        "measures": Measure,
        "joins": Join,
        "examples": AnExample,
    }
    model = parts.get(str(loc[0]), _File) if len(loc) > 1 else _File
    return [field.alias or name for name, field in model.model_fields.items()]
