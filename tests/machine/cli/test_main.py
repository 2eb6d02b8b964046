"""The program's frame: its commands, its exit codes, its refusals."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import EntryPoint, packages_distributions, requires
from pathlib import Path

import pytest

from awhile.ask.cli.installed import NEEDED
from awhile.ask.cli.reach import RUN_TOOLS
from awhile.ask.cli.rows import LONGEST_SHOWN
from awhile.ask.mcp_server.asking import QUERY_TOOLS
from awhile.ask.results.pages import CELL_CHARACTERS
from awhile.cli import ends, main
from awhile.cli.handles import known_ids
from awhile.client import Ledger
from awhile.errors import ProtocolFailed, SettingsError, Unreachable
from awhile.extras import command_to_add
from awhile.tasks import Status
from awhile.wire.snapshot import Snapshot


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of ``awhile`` with these arguments, in this process."""
    monkeypatch.setattr(sys, "argv", ["awhile", *arguments])
    with pytest.raises(SystemExit) as left:
        main.main()
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    "command", ["config", "serve", "app", "ask", "attach", "tasks", "cancel", "call"]
)
def test_every_command_has_a_help_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """Ours."""
    assert run(monkeypatch, command, "--help") == 0
    assert f"awhile {command}" in capsys.readouterr().out


def test_the_help_names_every_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours."""
    run(monkeypatch, "--help")
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for code, meaning in ends.MEANINGS.items():
        assert f"{code}  {meaning}" in lines


def test_a_command_whose_extra_is_missing_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: other commands are not affected."""
    missing = EntryPoint("serve", "awhile_no_such_module:serve", main.GROUP)

    def installed(group: str) -> list[EntryPoint]:
        return [missing] if group == main.GROUP else []

    monkeypatch.setattr(main, "entry_points", installed)
    assert run(monkeypatch, "serve", "--port", "0") == ends.USAGE
    said = capsys.readouterr().err
    assert "awhile_no_such_module" in said
    assert command_to_add("ask") in said
    assert run(monkeypatch, "--help") == 0


def test_without_the_extra_work_of_any_server_is_come_back_to_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Ours: `awhile call` needs no extra, and says to come back with `awhile attach`."""

    def installed(group: str) -> list[EntryPoint]:
        return [EntryPoint("attach", "awhile_no_such_module:attach", group)]

    monkeypatch.setattr(main, "entry_points", installed)
    monkeypatch.setenv("AWHILE_DATA_FOLDER", str(tmp_path))
    assert run(monkeypatch, "attach", "ffff") == ends.USAGE
    assert "No work of this terminal has an id that begins with 'ffff'" in capsys.readouterr().err


def test_what_the_commands_need_is_what_the_extra_brings() -> None:
    """Ours: written by hand, so that nothing is loaded to find out."""
    brought = packages_distributions()
    needed = {brought[name][0].lower() for name in NEEDED}
    listed = [
        requirement.partition(";")[0]
        for requirement in requires("awhile") or []
        if requirement.partition(";")[2].replace("'", '"').strip() == 'extra == "ask"'
    ]
    assert needed == {re.split(r"[<>=!~\[ ]", one)[0].lower() for one in listed}


def test_the_tools_of_runs_are_those_of_the_server() -> None:
    """Ours: written twice, so that the command line starts without the server."""
    assert RUN_TOOLS == QUERY_TOOLS


def test_a_cell_is_known_to_be_cut_by_the_length_at_which_the_server_cuts() -> None:
    """Ours: written twice, for the same reason."""
    assert LONGEST_SHOWN == CELL_CHARACTERS


def test_shells_are_offered_ids_and_nothing_that_means_anything_to_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ours: what a question holds may be evaluated there."""
    monkeypatch.setenv("AWHILE_DATA_FOLDER", str(tmp_path))
    ledger = Ledger(tmp_path / "handles.sqlite3")
    for task_id in ("aa1", "ab2"):
        task = Snapshot(
            task_id=task_id, status=Status.WORKING, created_at_ms=0, last_updated_at_ms=0
        )
        ledger.add("http://h/mcp", task, tool="ask", arguments={"question": "$(rm) `x` 'a' \x1b"})
    ledger.close()
    assert known_ids("aa") == [("aa1", "working: rm x a x1b")]
    assert sorted(one for one, _ in known_ids("")) == ["aa1", "ab2"]
    monkeypatch.setenv("AWHILE_PORT", "x")
    assert known_ids("") == []


def test_help_and_completion_load_neither_the_sdk_nor_the_app() -> None:
    """Ours: both come while somebody types."""
    script = (
        "import sys; from typer.testing import CliRunner; from awhile.cli.main import app; "
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0; "
        "loaded = {'mcp', 'duckdb', 'pyarrow', 'pydantic', 'starlette'} & set(sys.modules); "
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_bad_setting_ends_as_one_line_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours."""
    monkeypatch.setenv("AWHILE_PORT", "abc")
    assert run(monkeypatch, "config") == ends.USAGE
    said = capsys.readouterr().err
    assert said.startswith("awhile: port is 'abc' (from the variable AWHILE_PORT)")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SettingsError(""), ends.USAGE),
        (Unreachable(""), ends.UNREACHABLE),
        (ProtocolFailed("", code=1), ends.FAILED),
    ],
)
def test_each_kind_of_error_has_its_exit_code(
    error: SettingsError | Unreachable | ProtocolFailed, code: int
) -> None:
    """Ours."""
    assert ends.exit_code(error) == code


def test_the_frame_imports_nothing_of_the_app() -> None:
    """Ours: `awhile config` works without the extra."""
    script = (
        "import sys, awhile.cli.main; "
        "sys.exit(any(name.startswith('awhile.ask') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_the_documentation_has_the_same_exit_codes() -> None:
    """Ours."""
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    rows = [f"| {code} | {meaning} |" for code, meaning in ends.MEANINGS.items()]
    assert "\n".join(rows) in page
