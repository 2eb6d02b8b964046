"""What the tree itself promises: it builds anywhere and names no machine."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from checks.module_size import complaints, tracked_files

ROOT = Path(__file__).parents[2]

REGISTRY = re.compile(
    r"pythonhosted\.org|\bpypi\.org|registry\.npmjs\.org|deb\.debian\.org"
    r"|\"resolved\"\s*:\s*\"https?:|--(extra-)?index-url|https?://[^\s\"']+/simple\b"
)
MACHINE_PATH = re.compile(r"(?<![\w./-])/(work|root|home|Users)/\w")


def texts() -> dict[str, str]:
    """The text of every tracked file, by its path."""
    found: dict[str, str] = {}
    for path in tracked_files(ROOT):
        data = (ROOT / path).read_bytes()
        if b"\0" not in data:
            found[path.as_posix()] = data.decode()
    return found


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{path}:{number}: {line.strip()[:200]}"
        for path, text in texts().items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_tracked_file_carries_the_address_of_a_package_registry() -> None:
    assert lines_with(REGISTRY) == []


def test_no_tracked_file_carries_the_address_this_machines_pip_uses() -> None:
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    hosts = set(re.findall(r"https?://(?:[^@/\s']*@)?([\w.-]+)", listing.stdout))
    for host in hosts - {"localhost", "127.0.0.1"}:
        assert lines_with(re.compile(re.escape(host))) == []


def test_no_tracked_file_carries_a_path_of_this_machine() -> None:
    assert lines_with(MACHINE_PATH) == []
    assert lines_with(re.compile(re.escape(str(ROOT)) + r"\b")) == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (REGISTRY, '"resolved": "' + "https:" + '//example.net/a.tgz"'),
        (REGISTRY, "--extra" + "-index-url file:somewhere"),
        (MACHINE_PATH, "open('" + "/home" + "/ada/warehouse.duckdb')"),
    ],
)
def test_an_address_or_a_machine_path_would_be_found(pattern: re.Pattern[str], line: str) -> None:
    assert pattern.search(line)


def test_a_module_past_its_limit_or_with_a_catch_all_name_is_complained_of(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    sizes = {"src/long.py": 501, "src/utils.py": 1, "src/fine.py": 500, "tests/test_long.py": 701}
    for name, lines in sizes.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("pass\n" * lines)
    assert {sentence.split(":")[0] for sentence in complaints(tmp_path)} == {
        "src/long.py",
        "src/utils.py",
        "tests/test_long.py",
    }


def pins() -> dict[str, str]:
    """constraints.txt: each distribution's canonical name and its one version."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    named = [line.split("==") for line in lines if not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in named}


def test_every_distribution_the_package_or_its_tools_bring_is_pinned() -> None:
    """Ours. `make constraints` mends it after a dependency was added."""
    assert brought() - pins().keys() == set()


def brought() -> set[str]:
    """Every installed distribution that the extras or a tool require, directly or not."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    tools = [each for group in groups.values() for each in group if isinstance(each, str)]
    waiting = [Requirement(text) for text in ("awhile[ask,postgres]", *tools)]
    installed: dict[str, Distribution] = {canonicalize_name(d.name): d for d in distributions()}
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen or name not in installed:
                continue
            seen.add((name, extra))
            needed = [Requirement(text) for text in installed[name].requires or ()]
            waiting += [
                each
                for each in needed
                if each.marker is None or each.marker.evaluate({"extra": extra})
            ]
    return {name for name, _ in seen} - {"awhile"}
