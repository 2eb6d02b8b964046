"""What a person has to type to add an optional part, however they installed the rest."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from awhile.extras import command_to_add


def noted(folder: Path, monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None) -> None:
    """An installation as pip leaves it, found before the real one."""
    metadata = folder / "awhile-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.4\nName: awhile\nVersion: 0.1.0\n")
    if origin is not None:
        (metadata / "direct_url.json").write_text(json.dumps(origin))
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])


def folder_url(folder: Path, **members: Any) -> dict[str, Any]:
    """The note of an installation from a folder."""
    return {"url": folder.as_uri(), "dir_info": members}


def test_from_a_clone_the_clone_is_named_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone = tmp_path / "my clone"
    clone.mkdir()
    noted(tmp_path, monkeypatch, folder_url(clone))
    assert command_to_add("ask") == f"pip install '{clone}[ask]'"


def test_an_editable_installation_stays_editable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(tmp_path, monkeypatch, folder_url(tmp_path, editable=True))
    assert command_to_add("ask") == f"pip install -e '{tmp_path}[ask]'"


def test_a_clone_that_is_gone_is_not_named_as_if_it_were_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(tmp_path, monkeypatch, folder_url(tmp_path / "deleted"))
    said = command_to_add("ask")
    assert said.startswith("pip install '.[ask]' in a folder with Awhile's source")
    assert "deleted is gone" in said


def test_a_repository_is_named_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = {"url": "https://example.org/awhile.git", "vcs_info": {"vcs": "git"}}
    noted(tmp_path, monkeypatch, origin)
    assert command_to_add("ask") == (
        "pip install 'awhile[ask] @ git+https://example.org/awhile.git'"
    )


def test_from_an_index_or_a_folder_nobody_noted_both_ways_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(tmp_path, monkeypatch, None)
    said = command_to_add("postgres")
    assert said.startswith("pip install 'awhile[postgres]'")
    assert "pip install '.[postgres]'" in said
