"""What is typed where a header, a program to start, or the arguments of a tool are wanted."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from typing import Any, cast

from awhile.cli.kinds import header
from awhile.errors import SettingsError


def headers_typed(given: Iterable[str]) -> dict[str, str]:
    """Each ``--header``, by its name in small letters.

    Raises:
        SettingsError: one is none that can be sent.
    """
    try:
        return {name.lower(): value for name, value in map(header, given)}
    except ValueError:
        # Not repeated: it may well be a secret.
        raise SettingsError(
            "A --header has no name and colon, or letters that HTTP has no place for. Write it as "
            "'Name: value', in printable ASCII."
        ) from None


def command_typed(option: str, given: str) -> tuple[str, ...]:
    """The words of a command, as a shell would have them.

    Raises:
        SettingsError: it has none, or its quotes do not match.
    """
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise SettingsError(
            # Not repeated: it may hold a secret, and cannot be read well enough to see which.
            f"What {option} is given cannot be read as a command ({error}). Correct its quotes."
        ) from None
    if not words:
        raise SettingsError(f"{option} is given no command. Write it as one would type it.")
    return tuple(words)


def arguments_typed(given: str) -> dict[str, Any]:
    """The object that ``--args`` is.

    Raises:
        SettingsError: it is none.
    """
    try:
        found: Any = exact_json(given)
    except ValueError as error:
        raise SettingsError(f"--args is no JSON ({error}). Correct it.") from None
    if not isinstance(found, dict):
        raise SettingsError("--args is no JSON object. Write {…}.")
    return cast("dict[str, Any]", found)


def exact_json(given: str) -> Any:
    """JSON, without the constants that Python takes for it: another program would read no value.

    Raises:
        ValueError: it is none.
    """
    return json.loads(given, parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


__all__ = ["arguments_typed", "command_typed", "exact_json", "headers_typed"]
