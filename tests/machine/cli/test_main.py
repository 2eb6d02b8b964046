"""The program's frame: its commands, its exit codes, its refusals."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from awhile.cli import ends, main
from awhile.errors import ProtocolFailed, SettingsError, Unreachable
from awhile.extras import command_to_add


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of ``awhile`` with these arguments, in this process."""
    monkeypatch.setattr(sys, "argv", ["awhile", *arguments])
    with pytest.raises(SystemExit) as left:
        main.main()
    return int(left.value.code or 0)


@pytest.mark.parametrize("command", ["config", "serve", "app", "ask", "attach", "tasks", "cancel"])
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
