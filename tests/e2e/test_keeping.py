"""Keeping runs in order, and being told while one looks elsewhere. Source: issue "The page and the
terminal", 5 and 7."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Page, expect

from tests.e2e.conftest import App
from tests.e2e.walk import NEVER_ENDING, connection, run_sql, shown_run, state, stop


def test_runs_are_found_renamed_pinned_and_deleted_in_every_tab(
    page: Page, context: BrowserContext, app: App
) -> None:
    for number in range(5):
        run_sql(page, f"SELECT {number} AS kept")
    expect(state(page)).to_have_text("Finished")
    other = context.new_page()
    other.goto(app.url)
    page.bring_to_front()  # what is behind draws one frame a second
    inbox = other.get_by_role("navigation", name="Your questions")
    run_sql(page, "SELECT gibberish")
    failed = page.url
    expect(state(page)).to_have_text("Failed")
    page.keyboard.press("Escape")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("j")
    run_id = shown_run(page, "SELECT 4 AS kept")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_role("textbox", name="Title").fill("The <b>fourth</b>")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("The <b>fourth</b>")
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name=re.compile("^Pin")).click()
    expect(inbox.get_by_role("heading", name="Pinned")).to_be_visible()
    expect(inbox.locator("section", has_text="Pinned").locator("li")).to_contain_text("The <b>")
    other.bring_to_front()
    other.get_by_role("searchbox", name="Search").fill("fourth")
    expect(inbox.locator("li")).to_have_count(1)
    other.get_by_role("searchbox", name="Search").fill("")
    other.get_by_label("Show", exact=True).select_option("failed")
    expect(inbox.locator("li").first).to_contain_text("gibberish")
    page.bring_to_front()
    page.goto(failed)
    page.get_by_role("button", name="More").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_role("heading", name="Ask your database")).to_be_visible()
    expect(inbox).not_to_contain_text("gibberish")
    assert failed.rpartition("/")[2] not in {run["run_id"] for run in app.runs()}
    assert app.run(run_id)["pinned"]
    page.goto(failed)
    expect(page.get_by_role("heading", name="No such run")).to_be_visible()


STUBBED = """
window.told = []
window.Notification = class {
  static permission = 'default'
  static async requestPermission() { return (Notification.permission = 'granted') }
  constructor(title, options) { window.told.push([title, options.body]) }
  close() {}
}
"""


def look(tab: Page, *, hidden: bool) -> None:
    """Look at the tab, or elsewhere: a headless page is always visible."""
    tab.evaluate(
        """hidden => {
            Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
            document.dispatchEvent(new Event('visibilitychange'))
        }""",
        hidden,
    )


def test_who_looks_elsewhere_is_told_by_title_icon_and_once_allowed_a_notification(
    page: Page, context: BrowserContext, app: App
) -> None:
    tab = context.new_page()
    page.close()
    tab.add_init_script(STUBBED)
    tab.clock.install()
    tab.goto(app.url)
    expect(connection(tab)).to_have_text("Live")
    run_sql(tab, NEVER_ENDING)
    expect(tab).to_have_title(re.compile(r"^\(1\) "))
    icon = tab.locator("link[rel=icon]")
    expect(icon).to_have_attribute("href", re.compile("running"))
    # Asked for once somebody has waited for a while, and only then.
    expect(tab.get_by_role("button", name="Yes, tell me")).to_have_count(0)
    tab.clock.fast_forward(11_000)
    tab.get_by_role("button", name="Yes, tell me").click()
    expect(tab.get_by_role("button", name="Yes, tell me")).to_have_count(0)
    look(tab, hidden=True)
    stop(tab)
    expect(tab).to_have_title(re.compile("✓ 1 ended"), timeout=15_000)
    expect(icon).to_have_attribute("href", re.compile("ended"))
    assert tab.evaluate("() => window.told.map(([title]) => title)") == ["Stopped"]
    look(tab, hidden=False)
    expect(tab).to_have_title("Ask your database")
    tab.close()
