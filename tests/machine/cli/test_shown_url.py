"""A URL as people may see it: on a screen, in `awhile config` and `awhile top`."""

from __future__ import annotations

import pytest

from awhile.cli.overseen import shown_url


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("sqlite:///data/tasks.sqlite", "sqlite:///data/tasks.sqlite"),
        ("postgresql://me@h:5432/db?schema=a", "postgresql://me@h:5432/db?schema=a"),
        ("postgresql://me:pw@h:5432/db?schema=a", "postgresql://me:…@h:5432/db?schema=a"),
        ("mysql://me:hun/ter2@h/db", "mysql://me:…@h/db"),
        ("mysql://me:hun?t@er2@h/db", "mysql://me:…@h/db"),
        ("mysql://me@h/db?ssl_key_password=hunter2&x=1", "mysql://me@h/db?ssl_key_password=…&x=1"),
        ("mssql+pyodbc:///?odbc_connect=PWD%3Dhunter2", "mssql+pyodbc:///?odbc_connect=…"),
    ],
)
def test_nothing_secret_of_a_url_is_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown
