"""Who asks is shown to the one server it is meant for. Source: ours; RFC 6750, section 5.3 (tokens
go over TLS)."""

from __future__ import annotations

from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from awhile.cli import ends
from awhile.cli.credentials import credentials_for
from awhile.cli.settings import read_settings
from awhile.errors import SettingsError
from tests.interaction.cli.conftest import InThisProcess
from tests.interaction.cli.terminal import Place


class Gate:
    """A server that refuses everybody, and writes down what it was shown."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.shown: set[str | None] = set()


@pytest.fixture
def gate() -> Generator[Gate]:
    class Refusing(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            gate.shown.add(self.headers["authorization"])
            self.rfile.read(int(self.headers["content-length"] or 0))
            self.send_response_only(401)  # `send_response` writes a line of its own
            self.send_header("content-length", "0")
            self.end_headers()

    with HTTPServer(("127.0.0.1", 0), Refusing) as server:
        gate = Gate(f"http://127.0.0.1:{server.server_port}/mcp")
        serving = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        yield gate
        server.shutdown()
        serving.join()


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> InThisProcess:
    return InThisProcess(Place(tmp_path, tmp_path / "none.duckdb"), monkeypatch, capfd)


@pytest.mark.parametrize("command", [("call",), ("ask", "how many?", "--url")])
def test_a_token_is_shown_to_the_server_it_is_for_and_to_no_other(
    here: InThisProcess, monkeypatch: pytest.MonkeyPatch, gate: Gate, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("AWHILE_SERVER_TOKEN", "t")
    done = here.run(*command, gate.url)
    assert (done.returncode, gate.shown) == (ends.USAGE, set())
    assert "server_token is set (from the variable AWHILE_SERVER_TOKEN), and not which" in (
        done.stderr
    )
    monkeypatch.setenv("AWHILE_SERVER_URL", "https://mcp.example/mcp")
    done = here.run(*command, gate.url)
    assert (done.returncode, gate.shown) == (ends.FAILED, {None})
    assert "refuses whoever asks (HTTP 401). server_token is for 'https://mcp.example/mcp'" in (
        done.stderr
    )
    monkeypatch.setenv("OTHER", "their-own")
    done = here.run(*command, gate.url, "--token-from=env:OTHER")
    assert (done.returncode, gate.shown) == (ends.FAILED, {None, "Bearer their-own"})
    assert "the token has expired" in done.stderr
    monkeypatch.setenv("AWHILE_SERVER_URL", gate.url.replace("/mcp", "/another/mcp"))
    here.run(*command, gate.url)
    assert gate.shown == {None, "Bearer their-own", "Bearer t"}


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "ALL_PROXY"])
def test_what_is_for_this_machine_takes_no_way_through_a_proxy(
    here: InThisProcess, monkeypatch: pytest.MonkeyPatch, gate: Gate, variable: str
) -> None:
    """Ours: a proxy reads what is not encrypted, tokens included."""
    for name in ("http_proxy", "all_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, gate.url.removesuffix("/mcp"))
    monkeypatch.setenv("AWHILE_SERVER_URL", "http://127.0.0.1:9/mcp")  # nothing is there
    monkeypatch.setenv("AWHILE_SERVER_TOKEN", "t")
    done = here.run("ask", "how many?")
    assert gate.shown == set()
    assert (done.returncode, "cannot be reached" in done.stderr) == (ends.UNREACHABLE, True)


def credentials(
    url: str, variables: dict[str, str], file: str = "", token_from: str | None = None
) -> dict[str, str]:
    flags = {"server_token_from": token_from, "server_url": "https://named.example/by-a-flag"}
    environment = {**variables, "AWHILE_CONFIG": file} if file else variables
    return dict(credentials_for(read_settings(flags, environment), url).headers)


def test_a_token_stays_with_the_url_that_was_put_down_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('server_url = "https://a.example/mcp"\nserver_token = "of-the-file"\n')
    there = {"AWHILE_SERVER_URL": "https://b.example/mcp"}
    assert credentials("https://b.example/mcp", there, str(file)) == {}
    of_the_file = {"authorization": "Bearer of-the-file"}
    assert credentials("https://a.example/other", there, str(file)) == of_the_file
    assert credentials("https://A.example:443/mcp", {}, str(file)) == of_the_file
    for other in ("https://a.example:8443/mcp", "http://a.example/mcp", "https://named.example/x"):
        assert credentials(other, {}, str(file)) == {}
    token = {"AWHILE_SERVER_TOKEN": "of-the-variable"}
    shown = {"authorization": "Bearer of-the-variable"}
    assert credentials("https://a.example/mcp", token, str(file)) == shown
    assert credentials("https://a.example/mcp", {**token, **there}, str(file)) == {}
    assert credentials("https://b.example/mcp", {**token, **there}, str(file)) == shown


def test_headers_are_kept_with_the_same_server_and_those_of_the_command_go_over_them() -> None:
    variables = {
        "AWHILE_SERVER_URL": "https://a.example/mcp",
        "AWHILE_SERVER_HEADERS": "X-A: 1\nX-B: 2",
    }
    effective = read_settings({}, variables)
    shown = credentials_for(effective, "https://a.example/mcp", ("x-b: 3",))
    assert shown.headers == {"x-a": "1", "x-b": "3"}
    assert credentials_for(effective, "https://b.example/mcp", ("x-b: 3",)).headers == {"x-b": "3"}
    with pytest.raises(SettingsError, match="has no name and colon"):
        credentials_for(effective, "https://a.example/mcp", ("a-secret",))
    for header in (
        "X-Ä: 1",
        "X A: 1",
        "X-A: Ä",
        "X-A: 1\nX-B: 2",
    ):
        with pytest.raises(SettingsError, match="printable ASCII"):
            credentials_for(effective, "https://a.example/mcp", (header,))
    with pytest.raises(SettingsError, match="server_headers is set"):
        read_settings({}, {"AWHILE_SERVER_HEADERS": "X-A: Ä"})
    with pytest.raises(SettingsError, match="server_headers is set"):
        read_settings({}, {"AWHILE_SERVER_HEADERS": "a-secret"})


@pytest.mark.parametrize("url", ["http://a.example/mcp", "http://10.0.0.1:8000/mcp"])
def test_no_token_goes_over_the_net_unencrypted(url: str) -> None:
    variables = {"AWHILE_SERVER_URL": url, "AWHILE_SERVER_TOKEN": "t"}
    with pytest.raises(SettingsError, match=r"without encryption.*https address, or a tunnel"):
        credentials(url, variables)
    for own in ("http://127.0.0.1:8000/mcp", "http://[::1]/mcp", "http://localhost/mcp"):
        shown = credentials(own, {"AWHILE_SERVER_URL": own, "AWHILE_SERVER_TOKEN": "t"})
        assert shown == {"authorization": "Bearer t"}


def test_a_token_that_is_read_is_for_the_server_the_command_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("of-the-command\n")
    beside = {"AWHILE_SERVER_URL": "https://a.example/mcp", "AWHILE_SERVER_TOKEN": "of-a"}
    shown = {"authorization": "Bearer of-the-command"}
    for url in ("https://a.example/mcp", "https://b.example/mcp"):
        assert credentials(url, beside, token_from=str(token)) == shown
    monkeypatch.setenv("OF_A", "from-a-variable")
    named = {"AWHILE_SERVER_URL": "https://a.example/mcp", "AWHILE_SERVER_TOKEN_FROM": "env:OF_A"}
    assert credentials("https://a.example/mcp", named)["authorization"] == "Bearer from-a-variable"
    assert credentials("https://b.example/mcp", named) == {}
    token.write_text("two words: a-secret")
    for source in (str(token), str(tmp_path / "none"), "env:NOT_SET"):
        with pytest.raises(SettingsError, match=r"token.*Correct (it, or )?--token-from") as no:
            credentials("https://b.example/mcp", {}, token_from=source)
        assert "a-secret" not in str(no.value)


@pytest.mark.parametrize("token", ["two words", "a-sécret"])
def test_a_token_that_cannot_be_one_is_refused_and_not_repeated(token: str) -> None:
    """Ours: the server was said not to be reached."""
    beside = {"AWHILE_SERVER_URL": "https://a.example/mcp", "AWHILE_SERVER_TOKEN": token}
    with pytest.raises(SettingsError, match=r"AWHILE_SERVER_TOKEN.* holds no bearer token") as no:
        credentials("https://a.example/mcp", beside)
    assert token not in str(no.value)


def test_a_token_for_no_server_is_not_taken(here: InThisProcess) -> None:
    done = here.run("ask", "how many?", "--token-from=env:TOKEN")
    assert (done.returncode, "none is named" in done.stderr) == (ends.USAGE, True)
    done = here.run("call", "--stdio", "python x.py", "tool", "--token-from=env:TOKEN")
    assert (done.returncode, "about HTTP" in done.stderr) == (ends.USAGE, True)
