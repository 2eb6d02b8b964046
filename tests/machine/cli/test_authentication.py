"""Whom a server lets in, as its settings have it."""

from __future__ import annotations

import sys

import pytest

from awhile.cli.authentication import authentication_of
from awhile.cli.settings import Settings, read_settings
from awhile.errors import SettingsError

ISSUER = {"AWHILE_TOKEN_ISSUER": "https://login.example.org"}
PUBLIC = {"AWHILE_PUBLIC_URL": "https://mcp.example.org/mcp"}


def settings(*said: dict[str, str]) -> Settings:
    environment = {name: value for one in said for name, value in one.items()}
    return read_settings(environment=environment).settings


def test_without_an_issuer_callers_are_anonymous() -> None:
    assert authentication_of(settings()) is None


def test_tokens_are_for_the_public_url_unless_another_audience_is_named() -> None:
    for said, audience in ({}, None), ({"AWHILE_TOKEN_AUDIENCE": "api://ask"}, "api://ask"):
        found = authentication_of(settings(ISSUER, PUBLIC, said))
        assert found is not None
        assert (found.issuer.url, found.audience) == ("https://login.example.org", audience)
        assert found.public_url == "https://mcp.example.org/mcp"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ((PUBLIC,), "anybody could read and stop every task"),
        ((ISSUER,), "Give the URL by which they call this server"),
        (({"AWHILE_TOKEN_ISSUER": "http://login.example.org"}, PUBLIC), "token_issuer is"),
        ((ISSUER, {"AWHILE_PUBLIC_URL": "http://mcp.example.org/mcp"}), "public_url is"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(
    said: tuple[dict[str, str], ...], why: str
) -> None:
    with pytest.raises(SettingsError, match=why):
        authentication_of(settings(*said))


def test_what_is_missing_is_named_with_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "joserfc", None)
    with pytest.raises(SettingsError, match=r"\[served\]"):
        authentication_of(settings(ISSUER, PUBLIC))
