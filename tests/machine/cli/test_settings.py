"""Every setting: one table, four sources, one order among them, and refusals that help."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from awhile.ask.sample import SIZES
from awhile.cli.files import with_files
from awhile.cli.settings import ENTRIES, Effective, Settings, read_settings
from awhile.errors import SettingsError


def settings(
    folder: Path,
    *,
    flags: Mapping[str, object] | None = None,
    variables: Mapping[str, str] | None = None,
    toml: str = "",
) -> Effective:
    """What holds, given these three sources and nothing of this machine."""
    file = folder / "config.toml"
    file.write_text(toml)
    return read_settings(flags or {}, {"AWHILE_CONFIG": str(file), **(variables or {})})


def refusal(folder: Path, **sources: object) -> str:
    with pytest.raises(SettingsError) as refused:
        settings(folder, **sources)  # type: ignore[arg-type]
    return str(refused.value)


def test_a_flag_wins_over_a_variable_over_the_file_over_the_default(tmp_path: Path) -> None:
    """Ours."""
    toml = "port = 3\nslots = 3\nrow_budget = 3"
    variables = {"AWHILE_PORT": "2", "AWHILE_SLOTS": "2"}
    found = settings(tmp_path, flags={"port": "1"}, variables=variables, toml=toml)
    values = found.settings
    assert (values.port, values.slots, values.row_budget, values.queries_at_once) == (1, 2, 3, 2)


def test_each_value_says_where_it_came_from(tmp_path: Path) -> None:
    """Ours."""
    found = settings(
        tmp_path,
        flags={"port": "1", "slots": None},
        variables={"AWHILE_HOST": "localhost"},
        toml="row_budget = 3",
    )
    origins = found.origins
    assert origins["port"] == "the flag --port"
    assert origins["host"] == "the variable AWHILE_HOST"
    assert origins["row_budget"] == f"the file {str(tmp_path / 'config.toml')!r}"
    assert origins["slots"] == "default"


def test_without_any_source_there_are_defaults_for_everything() -> None:
    """Ours: an empty environment, and most likely no settings file."""
    found = read_settings({}, {})
    assert found.settings.port == 8766
    assert found.settings.database is None
    assert found.settings.store.startswith("sqlite:///")


def test_the_store_and_the_ledger_follow_the_data_folder(tmp_path: Path) -> None:
    """Ours."""
    found = settings(tmp_path, variables={"AWHILE_DATA_FOLDER": str(tmp_path / "data")})
    assert found.settings.store == f"sqlite:///{tmp_path / 'data' / 'tasks.sqlite3'}"
    assert found.settings.ledger == tmp_path / "data" / "handles.sqlite3"


def test_relative_paths_in_the_file_start_from_its_own_folder(tmp_path: Path) -> None:
    """Ours."""
    found = settings(tmp_path, toml='database = "a.duckdb"')
    assert found.settings.database == (str(tmp_path / "a.duckdb"),)


@pytest.mark.parametrize(
    "given",
    [
        {"toml": 'database = ["a.csv", "sales"]'},
        {"variables": {"AWHILE_DATABASE": "a.csv\nsales\n"}},
        {"flags": {"database": ["a.csv", "sales"]}},
        {"flags": with_files({"database": ["a.csv"], "files": ["sales"]})},
    ],
)
def test_several_files_are_named_in_every_place_a_setting_is(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a list in the file, a line each in a variable, a flag or a word each in a command."""
    monkeypatch.chdir(tmp_path)
    found = settings(tmp_path, **given)
    assert found.settings.database == (str(tmp_path / "a.csv"), str(tmp_path / "sales"))


def test_no_file_at_all_is_no_setting(tmp_path: Path) -> None:
    """Ours: a command that was given none."""
    assert settings(tmp_path, flags=with_files({"database": None})).settings.database is None


def test_an_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    """Ours: that is how shells and compose files unset things."""
    assert settings(tmp_path, variables={"AWHILE_PORT": ""}).settings.port == 8766


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "abc"),
        ("port", "70000"),
        ("port", "-1"),
        ("slots", "-1"),
        ("lease_seconds", "nan"),
        ("lease_seconds", "0"),
        ("query_seconds", "inf"),
        ("sample", "huge"),
        ("open_browser", "perhaps"),
        ("host", " "),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_name_value_source_and_consequence(
    tmp_path: Path, name: str, value: str
) -> None:
    """Ours."""
    entry = ENTRIES[name]
    said = refusal(tmp_path, variables={entry.variable: value})
    for part in (f"{name} is {value!r}", entry.variable, entry.otherwise, "which is not"):
        assert part in said


@pytest.mark.parametrize("toml", ["port = true", "port = 1.5", "host = 1", 'lease_seconds = "x"'])
def test_a_value_of_another_type_in_the_file_is_refused(tmp_path: Path, toml: str) -> None:
    """Ours."""
    assert str(tmp_path / "config.toml") in refusal(tmp_path, toml=toml)


def test_an_unknown_key_in_the_file_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    """Ours."""
    said = refusal(tmp_path, toml="lease_second = 3")
    assert "'lease_second'" in said
    assert "did you mean 'lease_seconds'?" in said


def test_an_unknown_variable_is_noted_with_the_nearest_known_one(tmp_path: Path) -> None:
    """Ours: noted and not refused, for a variable may belong to a newer version."""
    found = settings(tmp_path, variables={"AWHILE_LEASE_SECOND": "3"})
    assert found.unused_variables == {"AWHILE_LEASE_SECOND": "AWHILE_LEASE_SECONDS"}


def test_a_named_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    """Ours: the one in the usual place may be missing."""
    with pytest.raises(SettingsError, match="there is no such file"):
        read_settings({}, {"AWHILE_CONFIG": str(tmp_path / "none.toml")})


def test_a_file_that_is_not_toml_is_refused(tmp_path: Path) -> None:
    """Ours."""
    assert "is not a TOML file" in refusal(tmp_path, toml="port: 1")


def test_every_setting_has_a_sentence_and_says_what_a_bad_value_would_mean() -> None:
    """Ours."""
    assert list(ENTRIES) == list(Settings.__dataclass_fields__)
    for entry in ENTRIES.values():
        assert entry.sentence.endswith("."), entry.name
        assert entry.otherwise, entry.name
        assert entry.default_words, entry.name


def test_the_samples_to_choose_from_are_those_there_are() -> None:
    """Ours: the table is data, so that this room need not import *ask your database*."""
    assert set(ENTRIES["sample"].kind.metavar.split("|")) == set(SIZES)
