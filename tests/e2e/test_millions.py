"""A grid of five million rows, to its last row; a sort given up. Source: issue "The page and the
terminal", 6."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.e2e.conftest import running_app, wait_until
from tests.e2e.walk import connection, run_sql, state

ROWS = 5_000_000
"""At 28 px a row 140 million px: four times what Chromium lets an element have."""


@pytest.mark.long
def test_five_million_rows_are_scrolled_to_the_last_by_keys_wheel_and_scrollbar_and_sorted(
    browser: Browser, samples: Path, tmp_path: Path
) -> None:
    with running_app(tmp_path, samples, f"--row-budget={ROWS}") as app:
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.request.get(app.start_url)
        page = context.new_page()
        page.goto(app.url)
        expect(connection(page)).to_have_text("Live")
        run_sql(page, f"SELECT range AS n, 'row ' || range AS name FROM range({ROWS})")
        expect(state(page)).to_have_text("Finished", timeout=120_000)
        expect(page.locator(".count")).to_contain_text("5,000,000 rows")
        grid = page.get_by_role("grid")
        expect(grid).to_have_attribute("aria-rowcount", str(ROWS + 1))

        grid.focus()
        page.keyboard.press("Control+End")
        expect(page.locator(".cell.active")).to_have_text(f"row {ROWS - 1}", timeout=20_000)
        shown = page.locator(".rows [aria-colindex='1']")
        expect(shown.last).to_have_text(str(ROWS - 1))

        for _ in range(20):
            page.keyboard.press("PageUp")
        page.keyboard.press("Home")
        expect(page.locator(".cell.active")).not_to_be_empty()
        expect(shown.first).not_to_be_empty()
        at = int(shown.first.inner_text())
        assert ROWS - 1000 < at < ROWS - 100

        grid.hover()
        page.mouse.wheel(0, 280)
        expect(shown.first).to_have_text(str(at + 10))  # by exact steps, though the bar is coarse
        for _ in range((ROWS - at) // 20):
            page.mouse.wheel(0, 560)
        expect(shown.last).to_have_text(str(ROWS - 1))

        grid.evaluate("one => { one.scrollTop = 0 }")  # as its scrollbar does
        expect(shown.first).to_have_text("0")
        grid.evaluate("one => { one.scrollTop = one.scrollHeight / 2 }")
        expect(shown.first).to_have_text(re.compile("^(2499|2500)...$"), timeout=20_000)
        grid.evaluate("one => { one.scrollTop = one.scrollHeight }")
        expect(shown.last).to_have_text(str(ROWS - 1), timeout=20_000)

        heading = page.get_by_role("columnheader", name="name")
        for order in ("ascending", "descending"):
            heading.get_by_role("button").click()
            expect(heading).to_have_attribute("aria-sort", order)
            expect(page.locator(".count")).to_contain_text("Sorting…")
        heading.get_by_role("button").click()  # given up: the rows as they were are there at once
        expect(page.locator(".count")).not_to_contain_text("Sorting…", timeout=1_000)
        expect(shown.first).to_have_text("0", timeout=2_000)
        wait_until(lambda: app.server().cpu_percent(0.3) < 30, seconds=10, what="no sort any more")
        context.close()
