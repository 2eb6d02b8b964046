"""The real app as two processes, and a real browser in front of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import psutil
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from awhile.client import connect
from tests.e2e.browsing import launched
from tests.e2e.several import Several, several

START_SECONDS = 180.0
"""The sample warehouse may have to be made first."""
STOP_SECONDS = 10.0

expect.set_options(timeout=10_000)


def wait_until(true: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Look again and again, at most ``seconds`` long."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def runs_of(mcp_url: str) -> list[dict[str, Any]]:
    """What an MCP server lists, without the page in between."""

    async def ask() -> list[dict[str, Any]]:
        async with connect(mcp_url, ledger=None) as server:
            result = await server.call("list_runs", {"limit": 500})
            return cast("list[dict[str, Any]]", (result.structured_content or {})["runs"])

    # Playwright's own event loop runs in this thread.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(anyio.run, ask).result(timeout=30)


@dataclass
class App:
    """``awhile app``: the page backend, and the MCP server as its child."""

    process: subprocess.Popen[str]
    start_url: str
    data: Path

    @property
    def url(self) -> str:
        """The page, without the token."""
        return self.start_url.partition("/?")[0]

    def server(self) -> psutil.Process:
        """The MCP server's process, as it announced itself."""
        return psutil.Process(self._announced()["pid"])

    def mcp_url(self) -> str:
        return self._announced()["url"]

    def workers(self) -> list[psutil.Process]:
        """The processes that run queries."""
        return self.server().children(recursive=True)

    def busy_workers(self) -> list[psutil.Process]:
        """Those that use the processor right now: asked of the operating system."""
        workers = self.workers()
        for worker in workers:
            worker.cpu_percent()
        time.sleep(0.4)  # the span that is measured
        busy: list[psutil.Process] = []
        for worker in workers:
            try:
                if worker.cpu_percent() > 30:
                    busy.append(worker)
            except psutil.NoSuchProcess:
                continue
        return busy

    def run(self, run_id: str) -> dict[str, Any]:
        """What the MCP server says of one run, without the page in between."""
        return next(run for run in self.runs() if run["run_id"] == run_id)

    def runs(self) -> list[dict[str, Any]]:
        return runs_of(self.mcp_url())

    def _announced(self) -> dict[str, Any]:
        deadline = time.monotonic() + START_SECONDS
        while True:
            for file in (self.data / "servers").glob("*.json"):
                try:
                    said = json.loads(file.read_text())
                except (OSError, ValueError):
                    continue
                if psutil.pid_exists(said["pid"]):
                    return cast("dict[str, Any]", said)
            assert time.monotonic() < deadline, "no MCP server announced itself"
            time.sleep(0.02)


@contextmanager
def running_app(data: Path, samples: Path, *flags: str) -> Generator[App]:
    """An app with a data folder of its own, on the sample that is kept between test runs."""
    (data / "samples").symlink_to(samples)
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "awhile.cli.main", "app", "--no-open-browser"),
            *("--port=0", "--page-port=0", f"--data-folder={data}", *flags),
        ],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        start_url = process.stdout.readline().strip()
        assert start_url.startswith("http://127.0.0.1:"), f"the app said {start_url!r}"
        yield App(process, start_url, data)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        finally:
            process.stdout.close()


@pytest.fixture(scope="package")
def samples(pytestconfig: pytest.Config) -> Path:
    """Where samples are kept between test runs, for a day."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("samples")


@pytest.fixture(scope="package")
def app(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Generator[App]:
    """One app for all browser tests."""
    with running_app(tmp_path_factory.mktemp("data"), samples) as app:
        yield app


@pytest.fixture(scope="package")
def browser() -> Generator[Browser]:
    """Chromium. Of the package's scope: Playwright's event loop must be gone before other tests."""
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture
def context(app: App, browser: Browser) -> Generator[BrowserContext]:
    """A browser profile that is signed in."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.request.get(app.start_url)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext, app: App) -> Generator[Page]:
    """The front page, live. A script error, or anything the policy blocks, fails the test."""
    page = context.new_page()
    broken: list[str] = []
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on(
        "console",
        lambda said: broken.append(said.text) if "Content Security Policy" in said.text else None,
    )
    page.goto(app.url)
    expect(page.locator(".connection")).to_have_text("Live")
    yield page
    assert broken == []


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Generator[Several]:
    """The page, the server behind it, and the provider."""
    served = several(tmp_path_factory.mktemp("several"))
    served.start()
    yield served
    served.close()


@pytest.fixture
def contexts(browser: Browser) -> Generator[list[BrowserContext]]:
    """Browsers of two people who have never been here, one of them a phone."""
    sizes = ((1280, 800), (390, 844))
    found = [
        # axe injects a script, which the page's own policy rightly refuses
        browser.new_context(viewport={"width": width, "height": height}, bypass_csp=True)
        for width, height in sizes
    ]
    yield found
    for context in found:
        context.close()


@pytest.fixture
def ada(served: Several, contexts: list[BrowserContext]) -> Page:
    """Ada, signed in."""
    page = contexts[0].new_page()
    served.sign_in(page, "ada")
    return page


@pytest.fixture
def eve(served: Several, contexts: list[BrowserContext]) -> Page:
    """Eve, signed in, on a phone."""
    page = contexts[1].new_page()
    served.sign_in(page, "eve")
    return page
