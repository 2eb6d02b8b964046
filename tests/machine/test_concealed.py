"""Command lines as they may be shown."""

from __future__ import annotations

import shlex

import pytest

from awhile.concealed import is_secret, secrets_of, shown_command


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("server --token abc", "server --token [hidden]"),
        ("server --token=abc --port 80", "server --token=[hidden] --port 80"),
        ("server --api-key s3cret run", "server --api-key [hidden] run"),
        ("env OPENAI_API_KEY=abc DEBUG=1 server", "env OPENAI_API_KEY=[hidden] DEBUG=1 server"),
        ("server KEY=abc", "server KEY=[hidden]"),
        ("server --dbPassword 'a b'", "server --dbPassword [hidden]"),
        ("server -H 'X-Team: blue'", "server -H 'X-Team: [hidden]'"),
        (
            "server --header=Authorization:\\ Bearer\\ abc",
            "server '--header=Authorization: [hidden]'",
        ),
        ("server postgresql://me:pw@db/x", "server postgresql://me:[hidden]@db/x"),
        ("server https://h/x?token=abc&a=1", "server 'https://h/x?token=[hidden]&a=1'"),
        ("sh -c 'TOKEN=abc exec server'", "sh -c 'TOKEN=[hidden] exec server'"),
        ("server sk-ant-0123456789abcdef", "server [hidden]"),
        ("server --token --verbose", "server --token --verbose"),
        ("server --max-tokens 100 --tokenizer x", "server --max-tokens 100 --tokenizer x"),
        ("server --token-file /run/t --sort-key a", "server --token-file /run/t --sort-key a"),
        ("server --author me --keyword k", "server --author me --keyword k"),
        ("npx -y @scope/server 'a b'", "npx -y @scope/server 'a b'"),
    ],
)
def test_what_looks_like_a_secret_is_hidden_and_nothing_else(typed: str, shown: str) -> None:
    """Ours."""
    assert shown_command(shlex.split(typed)) == shown


def test_what_was_hidden_is_known_so_that_it_can_be_hidden_elsewhere() -> None:
    """Ours: a server may repeat its key in a message."""
    words = shlex.split("env A_TOKEN=one server --password two -H 'X: three' http://a:four@b/")
    assert secrets_of(words) == ("one", "two", "three", "four")
    assert secrets_of(["server", "--port", "80"]) == ()


def test_a_name_is_known_by_its_words_however_they_are_joined() -> None:
    """Ours."""
    for name in ("token", "API_KEY", "apiKey", "--client-secret", "authtoken", "PGPASSWORD"):
        assert is_secret(name), name
    for name in ("tokens", "monkey", "primary-key", "token_type", "compass", ""):
        assert not is_secret(name), name
