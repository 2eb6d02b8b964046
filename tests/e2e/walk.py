"""What a person does on the page, in their words."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

TOGETHER = "Which products are bought together most often?"
"""The sample's heavy question: it joins the order lines with themselves."""

HEAVY = (
    "SELECT count(*) AS pairs FROM order_lines a JOIN order_lines b USING (order_id) "
    "WHERE a.product_id < b.product_id"
)
"""The same join, counted only: some seconds on an idle machine."""

NEVER_ENDING = "SELECT sum(a.range * b.range % 7) FROM range(100000000) a, range(100000000) b"


def ask(page: Page, question: str) -> str:
    """Ask, and be taken to the run; its id."""
    page.get_by_role("combobox", name="Your question").fill(question)
    page.keyboard.press("Enter")
    return shown_run(page, question)


def run_sql(page: Page, sql: str) -> str:
    """Run a statement, and be taken to the run; its id."""
    page.get_by_role("banner").get_by_role("link", name="SQL", exact=True).click()
    write_sql(page, sql)
    page.get_by_role("button", name="Run", exact=True).click()
    return shown_run(page, " ".join(sql.split())[:60])


def write_sql(page: Page, sql: str) -> None:
    """Put a statement into the open editor, in place of what is there."""
    editor = page.get_by_role("textbox", name="SQL")
    editor.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")  # apart, else the browser makes a styled text of the insertion
    page.keyboard.insert_text(sql)


def shown_run(page: Page, title: str) -> str:
    """The id of the run that the page shows, once it shows the one of that title."""
    expect(page.get_by_role("heading", level=1)).to_contain_text(title)
    match = re.search(r"/t/(\w+)", page.url)
    assert match is not None, page.url
    return match[1]


def state(page: Page) -> Locator:
    """The state word of the run that is shown."""
    return page.locator(".status .badge")


def told(page: Page) -> Locator:
    """The state word and the sentence beside it."""
    return page.locator(".status .state")


def connection(page: Page) -> Locator:
    """The connection word."""
    return page.locator(".connection")


def percent(page: Page) -> int:
    """The percentage shown now; waits for one."""
    shown = page.locator(".figures strong")
    expect(shown).to_be_visible(timeout=20_000)
    return int(shown.inner_text().removesuffix(" %"))


def stop(page: Page) -> None:
    """Press Stop."""
    page.get_by_role("button", name="Stop", exact=True).click()


def make_link(page: Page) -> str:
    """Share the run that is shown; the link."""
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    return page.get_by_label("The link", exact=True).input_value()
