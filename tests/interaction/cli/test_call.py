"""``awhile call``: any tool of any MCP server, of either protocol revision."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from awhile.cli import ends
from tests.interaction.cli.conftest import InThisProcess
from tests.interaction.cli.terminal import Place
from tests.interaction.client.running import RunningServer

WHAT_NOW = "(Ctrl-C leaves): "
HOSTILE = "\x1b[31m\u202eevil"


def served(folder: Path, *options: str) -> Generator[str]:
    server = RunningServer(folder / "tasks.db", *options)
    server.start()
    yield server.url
    server.kill()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A server of 2026-07-28."""
    yield from served(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The same, which knows only 2025-11-25."""
    yield from served(tmp_path_factory.mktemp("older"), "--older")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path / "none.duckdb")


@pytest.fixture
def here(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> InThisProcess:
    return InThisProcess(place, monkeypatch, capfd)


def test_a_tool_is_called_with_typed_arguments(url: str, older: str, here: InThisProcess) -> None:
    """Ours: in both revisions, and what becomes a task is waited for."""
    for server in (url, older):
        done = here.run("call", server, "count", "steps=2", "seconds=0.1")
        assert (done.returncode, done.stdout) == (ends.RESULT, "counted to 2\n")
        said = json.loads(here.run("call", server, "greet", "name=5", "--json").stdout)
        assert said["content"] == [{"type": "text", "text": "Hello, 5!"}]
    done = here.run("call", url, "count", "--args", '{"steps": 1, "seconds": 9}', "seconds=0")
    assert (done.returncode, done.stdout) == (ends.RESULT, "counted to 1\n")


def test_progress_is_told_line_by_line_where_there_is_no_terminal(
    url: str, here: InThisProcess
) -> None:
    """Ours: not every message; and with --quiet nothing but the result."""
    done = here.run("call", url, "count", "steps=20", "seconds=0.06")
    assert (done.returncode, done.stdout) == (ends.RESULT, "counted to 20\n")
    lines = done.stderr.splitlines()
    assert 0 < len(lines) < 10
    assert all(re.fullmatch(r"Running: .*, \d+ %, \d+ of 20, \d+ s", line) for line in lines)
    done = here.run("call", url, "count", "steps=2", "seconds=0.1", "-q")
    assert (done.stdout, done.stderr) == ("counted to 2\n", "")


def test_the_tools_there_are_are_listed_as_they_are_called(url: str, here: InThisProcess) -> None:
    """Ours."""
    said = here.run("call", url).stdout
    assert "count steps=INTEGER seconds=NUMBER\n    Counts; not to be run again.\n" in said
    tools = json.loads(here.run("call", url, "--json").stdout)
    assert "greet" in [tool["name"] for tool in tools]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["gret"], ends.USAGE, "has no tool 'gret'. Did you mean 'greet'?"),
        (["greet"], ends.USAGE, "'greet' needs name (text). Give key=value."),
        (["greet", "nme=x"], ends.USAGE, "no argument 'nme'. Did you mean 'name'?"),
        (["count", "steps=x"], ends.USAGE, "'steps' is given 'x', and takes a whole number"),
        (["greet", "--args", "[]"], ends.USAGE, "--args is no JSON object"),
        (["count", "--args", '{"seconds": NaN}'], ends.USAGE, "--args is no JSON (NaN is no JSON)"),
        (["refuse"], ends.FAILED, "not today"),
        (["fail"], ends.FAILED, "the disk is full"),
        (["break_down"], ends.FAILED, "the gauge broke"),
        (["sure"], ends.FAILED, "It asks something: call it at a terminal"),
    ],
)
def test_what_goes_wrong_ends_with_a_code_and_a_sentence(
    url: str, here: InThisProcess, words: list[str], code: int, said: str
) -> None:
    """Ours: what cannot be right is not sent."""
    done = here.run("call", url, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_cannot_be_reached_is_named(here: InThisProcess) -> None:
    """Ours: without what of its URL may be secret."""
    done = here.run("call", "http://me:pw@127.0.0.1:9/mcp", "greet")
    assert done.returncode == ends.UNREACHABLE
    assert "'http://127.0.0.1:9/mcp' cannot be reached" in done.stderr
    assert here.run("call", "127.0.0.1:9").returncode == ends.USAGE
    assert "No server is named" in here.run("call").stderr


def test_a_server_is_started_by_its_command_and_heard_of_where_it_cannot_be(
    here: InThisProcess,
) -> None:
    """Ours: what it says beside the protocol is shown, and drives no terminal."""
    module = f"-m tests.interaction.client.long_work_server --store {here.folder / 'a.db'}"
    command = f"{sys.executable} {module} --stdio"
    assert here.run("call", "--stdio", command, "greet", "name=you").stdout == "Hello, you!\n"
    script = "import sys; sys.exit('\\x1b[31mno module of that name')"
    broken = shlex.join([sys.executable, "-c", script, "--token", "a-secret"])
    done = here.run("call", "--stdio", broken, "greet")
    assert done.returncode == ends.UNREACHABLE
    assert "\\x1b[31mno module of that name" in done.stderr
    assert "--token [hidden]" in done.stderr
    assert "a-secret" not in done.stderr


def test_what_a_tool_says_does_not_drive_the_terminal(url: str, here: InThisProcess) -> None:
    """Ours; --json has it exactly."""
    done = here.run("call", url, "greet", f"name={HOSTILE}")
    assert done.stdout == "Hello, \\x1b[31m\\u202eevil!\n"
    said = here.run("call", url, "greet", f"name={HOSTILE}", "--json").stdout
    assert json.loads(said)["content"][0]["text"] == f"Hello, {HOSTILE}!"
    assert "\x1b" not in said


def test_work_that_keeps_running_is_listed_come_back_to_and_stopped_by_its_id(
    url: str, here: InThisProcess
) -> None:
    """Ours: whatever server it is at."""
    with here.at_a_terminal("call", url, "count", "steps=400", "seconds=0.5") as terminal:
        terminal.wait_for("step 2 of 400")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press("k")
        assert terminal.wait() == ends.CANCELLED
        found = re.search(r"Come back with: awhile attach (\w+)", terminal.text)
        assert found
    assert f"count at {url}" in here.run("tasks").stdout
    assert here.run("attach", found[1], "--csv").returncode == ends.USAGE
    done = here.run("cancel", found[1][:8])
    assert done.returncode == ends.RESULT
    assert "Stopped: confirmed after" in done.stderr
    assert here.run("attach", found[1]).returncode == ends.CANCELLED


def test_a_stop_that_came_too_late_says_how_to_get_the_result(
    url: str, here: InThisProcess
) -> None:
    """Ours: as for a run of *ask your database*."""
    assert here.run("call", url, "count", "steps=1", "seconds=0").returncode == ends.RESULT
    [work] = json.loads(here.run("tasks", "--json").stdout)
    done = here.run("cancel", work["run_id"])
    assert done.returncode == ends.RESULT
    assert "It had already finished." in done.stderr
    come_back = re.search(r"Its result: awhile (attach \w+)", done.stderr)
    assert come_back
    assert here.run(*come_back[1].split()).stdout == "counted to 1\n"


def test_a_question_is_answered_here_and_a_call_without_a_task_can_be_stopped(
    url: str, older: str, place: Place
) -> None:
    """Ours: hostile words in a question do not drive the terminal either."""
    with place.at_a_terminal("call", older, "delete", f"file={HOSTILE}") as terminal:
        terminal.wait_for("Delete \\x1b[31m\\u202eevil?")
        terminal.wait_for("Confirm (1 to 2, Enter declines): ")
        terminal.type("yes")
        assert terminal.wait() == ends.RESULT
        assert "Deleted " in terminal.text
    marker = place.folder / "held"
    with place.at_a_terminal("call", url, "hold", f"marker={marker}") as terminal:
        terminal.wait_for("25 %")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        assert "keep it running" not in terminal.text
        terminal.press("s")
        assert terminal.wait() == ends.CANCELLED
        assert "Not stopped yet: closing the call asks the server to stop" in terminal.text
