"""One person lets another read a run, in two browsers. Source: issue "The page and the terminal",
8: a shared link is an explicit act and revocable."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.test_comfort import fits, violations
from tests.e2e.walk import NEVER_ENDING, make_link, run_sql, state, stop

MARKUP = "<img src=x onerror=alert(1)>"
ROWS = f"SELECT range AS n, '<b>' || range AS \"{MARKUP}\" FROM range(500)"


@pytest.fixture(autouse=True)
def nothing_of_data_is_run(contexts: list[BrowserContext]) -> Generator[None]:
    """A script error, a dialog or an image that data brought fails the test."""
    wrong: list[str] = []

    def mind(page: Page) -> None:
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))

    for context in contexts:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        context.on("page", mind)
    yield
    for context in contexts:
        for page in context.pages:
            expect(page.locator("img")).to_have_count(0)
    assert wrong == []


def shared(page: Page) -> str:
    """A link to the run that is shown, which is copied."""
    link = make_link(page)
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Anyone who can sign in here and has the link can read this run")
    expect(dialog.get_by_role("status")).to_contain_text("Copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == link
    return link


def test_a_run_is_read_by_whoever_has_its_link_until_that_is_taken_back(
    ada: Page,
    eve: Page,
) -> None:
    run_sql(ada, ROWS)
    ada.get_by_role("button", name="More").click()
    ada.get_by_role("button", name="Rename").click()
    ada.get_by_role("textbox", name="Title").fill(f"All of {MARKUP}")
    ada.keyboard.press("Enter")
    expect(ada.get_by_role("heading", level=1)).to_have_text(f"All of {MARKUP}")
    link = shared(ada)
    assert violations(ada) == []

    reader = eve
    reader.goto(link)
    expect(reader.get_by_role("heading", level=1)).to_have_text(f"All of {MARKUP}")
    expect(reader.get_by_role("main")).to_contain_text("Shared by Ada. You can read it")
    expect(reader.get_by_role("columnheader", name=MARKUP)).to_be_visible()
    expect(reader.get_by_role("gridcell", name="<b>0", exact=True)).to_be_visible()
    for act in ("More", "Stop", "Edit SQL", "Run again", "Steps", "What changed"):
        expect(reader.get_by_role("button", name=act, exact=True)).to_have_count(0)
    assert violations(reader) == []
    assert fits(reader)
    reader.get_by_role("columnheader", name="n", exact=True).get_by_role("button").first.click()
    reader.get_by_role("columnheader", name="n", exact=True).get_by_role("button").first.click()
    expect(reader.get_by_role("gridcell").first).to_have_text("499")
    reader.get_by_role("button", name="Export").click()
    with reader.expect_download() as download:
        reader.get_by_role("button", name="CSV, exact").click()
    assert Path(download.value.path()).read_text().splitlines()[1] == "499,<b>499"
    reader.get_by_role("button", name="Run this yourself").click()
    expect(reader).to_have_url(re.compile("/t/"))
    expect(state(reader)).to_have_text("Finished")

    dialog = ada.get_by_role("dialog")
    dialog.get_by_role("button", name="Close").click()
    ada.get_by_role("button", name="More").click()
    ada.get_by_role("button", name="Share").click()
    links = dialog.get_by_role("list", name="Links to this run")
    expect(links.get_by_role("listitem")).to_contain_text("opened once")
    links.get_by_role("button", name="Take back").click()
    expect(links).to_have_count(0)
    eve.goto(link)
    expect(reader.get_by_role("heading", name="Nothing to read here")).to_be_visible()
    expect(reader.get_by_role("main")).to_contain_text("taken back")


def test_a_shared_run_is_watched_while_it_runs(ada: Page, eve: Page) -> None:
    run_sql(ada, NEVER_ENDING)
    link = shared(ada)
    eve.goto(link)
    expect(state(eve)).to_have_text("Running")
    expect(eve.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    ada.keyboard.press("Escape")
    stop(ada)
    expect(state(eve)).to_have_text("Stopped", timeout=20_000)
    expect(eve.locator("[aria-live=polite]", has_text="Stopped")).to_have_count(1)
