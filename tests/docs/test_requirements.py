"""The requirement manifest: every MUST and SHOULD of the pages about waiting, and what shows it."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
MANIFEST = sorted((TESTS / "requirements").glob("*.toml"))

STRENGTHS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "states"}
"""Those of the pages; "states" is a plain sentence that others rely on."""

SIDES = {"server", "client", "both"}
SHOWN = {"tests", "not_ours", "not_done"}
"""How an entry is met: by tests; by somebody else, saying by whom; or not, saying why."""

CLAIMS = ("contract/sdk", "interaction", "peers")
"""Where a docstring that begins with "Spec" is a claim that a requirement is shown."""


@cache
def requirements() -> list[dict[str, Any]]:
    """Every entry of the manifest."""
    return [entry for page in MANIFEST for entry in tomllib.loads(page.read_text())["requirement"]]


@cache
def found_in(path: str) -> dict[str, str]:
    """The tests of one file, by name, with their docstrings."""
    tree = ast.parse((TESTS / path).read_text())
    return {
        node.name: ast.get_docstring(node) or ""
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def named() -> set[str]:
    """Every test that the manifest names."""
    return {one for entry in requirements() for one in entry.get("tests", ())}


def test_every_requirement_has_an_id_of_its_own() -> None:
    ids = Counter(entry["id"] for entry in requirements())
    assert [one for one, count in ids.items() if count > 1] == []
    assert len(ids) > 250


@pytest.mark.parametrize("page", MANIFEST, ids=lambda page: page.stem)
def test_every_requirement_says_what_it_asks_of_whom_and_how_that_is_met(page: Path) -> None:
    """Ours: by at least one test, or by a reason; only a SHOULD may be left undone."""
    manifest = tomllib.loads(page.read_text())
    assert manifest.keys() == {"title", "source", "requirement"}
    for entry in manifest["requirement"]:
        met = SHOWN & entry.keys()
        assert entry.keys() == {"id", "section", "strength", "binds", "says"} | met, entry
        assert len(met) == 1, f"{entry['id']} needs exactly one of {sorted(SHOWN)}"
        assert entry["strength"] in STRENGTHS, entry
        assert entry["binds"] in SIDES, entry
        assert all(entry.values()), entry
        if "not_done" in entry:
            assert entry["strength"].startswith("SHOULD"), f"{entry['id']} is a MUST"


def test_every_test_that_the_manifest_names_is_there() -> None:
    missing: list[str] = []
    for one in sorted(named()):
        path, _, name = one.partition("::")
        if not (TESTS / path).is_file() or name not in found_in(path):
            missing.append(one)
    assert missing == []


def test_every_test_that_claims_to_show_the_specification_is_named_in_the_manifest() -> None:
    """Ours: by its docstring, which begins with "Spec". Name it at the requirement it shows."""
    claimed = {
        f"{path.relative_to(TESTS).as_posix()}::{name}"
        for folder in CLAIMS
        for path in (TESTS / folder).rglob("test_*.py")
        for name, docstring in found_in(path.relative_to(TESTS).as_posix()).items()
        if docstring.startswith("Spec")
    }
    assert sorted(claimed - named()) == []
