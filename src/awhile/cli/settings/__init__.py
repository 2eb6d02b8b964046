"""Every setting: the table, and how it is read from flags, variables and the file."""

from awhile.cli.entries import Entry
from awhile.cli.settings.read import CONFIG_VARIABLE, Effective, option, read_settings
from awhile.cli.settings.table import ENTRIES, Settings

__all__ = [
    "CONFIG_VARIABLE",
    "ENTRIES",
    "Effective",
    "Entry",
    "Settings",
    "option",
    "read_settings",
]
