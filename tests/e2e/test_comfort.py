"""The page for everybody: axe on every state, light and dark, and a phone. Source: ours, WCAG."""

from __future__ import annotations

from collections.abc import Generator
from importlib import import_module
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.e2e.conftest import App
from tests.e2e.walk import NEVER_ENDING, ask, connection, run_sql, state, stop, write_sql

AXE: Any = import_module("axe_playwright_python.sync_playwright").Axe()
"""Untyped, so typed here as what it is to us."""

PHONE: ViewportSize = {"width": 390, "height": 844}
DESK: ViewportSize = {"width": 1280, "height": 800}


LOOKS = [
    pytest.param("light", DESK, id="light-desk"),
    pytest.param("dark", PHONE, id="dark-phone"),
    pytest.param("dark", DESK, id="dark-desk", marks=pytest.mark.long),
    pytest.param("light", PHONE, id="light-phone", marks=pytest.mark.long),
]
"""Every colour and every width in each run; the other pairs of them in `make e2e`."""


@pytest.fixture
def view(
    scheme: Literal["light", "dark"], size: ViewportSize, app: App, browser: Browser
) -> Generator[Page]:
    # axe injects a script, which the page's own policy rightly refuses.
    context = browser.new_context(
        viewport=size, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    context.request.get(app.start_url)
    page = context.new_page()
    page.clock.install()
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


@pytest.mark.parametrize(("scheme", "size"), LOOKS)
def test_every_state_is_clean_by_axe_and_fits_its_screen(view: Page) -> None:
    def look(what: str) -> None:
        assert violations(view) == [], what
        assert fits(view), what

    expect(view.locator(".examples button").first).to_be_visible()
    view.locator(".schema summary").first.click()
    look("front page")
    view.get_by_role("button", name="Help and settings").click()
    expect(view.get_by_role("dialog")).to_be_visible()
    look("help")
    view.keyboard.press("Escape")
    run_sql(view, NEVER_ENDING)
    expect(state(view)).to_have_text("Running")
    view.get_by_role("button", name="Steps").click()
    expect(view.get_by_role("list", name="Steps")).to_contain_text("Running the query")
    look("running")
    view.get_by_role("button", name="Edit SQL").click()
    write_sql(view, "SELECT :since, nonsense")
    expect(view.get_by_label("Type of :since")).to_be_visible()
    view.get_by_role("button", name="Run", exact=True).click()
    expect(view.get_by_role("dialog")).to_be_visible()
    look("the editor, and what becomes of the run before")
    view.keyboard.press("Escape")
    view.get_by_role("button", name="Leave as it was").click()
    stop(view)
    expect(state(view)).to_have_text("Stopped", timeout=15_000)
    look("stopped")
    run_sql(view, "SELECT country, count(*) AS n, NULL AS none FROM customers GROUP BY 1")
    expect(view.get_by_role("gridcell").first).to_be_visible()
    view.get_by_role("button", name="Filter").click()
    view.get_by_label("Value").fill("e")
    view.get_by_role("button", name="Add").click()
    view.get_by_role("button", name="Columns").click()
    look("a table, with a filter and the list of its columns")
    view.get_by_role("button", name="Chart", exact=True).click()
    expect(view.locator(".plot svg")).to_be_visible()
    look("a chart")
    run_sql(view, "SELECT\n  nonsense\nFROM customers")
    expect(state(view)).to_have_text("Failed")
    look("an error")
    ask(view, "How happy are our customers with the weather?")
    expect(state(view)).to_have_text("Not answered")
    look("a refusal")
    ask(view, "which customers bought most?")
    expect(state(view)).to_have_text("Needs your answer")
    look("a question of the work")
    view.get_by_role("button", name="by units sold").click()
    expect(state(view)).to_have_text("Finished")
    expect(view.get_by_role("list", name="Your answers")).to_be_visible()
    view.get_by_role("button", name="Export").click()
    look("an answer as it was given, and the forms that rows leave in")
    run_sql(view, "SELECT epoch_ms(now()) AS moved")
    expect(state(view)).to_have_text("Finished")
    before = view.url
    view.get_by_role("button", name="Run again").click()
    expect(view).not_to_have_url(before)
    view.get_by_role("button", name="What changed").click()
    expect(view.locator(".changes table")).to_be_visible()
    look("what has changed")
    view.get_by_role("button", name="More").click()
    view.get_by_role("button", name="Delete").click()
    look("whether to delete it")
    view.goto(f"{view.url.partition('/t/')[0]}/t/{'f' * 32}")
    expect(view.get_by_role("heading", name="No such run")).to_be_visible()
    look("a run that is not there")
    view.clock.fast_forward(13_000)
    expect(connection(view)).to_contain_text("No connection")
    look("no connection")


def test_a_screen_reader_hears_each_change_of_state_once(page: Page) -> None:
    region = page.locator("[aria-live=polite]")
    run_sql(page, NEVER_ENDING)
    expect(state(page)).to_have_text("Running")
    stop(page)
    expect(region).to_contain_text("Stopped: confirmed", timeout=15_000)


def test_the_page_is_used_by_keys_alone_and_remembers_what_one_prefers(page: Page) -> None:
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Help and settings")
    expect(sheet).to_contain_text("Ask a question")
    sheet.get_by_label("Colours").select_option("dark")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    page.reload()
    expect(connection(page)).to_have_text("Live")
    background = "() => getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(background) == "rgb(17, 20, 24)"
    page.keyboard.press("/")
    page.keyboard.type("How many customers are there?")
    page.keyboard.press("Enter")
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("gridcell")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".cell.active")).to_be_visible()
    page.keyboard.press("e")
    expect(page.get_by_role("textbox", name="SQL")).to_be_focused()
    page.keyboard.type(NEVER_ENDING)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    expect(state(page)).to_have_text("Running")
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(state(page)).to_have_text("Stopped", timeout=15_000)
    page.keyboard.press("?")
    page.get_by_label("Single keys do what is said below").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(sheet).to_have_count(0)


def test_a_very_large_screen_is_used(app: App, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 3840, "height": 2160})
    context.request.get(app.start_url)
    page = context.new_page()
    page.goto(app.url)
    run_sql(page, "SELECT range AS n FROM range(500)")
    expect(page.get_by_role("gridcell").first).to_be_visible()
    assert page.get_by_role("gridcell").count() > 60
    assert fits(page)
    context.close()


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
