"""The settings page is the settings table."""

from __future__ import annotations

from pathlib import Path

from awhile.cli.settings import ENTRIES
from awhile.cli.settings_page import settings_page

PAGE = Path(__file__).parents[3] / "docs" / "settings.md"


def test_the_settings_page_is_drawn_from_the_table() -> None:
    """Ours. `python -m awhile.cli.settings_page > docs/settings.md` draws it anew."""
    assert PAGE.read_text(encoding="utf-8") == settings_page()


def test_the_settings_page_has_a_line_for_every_setting() -> None:
    """Ours."""
    for entry in ENTRIES.values():
        assert f"| `{entry.name}` | " in settings_page()
        assert (f" `{entry.flag}`" in settings_page()) is not entry.kind.secret
