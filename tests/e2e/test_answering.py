"""Work that asks, and a database that means no good. Source: issue "The page and the terminal", 4
and 8."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import STOP_SECONDS
from tests.e2e.walk import ask, connection, state
from tests.machine.web.questions import MARKUP, ORDER


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The start URL of a page whose server asks back, and names its tables in markup."""
    store = tmp_path_factory.mktemp("asking") / "tasks.sqlite3"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.machine.web.questions"),
            *(f"sqlite:///{store}", "0", secrets.token_urlsafe()),
        ],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    process.wait(STOP_SECONDS)
    process.stdout.close()


@pytest.fixture
def person(address: str, browser: Browser) -> Generator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.request.get(address)
    yield context
    context.close()


def opened(person: BrowserContext, address: str) -> Page:
    page = person.new_page()
    page.on("dialog", lambda _: pytest.fail("markup became code"))
    page.goto(address.partition("/?")[0])
    expect(connection(page)).to_have_text("Live")
    return page


def test_a_form_is_filled_in_after_a_reload_and_the_answer_is_shown_as_given(
    person: BrowserContext, address: str
) -> None:
    page = opened(person, address)
    ask(page, "Form")
    card = page.get_by_role("region", name="Needs your answer")
    expect(card).to_contain_text("Form?")
    expect(state(page)).to_have_text("Needs your answer")
    expect(page).to_have_title("(!) 1 needs you · Ask your database")
    page.reload()
    card.get_by_label("Who asks").fill("A")
    card.get_by_label("How many rows").fill("1.5")
    card.get_by_role("button", name="Answer").click()
    expect(card).to_contain_text("at least 2 characters")
    expect(card).to_contain_text("a whole number")
    expect(card).to_contain_text("choose one")
    card.get_by_label("Who asks").fill("Ada <b>L</b>")
    card.get_by_label("How many rows").fill("12")
    card.get_by_label("In which order").select_option("down")
    card.get_by_label("Are you sure").select_option("No")
    card.get_by_role("button", name="Answer").click()
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("list", name="Your answers")).to_contain_text(
        "Ada <b>L</b> · 12 · down · no"
    )
    expect(page.get_by_role("gridcell")).to_contain_text('"rows": 12')


def test_a_choice_is_a_row_of_buttons_answered_in_another_tab_and_declining_stops_nothing(
    person: BrowserContext, address: str
) -> None:
    page = opened(person, address)
    ask(page, "Choice of a run")
    other = opened(person, address)
    other.get_by_role("navigation").get_by_role("link", name="Choice of a run").click()
    other.get_by_role("button", name="Narrow it").click()
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("list", name="Your answers")).to_contain_text("narrow")
    ask(page, "Choice to decline")
    page.get_by_role("button", name="Decline").click()
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("list", name="Your answers")).to_contain_text("declined")
    expect(page.get_by_role("gridcell")).to_contain_text('"action": "decline"')


def test_nothing_that_a_hostile_database_says_becomes_markup(
    person: BrowserContext, address: str
) -> None:
    page = opened(person, address)
    page.get_by_role("banner").get_by_role("link", name="SQL", exact=True).click()
    schema = page.locator(".schema")
    expect(schema).to_contain_text(MARKUP)
    expect(schema).to_contain_text(ORDER)
    ask(page, MARKUP)
    expect(page.get_by_role("heading", level=1)).to_have_text(MARKUP)
    expect(page.get_by_role("columnheader")).to_have_text(f"given {MARKUP}")
    expect(page.locator(".inbox")).to_contain_text(MARKUP)
    assert page.locator("img, script:not([src]), main b").count() == 0
