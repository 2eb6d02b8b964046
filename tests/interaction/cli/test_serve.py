"""``awhile serve`` and ``awhile app`` as processes: what they print, refuse, and leave behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import urllib.error
import urllib.request
from urllib.parse import urljoin

import duckdb
import psutil
import pytest
from mcp.client.stdio import StdioServerParameters

from awhile.cli import ends
from awhile.client import connect
from tests.interaction.cli.conftest import HEAVY
from tests.interaction.cli.terminal import AWHILE, Place, wait_until

STOP_SECONDS = 20.0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_server_prints_its_url_first_and_leaves_nothing_behind(
    place: Place, ending: signal.Signals
) -> None:
    """Ours."""
    with place.started("serve", "--port=0") as server:
        assert server.stdout is not None
        assert server.stderr is not None
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        assert len(place.announced) == 1
        server.send_signal(ending)
        assert server.wait(STOP_SECONDS) == 0
        assert server.stderr.read() in ("", "Stopped.\n")
        assert place.announced == []


def test_a_server_ends_when_its_standard_input_closes_where_that_was_asked(place: Place) -> None:
    """Ours: so it ends with its parent, however that ends."""
    arguments = ("serve", "--port=0", "--until-stdin-closes")
    with place.started(*arguments, stdin=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        server.stdout.readline()
        server.stdin.close()
        assert server.wait(STOP_SECONDS) == 0


@pytest.mark.anyio
async def test_a_server_that_is_let_go_on_purpose_ends_by_itself_once_nothing_runs(
    place: Place,
) -> None:
    """Ours: and not before."""
    arguments = ("serve", "--port=0", "--until-stdin-closes")
    with place.started(*arguments, stdin=subprocess.PIPE) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        async with connect(server.stdout.readline().strip(), ledger=None) as there:
            handle = await there.start("run_sql", {"sql": HEAVY})
            server.stdin.write("linger 0.1\n")
            server.stdin.flush()
            assert server.stdout.readline() == "lingers\n"
            server.stdin.close()
            with pytest.raises(subprocess.TimeoutExpired):
                server.wait(1.0)
            await handle.cancel()
        assert server.wait(STOP_SECONDS) == 0
        assert place.announced == []


@pytest.mark.anyio
async def test_stdio_serves_the_same_tools(place: Place) -> None:
    """Ours."""
    command = StdioServerParameters(
        command=AWHILE[0], args=[*AWHILE[1:], "serve", "--stdio"], env=place.environment
    )
    async with connect(command, ledger=None) as server:
        names = {tool.name for tool in await server.list_tools()}
        assert {"ask", "run_sql", "describe_database", "result_rows", "list_runs"} <= names
        result = await server.call("run_sql", {"sql": "SELECT 42 AS answer"})
        assert (result.structured_content or {})["rows"] == [["42"]]


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_stdio_ends_on_a_signal_though_its_standard_input_is_open(
    place: Place, ending: signal.Signals
) -> None:
    """Ours."""
    with place.started("serve", "--stdio", stdin=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        hello = {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        assert json.loads(server.stdout.readline())["id"] == 1
        server.send_signal(ending)
        assert server.wait(STOP_SECONDS) == -ending


def test_a_taken_port_is_refused_with_the_next_step(place: Place) -> None:
    """Ours."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = place.run("serve", f"--port={port}")
    assert done.returncode == ends.USAGE
    assert f"127.0.0.1:{port} cannot be listened on" in done.stderr
    assert "Choose another port" in done.stderr


def test_an_address_others_could_reach_is_refused(place: Place) -> None:
    """Ours: callers are anonymous."""
    done = place.run("serve", "--port=0", "--host=0.0.0.0")
    assert done.returncode == ends.USAGE
    assert "'0.0.0.0'" in done.stderr


def test_a_missing_database_is_refused(place: Place) -> None:
    """Ours."""
    done = place.run("serve", "--port=0", "--database", str(place.folder / "none.duckdb"))
    assert done.returncode == ends.USAGE
    assert "there is no file" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_duckdb_database_is_refused(place: Place) -> None:
    """Ours."""
    other = place.folder / "notes.duckdb"
    other.write_text("no database at all " * 1000)
    done = place.run("serve", "--port=0", "--database", str(other))
    assert done.returncode == ends.USAGE
    assert "not a DuckDB database" in done.stderr


def test_a_database_open_for_writing_elsewhere_is_refused(place: Place) -> None:
    """Ours."""
    with duckdb.connect(place.database):
        done = place.run("serve", "--port=0")
    assert done.returncode == ends.USAGE
    assert f"(PID {os.getpid()})" in done.stderr


