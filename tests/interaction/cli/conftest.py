"""A place of its own for each module, and a server that its tests share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import duckdb
import pytest

from awhile.cli import main
from tests.interaction.cli.terminal import Place

SHOP = """
CREATE TABLE products (product_id INTEGER PRIMARY KEY, name VARCHAR, price DECIMAL(38, 4));
INSERT INTO products
SELECT range + 1, 'product ' || (range + 1), 12345678901234567890.0001 + range FROM range(120);
CREATE TABLE order_lines (
    order_line_id INTEGER PRIMARY KEY,
    product_id INTEGER REFERENCES products (product_id),
    quantity INTEGER,
    unit_price DECIMAL(10, 2)
);
INSERT INTO order_lines
SELECT range, range % 120 + 1, range % 7 + 1, range % 50 + 0.25 FROM range(600);
CREATE TABLE odd (text VARCHAR, number HUGEINT);
INSERT INTO odd VALUES
    ('plain', 1), ('', 9007199254740993), (NULL, 170141183460469231731687303715884105727),
    ('with "quotes", a comma' || chr(10) || 'and two lines', NULL),
    (chr(27) || '[31mred', 2);
"""

HEAVY = "SELECT sum((a.range * b.range) % 7) FROM range(1000000) a, range(1000000) b"
"""Takes hours, so that only a stop ends it."""


def new_place(folder: Path) -> Place:
    """A place with a small shop to ask."""
    database = folder / "shop.duckdb"
    with duckdb.connect(database) as connection:
        connection.execute(SHOP)
    return Place(folder, database)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place for one test, without a server."""
    return new_place(tmp_path)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Place]:
    """A place with a server running."""
    place = new_place(tmp_path_factory.mktemp("served"))
    with place.started("serve", "--port=0") as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        yield place
        server.send_signal(signal.SIGINT)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            pytest.fail("the server did not end on Ctrl-C")


class InThisProcess:
    """A place whose commands run without a process of their own, and so a second sooner each."""

    def __init__(
        self, place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        self.place = place
        self.folder = place.folder
        self.at_a_terminal = place.at_a_terminal
        self.started = place.started
        self._monkeypatch = monkeypatch
        self._capfd = capfd
        for name in os.environ:
            if "AWHILE" in name:
                monkeypatch.delenv(name)
        for name, value in place.environment.items():
            monkeypatch.setenv(name, value)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, without a terminal."""
        self._capfd.readouterr()
        self._monkeypatch.setattr(sys, "argv", ["awhile", *arguments])
        with open(os.devnull) as nothing, self._monkeypatch.context() as patch:  # noqa: PTH123
            patch.setattr(sys, "stdin", nothing)
            with pytest.raises(SystemExit) as left:
                main.main()
        said = self._capfd.readouterr()
        code = int(left.value.code or 0)
        return subprocess.CompletedProcess(arguments, code, said.out, said.err)
