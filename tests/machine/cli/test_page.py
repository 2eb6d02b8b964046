"""``awhile page``: what it needs to be told, and what it makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.cli.page import NEEDED, setup_of
from awhile.cli.settings import ENTRIES, Settings, read_settings
from awhile.errors import SettingsError

GIVEN = {
    "AWHILE_SERVER_URL": "https://mcp.example.org/mcp",
    "AWHILE_PAGE_URL": "https://ask.example.org",
    "AWHILE_TOKEN_ISSUER": "https://login.example.org",
    "AWHILE_OIDC_CLIENT_ID": "page",
}


def settings(folder: Path, **more: str) -> Settings:
    said = {**GIVEN, "AWHILE_DATA_FOLDER": str(folder), **more}
    return read_settings(environment=said).settings


@pytest.mark.parametrize("name", NEEDED)
def test_what_is_missing_is_named_with_how_to_give_it(tmp_path: Path, name: str) -> None:
    entry = ENTRIES[name]
    with pytest.raises(SettingsError, match=f"{entry.flag} or {entry.variable}"):
        setup_of(settings(tmp_path, **{entry.variable: ""}))


def test_tokens_are_for_the_server_unless_another_audience_is_named(tmp_path: Path) -> None:
    assert setup_of(settings(tmp_path)).resource == "https://mcp.example.org/mcp"
    named = setup_of(settings(tmp_path, AWHILE_TOKEN_AUDIENCE="api://ask"))  # noqa: S106
    assert named.resource == "api://ask"


def test_a_key_is_made_once_and_kept_unless_one_is_given(tmp_path: Path) -> None:
    first = setup_of(settings(tmp_path))
    assert first.keys == setup_of(settings(tmp_path)).keys
    assert len(first.keys[0]) == 64
    new, old = "n" * 32, "o" * 32
    assert setup_of(settings(tmp_path, AWHILE_SESSION_KEY=f"{new},{old}")).keys == (new, old)


def test_no_secret_is_shown(tmp_path: Path) -> None:
    setup = setup_of(settings(tmp_path, AWHILE_OIDC_CLIENT_SECRET="s3cret"))  # noqa: S106
    assert setup.client_secret == "s3cret"  # noqa: S105
    for secret in ("s3cret", setup.keys[0]):
        assert secret not in repr(setup)
