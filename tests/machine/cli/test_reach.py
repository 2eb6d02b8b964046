"""Whose work a handle of this terminal is."""

from __future__ import annotations

from pathlib import Path

import pytest

from awhile.ask.cli.folder import DataFolder, model_of
from awhile.ask.cli.inbox import show_runs
from awhile.ask.cli.listing import merged
from awhile.ask.cli.reach import RUN_TOOLS, of_another_kind, run_key
from awhile.cli.settings import Effective, read_settings
from awhile.client import Ledger
from awhile.tasks import Status
from awhile.wire.snapshot import Snapshot

THERE = "http://127.0.0.1:8123/mcp"
RUN_ID = "7d" * 16


@pytest.fixture
def effective(tmp_path: Path) -> Effective:
    return read_settings(environment={"AWHILE_DATA_FOLDER": str(tmp_path)})


def note(effective: Effective, tool: str, **arguments: str) -> None:
    """Note work down at a server, as whoever begins it does."""
    task = Snapshot(task_id=RUN_ID, status=Status.WORKING, created_at_ms=0, last_updated_at_ms=0)
    ledger = Ledger(effective.settings.ledger)
    ledger.add(THERE, task, tool=tool, arguments=arguments)
    ledger.close()


@pytest.mark.parametrize("tool", RUN_TOOLS)
def test_another_servers_tool_of_the_same_name_makes_no_run(
    effective: Effective, capsys: pytest.CaptureFixture[str], tool: str
) -> None:
    """Ours: its work is come back to where it is, and is listed with its server."""
    note(effective, tool, question="anything new?", request_key="7d" * 16)
    found = of_another_kind(effective, RUN_ID[:8])
    assert found is not None
    assert found.server == THERE
    show_runs(effective, 10, as_json_array=False, once=True)
    assert f"anything new? at {THERE}" in capsys.readouterr().out


@pytest.mark.parametrize("tool", RUN_TOOLS)
def test_a_run_is_known_by_its_key(
    effective: Effective, capsys: pytest.CaptureFixture[str], tool: str
) -> None:
    """Ours: its server may have ended, and any other of this data folder has it."""
    note(effective, tool, question="anything new?", request_key=run_key())
    assert of_another_kind(effective, RUN_ID[:8]) is None
    show_runs(effective, 10, as_json_array=False, once=True)
    assert THERE not in capsys.readouterr().out


def test_what_a_program_asked_a_server_that_runs_here_is_a_run_without_a_key(
    effective: Effective,
) -> None:
    """Ours: `awhile call`, or the client."""
    note(effective, "ask", question="anything new?")
    with DataFolder(effective.settings.data_folder).announced(THERE, "sample:tiny"):
        assert of_another_kind(effective, RUN_ID) is None


def test_what_the_server_lists_is_listed_once() -> None:
    """Ours: a program asked it, whose handle does not say that it is one of ours."""
    at = "2026-11-05T10:00:00+00:00"
    run = {"run_id": RUN_ID, "created_at": at}
    other = {"run_id": "8e" * 16, "created_at": at, "server": THERE}
    assert merged([run], [{**run, "server": THERE}, other], 10) == [run, other]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("gguf:own.gguf", "gguf:./sub/../own.gguf", True),
        ("gguf:own.gguf", "gguf:other.gguf", False),
        ("ollama:qwen3:8b", "ollama:qwen3", False),
    ],
)
def test_a_model_is_told_from_another(one: str, other: str, same: bool) -> None:
    """Ours: a file by where it is, however it is written."""
    first, second = (
        model_of(read_settings(environment={"AWHILE_MODEL": each}).settings)
        for each in (one, other)
    )
    assert (first == second) is same


def test_a_password_in_a_models_address_is_not_written_down() -> None:
    """Ours: which servers run is in a file."""
    url = "http://ada:secret@127.0.0.1:8080/v1"
    environment = {"AWHILE_MODEL": "compatible:any", "AWHILE_MODEL_URL": url}
    assert "secret" not in model_of(read_settings(environment=environment).settings)
