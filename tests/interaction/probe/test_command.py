"""``awhile probe`` as people and programs run it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from awhile.cli.probe import REQUESTS, SECONDS
from awhile.cli.probing import BY_SEVERITY, LEAST
from awhile.probe import Limits, Target
from tests.interaction.cli.terminal import Place
from tests.serving import Served, serving

KEY = "a-secret-of-some-length"
MISLEADING = "tests.interaction.probe.misleading_server"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Generator[Served]:
    """A server whose messages are stale, in a process of its own."""
    folder = tmp_path_factory.mktemp("server")
    with serving(MISLEADING, BENCH_FOLDER=str(folder)) as served:
        yield served


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(folder=tmp_path, database=tmp_path / "none.duckdb")


def test_the_defaults_of_the_flags_are_those_of_the_library() -> None:
    """Ours: written twice, so that the command line starts without the probe."""
    assert (Limits().seconds, Limits().requests) == (SECONDS, REQUESTS)


def test_each_severity_has_an_exit_code_of_its_own() -> None:
    """Ours: and none of another command's."""
    assert sorted(BY_SEVERITY.values()) == [10, 11, 12]
    assert sorted(LEAST.values()) == [1, 2, 3, 4]


def test_without_a_tool_it_reports_and_ends_with_0(server: Served, place: Place) -> None:
    """Ours."""
    done = place.run("probe", server.url)
    assert done.returncode == 0, done.stdout
    assert "A clean sheet" in done.stdout
    assert "no tool called" in done.stdout
    assert done.stderr.splitlines() == [f"Probing {server.url}"]


def test_a_tool_without_the_word_that_it_is_safe_is_not_called_and_it_says_why(
    server: Served, place: Place
) -> None:
    """Ours."""
    done = place.run("probe", server.url, "--tool", "steps")
    assert done.returncode == 2
    assert "without --safe-to-run, so nothing was called" in done.stderr
    assert "up to 5 times" in done.stderr
    assert done.stdout == ""


def test_it_writes_all_reports_and_ends_with_the_worst(server: Served, place: Place) -> None:
    """Ours: and with 0 where only worse things are to fail."""
    html, junit = place.folder / "r.html", place.folder / "r.xml"
    arguments = (server.url, "--era", "2026-07-28", "--tool", "steps", "--safe-to-run")
    done = place.run(
        "probe", *arguments, "--json", "--html", str(html), "--junit", str(junit),
        "--header", "X-Team: a-header-of-some-length",
    )  # fmt: skip
    assert done.returncode == BY_SEVERITY[2], done.stderr
    report = json.loads(done.stdout)
    assert [one["check"] for one in report["findings"] if one["grade"] == "misleads"] == [
        "message-describes-the-end"
    ]
    assert "a-header-of-some-length" not in done.stdout + html.read_text()
    assert html.read_text().startswith("<!doctype html>")
    assert "<testsuites" in junit.read_text()

    saved = place.folder / "saved.json"
    saved.write_text(done.stdout)
    both = place.run("probe", "--compare", str(saved), server.url, "--fail-on", "misleads")
    assert both.returncode == 0, both.stderr  # that of the second one, where no tool was called
    assert "The same in" in both.stdout
    files = ("--compare", str(saved), str(saved))
    same = place.run("probe", *files, "--fail-on", "misleads")
    assert same.returncode == BY_SEVERITY[2]
    assert "Both came to the same in every check." in same.stdout
    assert place.run("probe", *files, "--fail-on", "loses-work").returncode == 0


def test_at_a_terminal_ctrl_c_ends_its_tasks_and_shows_what_was_found(
    server: Served, place: Place
) -> None:
    """Ours."""
    with place.at_a_terminal("probe", server.url, "--tool", "steps", "--safe-to-run") as terminal:
        terminal.wait_for("follow a run of steps")
        terminal.press_ctrl_c()
        assert terminal.wait() == 130
    assert "Ending what is running" in terminal.text
    assert "It ended early: it was stopped" in " ".join(terminal.text.split())
    assert "every task of it has ended" in " ".join(terminal.text.split())


