"""What ``awhile serve`` and ``awhile worker`` refuse: in one line, with the next step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from awhile.cli import ends
from awhile.cli.deploy import share_keys
from awhile.cli.settings import read_settings
from awhile.cli.target import load
from awhile.errors import SettingsError
from awhile.stores.sqlite import SqliteStore
from tests.interaction.cli.terminal import Place

HERE = "tests.interaction.fleet.module"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path, tmp_path / "none.duckdb")


def refused(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == ends.USAGE, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    for one in words:
        assert one in done.stderr


@pytest.mark.parametrize("command", ["serve", "worker"])
def test_a_module_that_is_not_there_is_refused(place: Place, command: str) -> None:
    """Ours."""
    done = place.run(command, "no_such_module_here:mcp")
    refused(done, "There is no module 'no_such_module_here'", "Go to the folder it is in")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("reports.py", "Write module:name, as Python imports it"),
        (f"{HERE}:nothing", "has no 'nothing'. It has: 'mcp', 'older', 'no_tasks'."),
        (f"{HERE}:tasks", "is 'Tasks' and no MCPServer"),
        (f"{HERE}:no_tasks", "has no tasks, so there is nothing to keep"),
        ("tests.no_such.module:mcp", "There is no module 'tests.no_such'"),
    ],
)
def test_a_target_that_is_no_server_with_tasks_is_refused(target: str, words: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError) as why:
        load(target)
    assert words in str(why.value)


def test_what_a_module_itself_cannot_import_is_its_authors_to_see(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: with the traceback."""
    (tmp_path / "needs_more.py").write_text("import not_installed_at_all\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(ModuleNotFoundError, match="not_installed_at_all"):
        load("needs_more:mcp")


def test_a_store_that_is_not_installed_is_refused(place: Place) -> None:
    """Ours."""
    done = place.run("worker", f"{HERE}:mcp", "--store=mysql://somewhere/tasks")
    refused(done, "No store is installed for 'mysql' URLs")


def test_a_worker_without_slots_is_refused(place: Place) -> None:
    """Ours."""
    refused(place.run("worker", f"{HERE}:mcp", "--slots=0"), "slots is 0", "use at least 1")


def test_a_flag_of_the_database_app_is_refused_with_a_module(place: Place) -> None:
    """Ours."""
    done = place.run("serve", f"{HERE}:mcp", "--sample=tiny")
    refused(done, "--sample is for the database app", "leave one of the two out")


def test_the_database_app_without_slots_is_refused(place: Place) -> None:
    """Ours: it has no workers beside it."""
    refused(place.run("serve", "--slots=0", "--port=0"), "no question would ever be answered")


def test_servers_that_may_be_on_several_machines_need_a_key(tmp_path: Path) -> None:
    """Ours: the error has the command that makes one; --single-replica says it is not needed."""
    server, tasks = load(f"{HERE}:mcp")
    tasks.deploy(store=SqliteStore(tmp_path / "tasks.db"))  # not by URL: who knows where it is
    none = {"AWHILE_CONFIG": str(tmp_path / "config.toml")}
    (tmp_path / "config.toml").touch()
    with pytest.raises(SettingsError) as why:
        share_keys(server, tasks, read_settings({}, none))
    assert "print(secrets.token_hex(32))" in str(why.value)
    assert "AWHILE_REQUEST_STATE_KEY" in str(why.value)
    share_keys(server, tasks, read_settings({"single_replica": True}, none))
    share_keys(server, tasks, read_settings({}, {**none, "AWHILE_REQUEST_STATE_KEY": "k" * 32}))


def test_a_key_is_never_shown(place: Place) -> None:
    """Ours: neither by `awhile config` nor by a refusal."""
    secret = "s3cret" * 8
    for more in ((), ("--json",)):
        shown = place.run("config", *more, AWHILE_REQUEST_STATE_KEY=secret)
        assert shown.returncode == 0
        assert secret not in shown.stdout
        assert "(set, not shown)" in shown.stdout
    short = place.run("config", AWHILE_REQUEST_STATE_KEY="s3cret")
    refused(short, "request_state_key is set", "a secret of 32 letters or more")
    assert "s3cret" not in short.stderr


def test_servers_of_one_user_on_a_file_share_a_key_that_is_kept(tmp_path: Path) -> None:
    """Ours: so a restart, too, leaves questions that are open answerable."""
    server, tasks = load(f"{HERE}:mcp")
    tasks.deploy(store=f"sqlite:///{tmp_path}/tasks.db")
    (tmp_path / "config.toml").touch()
    environment = {
        "AWHILE_CONFIG": str(tmp_path / "config.toml"),
        "AWHILE_DATA_FOLDER": str(tmp_path / "data"),
    }
    file = tmp_path / "data" / "request-state-key"
    share_keys(server, tasks, read_settings({}, environment))
    before = file.read_text()
    share_keys(server, tasks, read_settings({}, environment))
    assert file.read_text() == before
    assert file.stat().st_mode & 0o077 == 0
