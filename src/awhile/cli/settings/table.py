"""Every setting there is, in one table: the fields of `Settings`.

Each is a flag (``--lease-seconds``), an environment variable (``AWHILE_LEASE_SECONDS``) and a key
of the TOML file. The parts of the table stand in the modules beside this one, each a class that
goes on from the part before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from awhile.cli.entries import Entry
from awhile.cli.settings.reaching import Reaching


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings(Reaching):
    """The effective value of every setting; see the table in ``docs/settings.md``."""


ENTRIES: Mapping[str, Entry] = {
    one.name: Entry(name=one.name, **one.metadata) for one in fields(Settings)
}
"""The table by name, in order."""


__all__ = ["ENTRIES", "Settings"]
