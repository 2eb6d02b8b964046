"""From flags, variables and the TOML file to the settings that hold, and where each came from.

A flag wins over a variable, that over the file, and that over the default. Only this module reads
the environment, but for the keys of models.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs
import typer

from awhile.cli.entries import PREFIX, Entry
from awhile.cli.kinds import YES_OR_NO
from awhile.cli.settings.table import ENTRIES, Settings
from awhile.errors import SettingsError

CONFIG_VARIABLE = "AWHILE_CONFIG"
"""Names the TOML file; it is no setting itself, since it says where settings are."""

CREDENTIALS = ("server_token", "server_token_from", "server_headers")
"""The settings that show a server who asks."""


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings as they hold, and where each came from (``"default"``, or a phrase)."""

    settings: Settings
    origins: Mapping[str, str]
    config_file: Path
    """The TOML file, whether it is there or not."""
    unused_variables: Mapping[str, str | None]
    """Variables that look like settings and are none, each with the nearest that is one."""
    shown_to: Mapping[str, str | None]
    """The URL of the one server that each of `CREDENTIALS` is for, if it came from a variable or
    the file; None where none was named there."""

    def given(self, name: str) -> bool:
        """Whether somebody set it, rather than the default."""
        return self.origins[name] != "default"

    def by_flag(self, name: str) -> bool:
        """Whether it was set on this command line."""
        return self.origins[name] == f"the flag {ENTRIES[name].flag}"


def option(name: str) -> Any:
    """The Typer option of one setting, made from the table so that it cannot drift from it."""
    entry = ENTRIES[name]
    negation = f"/--no-{entry.flag[2:]}" if entry.kind is YES_OR_NO else ""
    return typer.Option(
        f"{entry.flag}{negation}",
        *entry.also,
        help=f"{entry.sentence} [{entry.variable}; default: {entry.default_words}]",
        metavar=entry.kind.metavar or None,
        show_default=False,
    )


def read_settings(
    flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Effective:
    """The settings that hold, given the flags of this command (None: not given).

    Raises:
        SettingsError: a value, or the TOML file, cannot be used.
    """
    environment = os.environ if environment is None else environment
    config_file = _config_file(environment)
    from_file = _read_file(config_file, named=CONFIG_VARIABLE in environment)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, entry in ENTRIES.items():
        raw, origin, folder = None, "default", Path.cwd()
        if flags is not None and flags.get(name) not in (None, [], ()):
            raw, origin = flags[name], f"the flag {entry.flag}"
        elif environment.get(entry.variable):
            raw, origin = environment[entry.variable], f"the variable {entry.variable}"
        elif name in from_file:
            raw, origin = from_file[name], f"the file {str(config_file)!r}"
            folder = config_file.parent
        origins[name] = origin
        values[name] = entry.default(values) if raw is None else _read(entry, raw, origin, folder)
    return Effective(
        Settings(**values),
        origins,
        config_file,
        _unused(environment),
        _shown_to(environment, from_file, origins),
    )


def _read(entry: Entry, raw: object, origin: str, folder: Path) -> Any:
    try:
        return entry.kind.read(raw, folder)
    except ValueError as expected:
        shown = "set" if entry.kind.secret else repr(raw)
        raise SettingsError(
            f"{entry.name} is {shown} (from {origin}), which is not {expected}, so "
            f"{entry.otherwise}. Correct it there; `awhile config` shows every setting."
        ) from None


def _shown_to(
    environment: Mapping[str, str], from_file: Mapping[str, Any], origins: Mapping[str, str]
) -> dict[str, str | None]:
    """A token stays with the URL that it was put down beside: were it for whatever URL wins, that
    of the file would be sent to a server that a variable or a flag names for once."""
    in_file = from_file.get("server_url")
    nearest_url = environment.get(ENTRIES["server_url"].variable) or in_file
    return {
        name: nearest_url if origins[name].startswith("the variable") else in_file
        for name in CREDENTIALS
        if not origins[name].startswith(("the flag", "default"))
    }


def _config_file(environment: Mapping[str, str]) -> Path:
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return platformdirs.user_config_path("awhile", appauthor=False) / "config.toml"


def _read_file(path: Path, *, named: bool) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not named:
            return {}
        raise SettingsError(
            f"{CONFIG_VARIABLE} names {str(path)!r}, and there is no such file, so its settings "
            "would be missed. Correct the variable, or unset it."
        ) from None
    except OSError as error:
        raise SettingsError(
            f"The settings in {str(path)!r} cannot be read ({error.strerror}), so they would be "
            "missed. Make the file readable, or name another one with AWHILE_CONFIG."
        ) from None
    except ValueError as error:  # tomllib's own error, and text that is not UTF-8
        raise SettingsError(
            f"{str(path)!r} is not a TOML file ({error}), so its settings would be missed. "
            "Correct it there."
        ) from None
    for key in found:
        if key not in ENTRIES:
            near = nearest(key)
            meant = f"did you mean {near!r}?" if near else "`awhile config` shows every setting."
            raise SettingsError(
                f"{key!r} in {str(path)!r} is no setting, so it would have no effect; {meant}"
            )
    return found


def _unused(environment: Mapping[str, str]) -> dict[str, str | None]:
    known = {entry.variable for entry in ENTRIES.values()} | {CONFIG_VARIABLE}
    found: dict[str, str | None] = {}
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in known:
            near = nearest(variable.removeprefix(PREFIX).lower())
            found[variable] = ENTRIES[near].variable if near else None
    return found


def nearest(name: str) -> str | None:
    """The setting whose name is most like this one, if any is."""
    return next(iter(difflib.get_close_matches(name.replace("-", "_"), ENTRIES, n=1)), None)


__all__ = ["CONFIG_VARIABLE", "CREDENTIALS", "Effective", "option", "read_settings"]
