"""`scripts/set-up` on machines that lack something: it says what, and how to get it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A fresh clone on an ordinary user's machine: `bin` is all there is on the PATH."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/set-up", tmp_path / "scripts")
    for name in ("pyproject.toml", "hatch_build.py", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("sh", "cat", "cksum", "dirname"):
        found = shutil.which(name)
        assert found
        (tmp_path / "bin" / name).symlink_to(found)
    program(tmp_path, "id", "echo 1000")
    return tmp_path


def program(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def set_up(machine: Path, what: str) -> subprocess.CompletedProcess[str]:
    command = [machine / "scripts/set-up", what]
    environment = {"PATH": str(machine / "bin")}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)


def test_a_python_without_ensurepip_is_told_which_package_brings_it(machine: Path) -> None:
    """Bare Debian: `python3 -m venv` would leave half an environment behind."""
    (machine / "ensurepip.py").write_text("raise ImportError")
    program(machine, "python3", f'PYTHONPATH="{machine}" exec "{sys.executable}" "$@"')
    done = set_up(machine, "venv")
    assert done.returncode == 1
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert f"sudo apt-get install python{version}-venv" in done.stderr
    assert not (machine / ".venv").exists()


def test_a_machine_without_a_supported_python_is_told_which_it_needs(machine: Path) -> None:
    program(machine, "python3", '[ "$1" = --version ] && echo Python 3.9.2')
    done = set_up(machine, "venv")
    assert done.returncode == 1
    assert "Awhile needs Python 3.11, 3.12 or 3.13; found Python 3.9.2." in done.stderr


def test_an_ordinary_user_without_a_browser_is_told_how_to_install_one(machine: Path) -> None:
    done = set_up(machine, "browser")
    assert done.returncode == 1
    assert "sudo apt-get install chromium" in done.stderr


def test_an_ordinary_user_without_mariadb_is_told_how_to_install_it(machine: Path) -> None:
    """Unless this machine has it where the script looks beside the PATH."""
    if shutil.which("mariadbd", path="/usr/sbin:/usr/local/sbin"):
        assert set_up(machine, "mariadb").returncode == 0
        return
    done = set_up(machine, "mariadb")
    assert done.returncode == 1
    assert "sudo apt-get install mariadb-server-core" in done.stderr


def test_a_second_set_up_does_nothing(machine: Path) -> None:
    """Here with an environment that is up to date: pip would say that it is not there."""
    sources = ("scripts/set-up", "pyproject.toml", "hatch_build.py", "constraints.txt")
    text = b"".join((machine / name).read_bytes() for name in sources)
    stamp = subprocess.run(["cksum"], input=text, capture_output=True, check=True).stdout
    (machine / ".venv/bin").mkdir(parents=True)
    (machine / ".venv/.set-up").write_bytes(stamp)
    (machine / ".venv/bin/python").symlink_to(shutil.which("true") or "")
    done = set_up(machine, "venv")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
