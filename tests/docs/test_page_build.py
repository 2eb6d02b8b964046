"""How the page gets into the package: built when its sources changed, carried when they did not."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from hatch_build import Page

ROOT = Path(__file__).parents[2]
STATIC = "src/awhile/ask/web/static"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree with the project's own build configuration, and page sources not yet built."""
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "src/awhile").mkdir(parents=True)
    (tmp_path / "src/awhile/__init__.py").touch()
    (tmp_path / "web/src").mkdir(parents=True)
    (tmp_path / "web/package.json").write_text('{"scripts": {"build": "exit 3"}}')
    (tmp_path / "web/src/main.tsx").write_text("export {}")
    return tmp_path


def pretend_built(tree: Path) -> None:
    page = Page(tree)
    page.static.mkdir(parents=True)
    (page.static / "index.html").write_text("<title>Ask</title>")
    page.stamp.write_text(page.sources_hash())


def build(tree: Path, target: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", "out"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True, timeout=60)


def test_a_page_is_current_until_one_of_its_sources_changes(tree: Path) -> None:
    assert not Page(tree).is_current()
    pretend_built(tree)
    assert Page(tree).is_current()
    (tree / "web/node_modules").mkdir()
    (tree / "web/node_modules/anything.js").touch()
    assert Page(tree).is_current()
    (tree / "web/src/main.tsx").rename(tree / "web/src/other.tsx")
    assert not Page(tree).is_current()


def test_a_tree_without_page_sources_builds(tree: Path) -> None:
    shutil.rmtree(tree / "web")
    done = build(tree, "wheel")
    assert done.returncode == 0, done.stderr


def test_a_wheel_and_a_source_distribution_carry_the_built_page_without_npm(tree: Path) -> None:
    pretend_built(tree)
    for target in ("wheel", "sdist"):
        done = build(tree, target)
        assert done.returncode == 0, done.stderr
    (wheel,) = (tree / "out").glob("*.whl")
    assert "awhile/ask/web/static/index.html" in zipfile.ZipFile(wheel).namelist()
    (sdist,) = (tree / "out").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    # With its stamp and sources, so that a wheel built from it needs no npm either.
    assert {f"{STATIC}/index.html", f"{STATIC}/.sources.sha256", "web/src/main.tsx"} <= names


def test_the_first_paint_takes_less_than_100_kb_of_script() -> None:
    """Ours: what the page needs before it shows anything; the rest loads when it is used."""
    static = ROOT / STATIC
    waiting = re.findall(r'"/(assets/[^"]+\.js)"', (static / "index.html").read_text("utf-8"))
    loaded: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in loaded:
            loaded.add(name)
            text = (static / name).read_text("utf-8")
            waiting += [f"assets/{one}" for one in re.findall(r'from"\./([^"]+\.js)"', text)]
    sizes = {name: len(gzip.compress((static / name).read_bytes())) for name in loaded}
    assert sizes
    assert sum(sizes.values()) < 100_000, sizes


def test_a_page_that_cannot_be_built_stops_the_build_and_says_what_to_do(tree: Path) -> None:
    (tree / "web/package-lock.json").write_text('{"lockfileVersion": 3, "packages": {}}')
    done = build(tree, "wheel")
    assert done.returncode != 0
    assert "The page could not be built: `npm run --silent build` ended with 3" in done.stderr
