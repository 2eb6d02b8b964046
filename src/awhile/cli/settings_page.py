"""The page ``docs/settings.md``, drawn from the table; a test compares.

``python -m awhile.cli.settings_page > docs/settings.md`` draws it anew.
"""

from __future__ import annotations

import sys

from awhile.cli.settings import CONFIG_VARIABLE, ENTRIES

_HEAD = f"""\
# Settings

Every setting is a flag, an environment variable and a key of a TOML file. A flag wins over a
variable, a variable over the file, and the file over the default. The file is `config.toml` in the
platform's configuration folder, or whatever `{CONFIG_VARIABLE}` names; relative paths in it start
from its own folder. `awhile config` prints what holds, and where each value came from.

| Setting (TOML key) | Flag | Variable | Default | Meaning |
|---|---|---|---|---|
"""


def settings_page() -> str:
    """The whole page, as Markdown."""
    rows: list[str] = []
    for one in ENTRIES.values():
        flags = ", ".join(f"`{flag}`" for flag in (one.flag, *one.also))
        flags = "none: others see it" if one.kind.secret else flags
        default = f"`{one.default_words}`" if one.default_words[:1].isdigit() else one.default_words
        rows.append(f"| `{one.name}` | {flags} | `{one.variable}` | {default} | {one.sentence} |")
    return _HEAD + "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
