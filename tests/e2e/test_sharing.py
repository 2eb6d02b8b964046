"""One person lets another read a run, in two browsers. Source: issue "The page and the terminal",
8: a shared link is an explicit act and revocable."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.test_comfort import fits, violations
from tests.e2e.walk import NEVER_ENDING, connection, make_link, run_sql, state, stop

MARKUP = "<img src=x onerror=alert(1)>"
ROWS = f"SELECT range AS n, '<b>' || range AS \"{MARKUP}\" FROM range(500)"


@dataclass(frozen=True)
class Person:
    """Somebody at their own page."""

    page: Page
    at: str

    def follow(self, link: str) -> None:
        """Open a link that was made at another's page."""
        self.page.goto(self.at + link[link.index("/s/") :])


@pytest.fixture(scope="module")
def start_urls(tmp_path_factory: pytest.TempPathFactory) -> Generator[list[str]]:
    """Where Ada begins, and Eve."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.two_people", str(tmp_path_factory.mktemp("shop"))],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()
        process.send_signal(signal.SIGINT)


@pytest.fixture
def people(browser: Browser, start_urls: list[str]) -> Generator[tuple[Person, Person]]:
    """Ada, and Eve on a phone. A script error, or a dialog that data opened, fails the test."""
    wrong: list[str] = []
    found: list[Person] = []
    for start_url, size in zip(start_urls, ((1280, 800), (390, 844)), strict=True):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            bypass_csp=True,  # axe injects a script, which the page's own policy rightly refuses
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.request.get(start_url)
        page = context.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        at = start_url.partition("/?")[0]
        page.goto(at)
        expect(connection(page)).to_have_text("Live")
        found.append(Person(page, at))
    ada, eve = found
    yield ada, eve
    for person in found:
        expect(person.page.locator("img")).to_have_count(0)
        person.page.context.close()
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
    people: tuple[Person, Person],
) -> None:
    ada, eve = people
    run_sql(ada.page, ROWS)
    ada.page.get_by_role("button", name="More").click()
    ada.page.get_by_role("button", name="Rename").click()
    ada.page.get_by_role("textbox", name="Title").fill(f"All of {MARKUP}")
    ada.page.keyboard.press("Enter")
    expect(ada.page.get_by_role("heading", level=1)).to_have_text(f"All of {MARKUP}")
    link = shared(ada.page)
    assert violations(ada.page) == []

    eve.follow(link)
    reader = eve.page
    expect(reader.get_by_role("heading", level=1)).to_have_text(f"All of {MARKUP}")
    expect(reader.get_by_role("main")).to_contain_text("Shared by Ada Lovelace (ada@example.org)")
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

    dialog = ada.page.get_by_role("dialog")
    dialog.get_by_role("button", name="Close").click()
    ada.page.get_by_role("button", name="More").click()
    ada.page.get_by_role("button", name="Share").click()
    links = dialog.get_by_role("list", name="Links to this run")
    expect(links.get_by_role("listitem")).to_contain_text("opened once")
    links.get_by_role("button", name="Take back").click()
    expect(links).to_have_count(0)
    eve.follow(link)
    expect(reader.get_by_role("heading", name="Nothing to read here")).to_be_visible()
    expect(reader.get_by_role("main")).to_contain_text("taken back")


def test_a_shared_run_is_watched_while_it_runs(people: tuple[Person, Person]) -> None:
    ada, eve = people
    run_sql(ada.page, NEVER_ENDING)
    link = shared(ada.page)
    eve.follow(link)
    expect(state(eve.page)).to_have_text("Running")
    expect(eve.page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)
    ada.page.keyboard.press("Escape")
    stop(ada.page)
    expect(state(eve.page)).to_have_text("Stopped", timeout=20_000)
    expect(eve.page.locator("[aria-live=polite]", has_text="Stopped")).to_have_count(1)
