"""The page for everybody: axe on every state, light and dark, and a phone. Source: ours, WCAG."""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.conftest import App
from tests.e2e.walk import NEVER_ENDING, ask, connection, run_sql, state, stop

AXE: Any = import_module("axe_playwright_python.sync_playwright").Axe()
"""Untyped, so typed here as what it is to us."""

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Literal["light", "dark"]:
    return request.param


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def view(
    request: pytest.FixtureRequest, app: App, browser: Browser, scheme: Literal["light", "dark"]
) -> Generator[Page]:
    # axe injects a script, which the page's own policy rightly refuses.
    context = browser.new_context(
        viewport=request.param, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    context.request.get(app.start_url)
    page = context.new_page()
    page.goto(app.url)
    expect(connection(page)).to_have_text("Live")
    yield page
    context.close()


def violations(page: Page) -> list[str]:
    found: list[dict[str, Any]] = AXE.run(page).response["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:120] for node in one['nodes'][:3]]}"
        for one in found
    ]


def fits(page: Page) -> bool:
    return bool(page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth"))


def test_every_state_is_clean_by_axe_and_fits_its_screen(view: Page) -> None:
    def look(what: str) -> None:
        assert violations(view) == [], what
        assert fits(view), what

    expect(view.locator(".examples button").first).to_be_visible()
    look("front page")
    run_sql(view, NEVER_ENDING)
    expect(state(view)).to_have_text("Running")
    look("running")
    stop(view)
    expect(state(view)).to_have_text("Stopped", timeout=15_000)
    look("stopped")
    run_sql(view, "SELECT * FROM customers ORDER BY 1 LIMIT 300")
    expect(view.get_by_role("gridcell").first).to_be_visible()
    look("a table")
    run_sql(view, "SELECT\n  nonsense\nFROM customers")
    expect(state(view)).to_have_text("Failed")
    look("an error")
    ask(view, "How happy are our customers with the weather?")
    expect(state(view)).to_have_text("Not answered")
    look("a refusal")


def test_a_screen_reader_hears_each_change_of_state_once(page: Page) -> None:
    region = page.locator("[aria-live=polite]")
    run_sql(page, NEVER_ENDING)
    expect(state(page)).to_have_text("Running")
    stop(page)
    expect(region).to_contain_text("Stopped: confirmed", timeout=15_000)


def test_a_browser_without_the_key_is_told_how_to_get_in(app: App, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    reply = page.goto(app.url)
    assert reply is not None
    assert reply.status == 401
    expect(page.locator("body")).to_contain_text("Open the address that awhile printed")
    context.close()


def test_the_page_asks_nobody_but_its_own_backend(page: Page, app: App) -> None:
    """It works with no network at all."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(connection(page)).to_have_text("Live")
    assert asked
    assert [url for url in asked if not url.startswith(app.url)] == []
