"""What every test may rely on."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from checks import mariadb
from checks.postgres import Cluster, binaries, bouncer_program, store_url
from tests.interaction.server.proxy import NGINX

# Here, before anything imports it: only then do the shipped suite's asserts say what they saw.
pytest.register_assert_rewrite("awhile.testing")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The names `scripts/set-up browser` looks for, too."""

POSTGRES = "AWHILE_TEST_POSTGRES"
"""Names the variable with the DSN of a database to test in; without it, a cluster is started."""

GGUF = "AWHILE_TEST_GGUF"
"""Names the variable with the file of a model that has learnt something."""

NO_BROWSER = (
    "{} browser tests did NOT run: no Chromium on the PATH. "
    "Install it (`scripts/set-up browser` says how) and run `make e2e`."
)
NO_POSTGRES = (
    "{} tests on PostgreSQL did NOT run: its programs were not found. Install them "
    f"(`scripts/set-up postgres` says how), or name a database of yours in {POSTGRES}."
)

NO_BOUNCER = (
    "{} tests behind PgBouncer did NOT run: it was not found. "
    "`scripts/set-up postgres` installs it."
)

NO_MARIADB = (
    "{} tests on MariaDB did NOT run: its server was not found. "
    "`scripts/set-up mariadb` says how to install it."
)

NO_PROXY = (
    "{} tests behind a proxy did NOT run: no nginx on this machine. "
    "`scripts/set-up proxy` installs it."
)

NO_MODEL = f"{{}} tests of a model in a file did NOT run: name a GGUF file in {GGUF}."

left_out = pytest.StashKey[dict[str, int]]()
"""What is to be said at the end, with the number of tests it concerns."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Everything here runs on asyncio: the SDK's HTTP server (uvicorn) does."""
    return "asyncio"


def find_browser() -> str | None:
    """The path of a Chromium on this machine, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of the Chromium the browser tests drive."""
    path = find_browser()
    assert path, f"None of {BROWSERS!r} is on the PATH; `scripts/set-up browser` installs one."
    return path


@pytest.fixture(scope="session")
def postgres_cluster() -> Generator[Cluster]:
    """The cluster all tests of this run (of one worker of it) share; do not end it."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def own_cluster() -> Generator[Cluster]:
    """A cluster of this test's own, to be killed, paused and started again."""
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def mariadb_server() -> Generator[mariadb.Server]:
    """The server all tests of this run (of one worker of it) share; do not end it."""
    with mariadb.Server() as server:
        yield server


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Generator[str]:
    """The URL of a new, empty store on PostgreSQL."""
    dsn = os.environ.get(POSTGRES)
    if not dsn:
        cluster: Cluster = request.getfixturevalue("postgres_cluster")
        yield cluster.url()
        return
    schema = f"awhile_test_{secrets.token_hex(6)}"
    yield store_url(dsn, schema)
    with psycopg.connect(dsn) as connection:
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Leave out, all of them and loudly, the tests of what this machine has not.

    Never in CI: there they fail. Those that are not asked for anyhow are not spoken of.
    """
    _share_out(config, items)  # xdist reads the groups in the same hook
    yield
    if "CI" in os.environ:
        return
    e2e = Path(__file__).parent / "e2e"
    missing: dict[str, Callable[[pytest.Item], object]] = {}
    if not find_browser():
        missing[NO_BROWSER] = lambda item: e2e in item.path.parents
    if not binaries():
        missing[NO_POSTGRES] = lambda item: (
            item.get_closest_marker("postgres")
            and (not os.environ.get(POSTGRES) or "own_cluster" in getattr(item, "fixturenames", ()))
        )
    if not mariadb.program():
        missing[NO_MARIADB] = lambda item: item.get_closest_marker("mariadb")
    if not bouncer_program():
        missing[NO_BOUNCER] = lambda item: item.get_closest_marker("pgbouncer")
    if not NGINX:
        missing[NO_PROXY] = lambda item: item.get_closest_marker("nginx")
    if not os.environ.get(GGUF):
        missing[NO_MODEL] = lambda item: item.get_closest_marker("gguf")
    for words, concerns in missing.items():
        without = [item for item in items if concerns(item)]
        if without:
            config.hook.pytest_deselected(items=without)
            items[:] = [item for item in items if item not in without]
            config.stash.setdefault(left_out, {})[words] = len(without)


def _share_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which tests run one after the other where pytest-xdist runs several at once.

    Those of one file; all in a browser, which share one app; and all that programs of others are
    installed for.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    here = Path(__file__).parent
    for item in items:
        room = item.path.relative_to(here).parts[0]
        alone = room == "e2e" or item.get_closest_marker("conformance") or room == "peers"
        group = ("e2e" if room == "e2e" else "checks") if alone else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write half a character that a test has logged as an escape: xdist cannot carry it."""
    report = yield
    report.sections = [
        (name, text.encode(errors="backslashreplace").decode()) for name, text in report.sections
    ]
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist tells the process that prints the summary what it left out."""
    if (told := getattr(session.config, "workeroutput", None)) is not None:
        told["left_out"] = session.config.stash.setdefault(left_out, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Every worker collects all tests, so any one of them knows."""
    if told := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[left_out] = told


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say so above the closing line."""
    for words, count in config.stash.setdefault(left_out, {}).items():
        terminalreporter.write_line(words.format(count), yellow=True)
