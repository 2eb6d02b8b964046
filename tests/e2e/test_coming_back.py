"""Either process, or both, killed and started again under ten tabs. Source: issue "The page and the
terminal", 5."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from checks.thrown_away import free_port
from tests.e2e.conftest import runs_of
from tests.e2e.walk import NEVER_ENDING, connection, run_sql, state, stop, told

BACK_SECONDS = 2.0
"""How soon every tab is live once what was away is back."""

BACKEND = """
import sys
from functools import partial
import anyio
from awhile.ask.web import serve_page
say = partial(print, flush=True)
anyio.run(partial(serve_page, sys.argv[1], sys.argv[2], port=int(sys.argv[3]), on_ready=say))
"""
"""The page backend alone, which `awhile app` is with the MCP server as its child."""


class Apart:
    """The page backend and the MCP server, each to be killed and started again."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._port, self._page_port = free_port(), free_port()
        self._token = secrets.token_urlsafe()
        self.mcp_url = f"http://127.0.0.1:{self._port}/mcp"
        self.url = f"http://127.0.0.1:{self._page_port}"
        self.start_url = f"{self.url}/?token={self._token}"
        self.start_server()
        self.start_backend()

    def start_server(self) -> None:
        self.server = started(
            *("-m", "awhile.cli.main", "serve", f"--port={self._port}"),
            *(f"--data-folder={self._data}", "--sample=tiny", "--lease-seconds=1"),
        )

    def start_backend(self) -> None:
        self.backend = started("-c", BACKEND, self.mcp_url, self._token, str(self._page_port))


def started(*arguments: str) -> subprocess.Popen[str]:
    """A program, once it has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith("http://127.0.0.1:")
    return process


def kill(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.fixture
def apart(tmp_path: Path) -> Generator[Apart]:
    apart = Apart(tmp_path)
    yield apart
    kill(apart.server, apart.backend)


@pytest.fixture
def tabs(apart: Apart, browser: Browser) -> Generator[list[Page]]:
    context = browser.new_context()
    context.request.get(apart.start_url)
    yield [opened(context, apart.url) for _ in range(10)]
    context.close()


def opened(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(url)
    expect(connection(page)).to_have_text("Live")
    return page


def test_ten_tabs_are_live_again_soon_after_either_process_or_both_and_nothing_runs_twice(
    apart: Apart, tabs: list[Page]
) -> None:
    tabs[0].bring_to_front()
    run_id = run_sql(tabs[0], NEVER_ENDING)
    expect(state(tabs[0])).to_have_text("Running")
    for tab in tabs[1:]:
        tab.goto(tabs[0].url)

    def all_say(words: str) -> None:
        for tab in tabs:
            expect(connection(tab)).to_contain_text(words, timeout=15_000)

    def soon_live() -> None:
        back_at = time.monotonic()
        all_say("Live")
        assert time.monotonic() - back_at < BACK_SECONDS

    kill(apart.backend)
    all_say("No connection")
    apart.start_backend()
    soon_live()
    assert [(run["run_id"], run["attempt"]) for run in runs_of(apart.mcp_url)] == [(run_id, 1)]
    expect(state(tabs[9])).to_have_text("Running")

    kill(apart.backend, apart.server)
    all_say("No connection")
    apart.start_server()
    apart.start_backend()
    soon_live()
    expect(told(tabs[0])).to_have_text("Running again: 2nd attempt", timeout=15_000)

    kill(apart.server, apart.backend)
    all_say("No connection")
    apart.start_backend()
    all_say("Server not reachable")
    apart.start_server()
    soon_live()
    expect(told(tabs[0])).to_have_text("Running again: 3rd attempt", timeout=15_000)
    stop(tabs[0])
    expect(state(tabs[9])).to_have_text("Stopped", timeout=15_000)
    assert [run["run_id"] for run in runs_of(apart.mcp_url)] == [run_id]