@pytest.mark.parametrize("command", ["serve", "app", "ask"])
def test_a_data_folder_that_cannot_be_made_is_refused(place: Place, command: str) -> None:
    """Ours: a file is in the way, which also stops root."""
    (place.folder / "file").touch()
    arguments = ["how many products?"] if command == "ask" else []
    done = place.run(command, *arguments, "--data-folder", str(place.folder / "file" / "data"))
    assert done.returncode == ends.USAGE
    assert "cannot be written" in done.stderr
    assert "--data-folder" in done.stderr


def test_a_store_of_an_unknown_kind_is_refused(place: Place) -> None:
    """Ours."""
    done = place.run("serve", "--port=0", "--store=mysql://somewhere/tasks")
    assert done.returncode == ends.USAGE
    assert "'mysql'" in done.stderr


def answers(url: str) -> int:
    """The status of the page without its key, or 0 if nothing answers."""
    try:
        with urllib.request.urlopen(url.partition("?")[0], timeout=5) as response:  # noqa: S310
            return int(response.status)
    except urllib.error.HTTPError as no:
        with no:
            return no.code
    except OSError:
        return 0


def servers_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The MCP servers that a running app started."""
    return [child for child in psutil.Process(process.pid).children() if "serve" in child.cmdline()]


APP = ("app", "--port=0", "--page-port=0")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_the_app_prints_the_pages_address_and_ends_both_processes(
    place: Place, ending: signal.Signals
) -> None:
    """Ours: without its key the page says 401; no traceback is left behind."""
    with place.started(*APP) as app:
        assert app.stdout is not None
        url = app.stdout.readline().strip()
        assert "?token=" in url
        assert answers(url) == 401
        (server,) = servers_of(app)
        app.send_signal(ending)
        assert app.wait(STOP_SECONDS) == 0
        assert app.stderr is not None
        assert "Traceback" not in app.stderr.read()
        assert not server.is_running()
        assert answers(url) == 0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_app_whose_page_is_open_in_a_tab_ends_its_stream_and_says_no_more(
    place: Place, ending: signal.Signals
) -> None:
    """Ours: it took 2 s longer and left fifty lines of traceback, with every tab."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with place.started(*APP) as app:
        assert app.stdout is not None
        url = app.stdout.readline().strip()
        with browser.open(url, timeout=STOP_SECONDS):
            pass
        with browser.open(urljoin(url, "/api/events"), timeout=STOP_SECONDS) as stream:
            assert stream.readline().startswith(b"id: ")
            app.send_signal(ending)
            stream.read()  # to its end: one that is cut off is an error
        assert app.wait(STOP_SECONDS) == 0
        assert app.stderr is not None
        assert app.stderr.read() in ("", "Stopped.\n")


def test_apps_that_are_started_at_the_same_moment_have_a_port_each(place: Place) -> None:
    """Ours: both had found the usual ones free, and the second one's server could not start."""
    with place.started("app") as one, place.started("app") as other:
        urls: set[str] = set()
        for app in (one, other):
            assert app.stdout is not None
            urls.add(app.stdout.readline().strip())
        assert [answers(url) for url in urls] == [401, 401]
        assert len(place.announced) == 2


def test_the_app_starts_a_killed_server_again_at_the_same_address(place: Place) -> None:
    """Ours: and says so in one line."""
    with place.started(*APP) as app:
        assert app.stdout is not None
        assert app.stderr is not None
        app.stdout.readline()
        (server,) = servers_of(app)
        before = place.announced[0].read_text()
        server.kill()
        said = app.stderr.readline()
        assert said == "The MCP server was ended by SIGKILL; starting it again in 0.5 s.\n"
        wait_until(lambda: len(place.announced) == 2, "the server is back")
        after = max(place.announced, key=lambda file: file.stat().st_mtime).read_text()
        assert before.split('"')[3] == after.split('"')[3]


def test_a_killed_app_takes_its_server_with_it(place: Place) -> None:
    """Ours."""
    with place.started(*APP) as app:
        assert app.stdout is not None
        app.stdout.readline()
        (server,) = servers_of(app)
        app.kill()
        wait_until(lambda: not server.is_running(), "the server has ended", STOP_SECONDS)


def test_the_app_ends_as_its_server_does_if_that_cannot_start(place: Place) -> None:
    """Ours: the server has said why."""
    done = place.run(*APP, "--database", str(place.folder / "none.duckdb"))
    assert done.returncode == ends.USAGE
    assert "there is no file" in done.stderr
    assert done.stderr.count("\n") == 1
