"""A question becomes a table. Source: issue "The first real question"."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Locator, Page, expect

from tests.e2e.conftest import App
from tests.e2e.walk import ask, connection, run_sql, state


def test_an_example_becomes_a_table_with_its_reading_and_its_sql(page: Page) -> None:
    page.locator(".examples button").first.click()
    expect(state(page)).to_have_text("Finished", timeout=30_000)
    expect(page.get_by_text("What this computes")).to_be_visible()
    expect(page.get_by_role("gridcell").first).not_to_be_empty()
    page.get_by_role("main").get_by_role("button", name="SQL", exact=True).click()
    expect(page.get_by_label("SQL text")).to_contain_text("SELECT")


def test_a_slash_leads_to_the_ask_box(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Your question")).to_be_focused()


def test_a_double_click_starts_one_run(page: Page, app: App) -> None:
    question = "How many customers are there?"
    before = [run for run in app.runs() if run["question"] == question]
    page.get_by_role("combobox", name="Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).dblclick()
    expect(state(page)).to_have_text("Finished")
    after = [run for run in app.runs() if run["question"] == question]
    assert len(after) == len(before) + 1


def test_a_question_without_ground_is_refused_with_what_was_understood(page: Page) -> None:
    ask(page, "How happy are our customers with the weather?")
    expect(state(page)).to_have_text("Not answered")
    panel = page.get_by_role("region", name="Not answered")
    expect(panel.get_by_text("Not understood", exact=True)).to_be_visible()
    expect(panel.get_by_text("Tables there are")).to_be_visible()
    expect(panel.get_by_text("order_lines", exact=True)).to_be_visible()
    panel.get_by_role("button").first.click()
    expect(state(page)).to_have_text("Finished", timeout=30_000)


def test_cells_are_the_databases_own_text(page: Page) -> None:
    run_sql(
        page,
        "SELECT 9007199254740993 AS big, 12345678901234575809.1234::DECIMAL(38,4) AS exact, "
        "NULL AS nothing, '' AS empty, TIMESTAMP '2026-01-02 03:04:05.000006' AS moment",
    )
    expect(state(page)).to_have_text("Finished")
    cells = page.get_by_role("gridcell")
    expect(cells.nth(0)).to_have_text("9007199254740993")
    expect(cells.nth(1)).to_have_text("12345678901234575809.1234")
    expect(cells.nth(2)).to_have_class(re.compile(r"\bnull\b"))
    expect(cells.nth(3)).to_have_text("")
    expect(cells.nth(4)).to_contain_text("03:04:05.000006")


def test_D12_columns_of_one_name_keep_their_own_values(page: Page) -> None:
    run_sql(page, 'SELECT 1 AS n, 2 AS n, 3 AS n_2, 4 AS " "')
    expect(page.get_by_role("columnheader")).to_have_text(["n", "n", "n_2", "column 4"])
    expect(page.get_by_role("gridcell")).to_have_text(["1", "2", "3", "4"])


def test_no_rows_are_a_result(page: Page) -> None:
    run_sql(page, "SELECT * FROM customers WHERE false")
    expect(state(page)).to_have_text("Finished")
    expect(page.locator(".count")).to_contain_text("0 rows")
    assert page.get_by_role("columnheader").count() > 1


def test_markup_in_data_stays_text(page: Page) -> None:
    nasty = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    run_sql(page, f"SELECT '{nasty}' AS \"<b>name</b>\"")
    expect(page.get_by_role("gridcell")).to_have_text(nasty)
    expect(page.get_by_role("columnheader")).to_have_text("<b>name</b>")
    assert page.locator("main img, main script, main b").count() == 0


def at_rest(grid: Locator) -> None:
    """Wait until nothing in it has changed for a moment: what comes later may move its rows."""
    grid.evaluate(
        """grid => new Promise(rested => {
            let timer
            const watch = new MutationObserver(() => begin())
            const begin = () => {
                clearTimeout(timer)
                timer = setTimeout(() => { watch.disconnect(); rested() }, 300)
            }
            watch.observe(grid, { childList: true, subtree: true, characterData: true })
            begin()
        })"""
    )


def test_D9_a_cut_result_says_so_and_scrolls_to_its_last_row_and_by_exact_steps(page: Page) -> None:
    run_sql(page, "SELECT range AS n FROM range(1500000)")
    expect(state(page)).to_have_text("Finished", timeout=60_000)
    expect(page.locator(".count")).to_contain_text("First 1,000,000 rows of more")
    grid = page.get_by_role("grid")
    grid.focus()
    page.keyboard.press("Control+End")
    expect(page.locator(".cell.active")).to_have_text("999999", timeout=20_000)
    first = page.get_by_role("gridcell").first
    at_rest(grid)
    before = int(first.inner_text())
    grid.hover()
    page.mouse.wheel(0, -280)
    expect(first).to_have_text(str(before - 10))
    grid.evaluate("one => { one.scrollTop = 0 }")  # as its scrollbar does
    expect(first).to_have_text("0")
    grid.evaluate("one => { one.scrollTop = one.scrollHeight }")
    expect(page.get_by_role("gridcell").last).to_have_text("999999", timeout=20_000)


def test_a_column_is_sorted_over_all_rows_not_only_those_shown(page: Page) -> None:
    run_sql(page, "SELECT range AS n, 1000 - range AS m FROM range(1000)")
    header = page.get_by_role("columnheader", name="m")
    header.get_by_role("button").click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_role("gridcell").first).to_have_text("999")
    header.get_by_role("button").click()
    expect(page.get_by_role("gridcell").first).to_have_text("0")


def test_C7_ten_tabs_are_all_live_on_one_stream(context: BrowserContext, app: App) -> None:
    """A browser opens six connections to a host; a stream a tab would starve the seventh tab."""
    tabs = [context.new_page() for _ in range(10)]
    for tab in tabs:
        tab.goto(app.url)
    for tab in tabs:
        expect(connection(tab)).to_have_text("Live")
    title = "SELECT 'seen in every tab' AS tab"
    tabs[0].bring_to_front()  # what is behind draws one frame a second
    run_sql(tabs[0], title)
    for tab in tabs:
        expect(tab.locator(".inbox")).to_contain_text(title)
    tabs[0].close()
    tabs[1].bring_to_front()
    run_sql(tabs[1], "SELECT 'after the first tab closed' AS tab")
    expect(tabs[9].locator(".inbox")).to_contain_text("after the first tab closed")