def test_ctrl_c_at_the_first_of_two_servers_shows_what_was_found_of_it(
    server: Served, place: Place
) -> None:
    """Ours: and nothing of the other is begun."""
    both = ("--compare", server.url, "http://127.0.0.1:9/mcp")
    with place.at_a_terminal("probe", *both, "--tool", "steps", "--safe-to-run") as terminal:
        terminal.wait_for("follow a run of steps")
        terminal.press_ctrl_c()
        assert terminal.wait() == 130
    said = " ".join(terminal.text.split())
    assert "It ended early: it was stopped" in said
    assert "127.0.0.1:9" not in said


def test_a_secret_of_the_command_is_in_no_report(place: Place) -> None:
    """Ours."""
    command = f"env MY_TOKEN={KEY} {sys.executable} -c 0 --api-key {KEY}"
    done = place.run("probe", "--stdio", command, "--json")
    assert KEY not in done.stdout + done.stderr
    assert "MY_TOKEN=[hidden]" in done.stderr
    assert "-c 0 --api-key [hidden]" in done.stderr
    target = Target(command=tuple(shlex.split(command)))
    assert target.name == f"env MY_TOKEN=[hidden] {sys.executable} -c 0 --api-key [hidden]"
    assert KEY in target.hidden


def test_sigterm_ends_its_tasks_too(server: Served, place: Place) -> None:
    """Ours: it is how CI stops a job."""
    with place.at_a_terminal("probe", server.url, "--tool", "steps", "--safe-to-run") as terminal:
        terminal.wait_for("follow a run of steps")
        os.kill(terminal.pid, signal.SIGTERM)
        assert terminal.wait() == 130
    assert "every task of it has ended" in " ".join(terminal.text.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Give one of the two"),
        (("http://a/", "http://b/"), "say --compare"),
        (("--compare", "http://a/"), "takes two servers"),
        (("http://a/", "--safe-to-run"), "none is named"),
        (("http://a/", "--tool", "t", "--safe-to-run", "--args", "[1]"), "no JSON object"),
        (("http://a/", "--tool", "t", "--safe-to-run", "--args", "{"), "no JSON"),
        (("http://a/", "--header", "no-colon-but-a-secret"), "Name: value"),
        (("http://a/", "--seconds", "0"), "nothing could be measured"),
        (("http://a/", "--args", '{"year": 2026}'), "none is named"),
        (("http://a/", "--header", "X: no-colon-but-a-secret é"), "printable ASCII"),
        (("http://a:99999/",), "no host, or a port that is none"),
        (("http:///mcp",), "no host, or a port that is none"),
        (("--stdio", "python 'x"), "Correct its quotes"),
        (("--stdio", "python x", "--token", "t"), "gets no headers"),
        (("http://a/", "--token", "t", "--second-token", "t"), "somebody else's"),
        (("http://a/", "--html", "no/such/folder/r.html"), "nothing was probed"),
    ],
)
def test_a_command_line_that_cannot_be_meant_is_refused(
    arguments: tuple[str, ...], words: str, place: Place
) -> None:
    """Ours."""
    done = place.run("probe", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "no-colon-but-a-secret" not in done.stderr


def test_a_tool_that_the_server_has_not_is_an_error_and_no_clean_sheet(
    server: Served, place: Place
) -> None:
    """Ours: a misspelt name would pass in CI for ever."""
    done = place.run("probe", server.url, "--tool", "stpes", "--safe-to-run")
    assert done.returncode == 2
    assert "'stpes' is not among the tools" in done.stderr
    assert "steps" in done.stderr.partition("Choose one of:")[2]


def test_a_file_that_only_looks_like_a_report_is_refused(place: Place) -> None:
    """Ours: a part of it would end up in a page."""
    fake = place.folder / "fake.json"
    fake.write_text('{"findings": []}')
    done = place.run("probe", "--compare", str(fake), str(fake))
    assert done.returncode == 2
    assert "is no report" in done.stderr


def test_where_nobody_answers_it_ends_with_4(place: Place) -> None:
    """Ours."""
    done = place.run("probe", "http://127.0.0.1:9/mcp")
    assert done.returncode == 4
    assert "does not answer" in done.stderr
