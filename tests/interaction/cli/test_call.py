"""``awhile call``: any tool of any MCP server, of either protocol revision."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from awhile.cli import ends, main
from tests.interaction.cli.terminal import Place
from tests.interaction.client.running import RunningServer

WHAT_NOW = "(Ctrl-C leaves): "
HOSTILE = "\x1b[31m\u202eevil"

Run = Callable[..., int]


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
def run(place: Place, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``awhile`` in this process, without a terminal; the exit code."""
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)

    def command(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["awhile", *arguments])
        with pytest.raises(SystemExit) as left:
            main.main()
        return int(left.value.code or 0)

    return command


def test_a_tool_is_called_with_typed_arguments(
    url: str, older: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: in both revisions, and what becomes a task is waited for."""
    for server in (url, older):
        assert run("call", server, "count", "steps=2", "seconds=0.1") == ends.RESULT
        assert capsys.readouterr().out == "counted to 2\n"
        assert run("call", server, "greet", "name=5", "--json") == ends.RESULT
        said = json.loads(capsys.readouterr().out)
        assert said["content"] == [{"type": "text", "text": "Hello, 5!"}]
    assert run("call", url, "count", "--args", '{"steps": 1, "seconds": 9}', "seconds=0") == 0
    assert capsys.readouterr().out == "counted to 1\n"


def test_progress_is_told_line_by_line_where_there_is_no_terminal(
    url: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: not every message; and with --quiet nothing but the result."""
    assert run("call", url, "count", "steps=20", "seconds=0.06") == ends.RESULT
    said = capsys.readouterr()
    assert said.out == "counted to 20\n"
    lines = said.err.splitlines()
    assert 0 < len(lines) < 10
    assert all(re.fullmatch(r"Running: .*, \d+ %, \d+ of 20, \d+ s", line) for line in lines)
    assert run("call", url, "count", "steps=2", "seconds=0.1", "-q") == ends.RESULT
    assert capsys.readouterr() == ("counted to 2\n", "")


def test_the_tools_there_are_are_listed_as_they_are_called(
    url: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours."""
    assert run("call", url) == ends.RESULT
    said = capsys.readouterr().out
    assert "count steps=INTEGER seconds=NUMBER\n    Counts; not to be run again.\n" in said
    assert run("call", url, "--json") == ends.RESULT
    assert "greet" in [tool["name"] for tool in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["gret"], ends.USAGE, "has no tool 'gret'. Did you mean 'greet'?"),
        (["greet"], ends.USAGE, "'greet' needs name (text). Give key=value."),
        (["greet", "nme=x"], ends.USAGE, "no argument 'nme'. Did you mean 'name'?"),
        (["count", "steps=x"], ends.USAGE, "'steps' is given 'x', and takes a whole number"),
        (["greet", "--args", "[]"], ends.USAGE, "--args is no JSON object"),
        (["refuse"], ends.FAILED, "not today"),
        (["fail"], ends.FAILED, "the disk is full"),
        (["break_down"], ends.FAILED, "the gauge broke"),
        (["sure"], ends.FAILED, "It asks something: call it at a terminal"),
    ],
)
def test_what_goes_wrong_ends_with_a_code_and_a_sentence(
    url: str,
    run: Run,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    code: int,
    said: str,
) -> None:
    """Ours: what cannot be right is not sent."""
    assert run("call", url, *words) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert said in told.err
    assert "Traceback" not in told.err


def test_a_server_that_cannot_be_reached_is_named(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: without what of its URL may be secret."""
    assert run("call", "http://me:pw@127.0.0.1:9/mcp", "greet") == ends.UNREACHABLE
    said = capsys.readouterr().err
    assert "'http://127.0.0.1:9/mcp' cannot be reached" in said
    assert run("call", "127.0.0.1:9") == ends.USAGE
    assert run("call") == ends.USAGE
    assert "No server is named" in capsys.readouterr().err


def test_a_server_is_started_by_its_command_and_heard_of_where_it_cannot_be(
    place: Place, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: what it says beside the protocol is shown, and drives no terminal."""
    module = f"-m tests.interaction.client.long_work_server --store {place.folder / 'a.db'}"
    command = f"{sys.executable} {module} --stdio"
    assert run("call", "--stdio", command, "greet", "name=you") == ends.RESULT
    assert capsys.readouterr().out == "Hello, you!\n"
    script = "import sys; sys.exit('\\x1b[31mno module of that name')"
    broken = shlex.join([sys.executable, "-c", script, "--token", "a-secret"])
    assert run("call", "--stdio", broken, "greet") == ends.UNREACHABLE
    said = capsys.readouterr().err
    assert "\\x1b[31mno module of that name" in said
    assert "--token [hidden]" in said
    assert "a-secret" not in said


def test_what_a_tool_says_does_not_drive_the_terminal(
    url: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours; --json has it exactly."""
    assert run("call", url, "greet", f"name={HOSTILE}") == ends.RESULT
    assert capsys.readouterr().out == "Hello, \\x1b[31m\\u202eevil!\n"
    assert run("call", url, "greet", f"name={HOSTILE}", "--json") == ends.RESULT
    said = capsys.readouterr().out
    assert json.loads(said)["content"][0]["text"] == f"Hello, {HOSTILE}!"
    assert "\x1b" not in said


def test_work_that_keeps_running_is_listed_come_back_to_and_stopped_by_its_id(
    url: str, place: Place, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: whatever server it is at."""
    with place.at_a_terminal("call", url, "count", "steps=400", "seconds=0.5") as terminal:
        terminal.wait_for("step 2 of 400")
        terminal.press_ctrl_c()
        terminal.wait_for(WHAT_NOW)
        terminal.press("k")
        assert terminal.wait() == ends.CANCELLED
        found = re.search(r"Come back with: awhile attach (\w+)", terminal.text)
        assert found
    assert run("tasks") == ends.RESULT
    assert f"count at {url}" in capsys.readouterr().out
    assert run("attach", found[1], "--csv") == ends.USAGE
    assert run("cancel", found[1][:8]) == ends.RESULT
    assert "Stopped: confirmed after" in capsys.readouterr().err
    assert run("attach", found[1]) == ends.CANCELLED


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
