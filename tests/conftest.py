"""What every test may rely on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from pathlib import Path

import pytest

# Here, before anything imports it: only then do the shipped suite's asserts say what they saw.
pytest.register_assert_rewrite("awhile.testing")

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The names `scripts/set-up browser` looks for, too."""

left_out = pytest.StashKey[int]()


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


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in the same hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the browser tests out, all of them and loudly, where there is no browser.

    Never in CI: there they fail.
    """
    _share_out(config, items)
    if find_browser() or "CI" in os.environ:
        return
    e2e = Path(__file__).parent / "e2e"
    without = [item for item in items if e2e in item.path.parents]
    if without:
        config.hook.pytest_deselected(items=without)
        items[:] = [item for item in items if item not in without]
        config.stash[left_out] = len(without)


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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say so above the closing line."""
    if count := config.stash.get(left_out, 0):
        terminalreporter.write_line(
            f"{count} browser tests did NOT run: no Chromium on the PATH. "
            "Install it (`scripts/set-up browser` says how) and run `make e2e`.",
            yellow=True,
        )
