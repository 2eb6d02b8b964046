"""Results: exact, sorted, filtered, copied, drawn, taken along. Source: issue "The page and the
terminal", 6."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import App
from tests.e2e.walk import ask, connection, run_sql, state

BIG = ["9223372036854775807", "9007199254740993", "9007199254740992", "-9223372036854775808"]
"""2^63 - 1, 2^53 + 1, 2^53, -2^63: a browser's own numbers cannot tell the two in the middle."""


@pytest.fixture
def context(app: App, browser: Browser) -> object:
    context = browser.new_context(
        viewport={"width": 1280, "height": 800},
        permissions=["clipboard-read", "clipboard-write"],
        accept_downloads=True,
    )
    context.request.get(app.start_url)
    yield context
    context.close()


def clipboard(page: Page) -> str:
    return str(page.evaluate("() => navigator.clipboard.readText()"))


def cells(page: Page, column: int) -> list[str]:
    return page.locator(f".rows [aria-colindex='{column}']").all_inner_texts()


def test_D10_big_integers_are_exact_in_the_grid_sorted_filtered_copied_and_exported(
    page: Page, tmp_path: Path
) -> None:
    values = ", ".join(f"({one}, '{{\"id\": {one}}}'::JSON, {one}::HUGEINT * 1000)" for one in BIG)
    run_sql(page, f"SELECT * FROM (VALUES {values}) t(id, doc, huge)")
    expect(page.get_by_role("gridcell").first).to_have_text(BIG[0])
    heading = page.get_by_role("columnheader", name="id", exact=True)
    heading.get_by_role("button").click()
    expect(page.get_by_role("gridcell").first).to_have_text(BIG[3])
    assert cells(page, 1) == BIG[::-1]
    assert cells(page, 2) == [f'{{"id": {one}}}' for one in BIG[::-1]]
    assert cells(page, 3) == [f"{one}000" for one in BIG[::-1]]
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Condition").select_option(">=")
    page.get_by_label("Value").fill(BIG[1])
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".count")).to_contain_text("2 of 4 rows")
    page.locator("#cell-0-0").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    expect(page.locator(".count")).to_contain_text("Copied 6 cells")
    rows = [line.split("\t") for line in clipboard(page).split("\n")]
    assert [row[0] for row in rows] == [BIG[1], BIG[0]]
    assert rows[0][1] == f'"{{""id"": {BIG[1]}}}"'
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+c")
    assert clipboard(page) == f"{BIG[0]}000"
    saved = tmp_path / "rows"
    page.get_by_role("button", name="Export").click()
    forms = {"Excel": b"PK", "Parquet, exact and typed": b"PAR1", "CSV, exact": b"id,"}
    for form, begins in forms.items():
        with page.expect_download() as download:
            page.get_by_role("button", name=form).click()
        download.value.save_as(saved)
        assert saved.read_bytes().startswith(begins)
    with saved.open(encoding="utf-8", newline="") as file:
        exported = list(csv.reader(file))
    assert exported == [
        ["id", "doc", "huge"],
        [BIG[1], f'{{"id": {BIG[1]}}}', f"{BIG[1]}000"],
        [BIG[0], f'{{"id": {BIG[0]}}}', f"{BIG[0]}000"],
    ]


def test_a_link_shows_the_same_view_to_whoever_opens_it(
    page: Page, context: BrowserContext
) -> None:
    run_sql(page, "SELECT range AS n, range % 7 AS m, 'x' AS hidden FROM range(100)")
    page.get_by_role("columnheader", name="m").get_by_role("button").click()
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Value").fill("50")
    page.get_by_label("Condition").select_option(">")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("hidden").uncheck()
    expect(page.locator(".count")).to_contain_text("49 of 100 rows")
    page.get_by_role("button", name="Copy link").click()
    other = context.new_page()
    other.goto(clipboard(page))
    expect(other.locator(".count")).to_contain_text("49 of 100 rows")
    expect(other.get_by_role("columnheader")).to_have_count(2)
    expect(other.get_by_role("gridcell").first).to_have_text("56")
    expect(other.get_by_role("columnheader", name="m")).to_have_attribute("aria-sort", "ascending")
    other.close()


def test_the_grid_is_used_by_keys_alone_and_holds_very_wide_and_very_long_things(
    page: Page,
) -> None:
    wide = ", ".join(f"{number} AS c{number}" for number in range(400))
    run_sql(page, f"SELECT {wide}, repeat('äb', 30000) AS long FROM range(3)")
    expect(page.get_by_role("gridcell").first).to_have_text("0")
    assert page.get_by_role("gridcell").count() < 120
    page.get_by_role("grid").focus()
    page.keyboard.press("Control+End")
    expect(page.locator(".cell.active")).to_have_attribute("aria-colindex", "401")
    page.keyboard.press("Control+c")
    expect(page.locator(".count")).to_contain_text("Copied")
    assert clipboard(page) == "äb" * 30_000
    page.get_by_role("button", name="Show all of it").click()
    expect(page.get_by_label("The cell")).to_have_text("äb" * 30_000)
    page.get_by_role("grid").focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    heading = page.get_by_role("columnheader", name="c1", exact=True)
    expect(heading).to_have_class(re.compile(r"\bactive\b"))
    before = heading.bounding_box()
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Alt+ArrowRight")
    page.keyboard.press("Enter")
    expect(heading).to_have_attribute("aria-sort", "ascending")
    after = heading.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] == before["width"] + 32


def test_a_chart_is_chosen_drawn_on_an_honest_axis_and_told_in_words(page: Page) -> None:
    ask(page, "number of customers by country")
    expect(state(page)).to_have_text("Finished")
    page.get_by_role("button", name="Chart", exact=True).click()
    chart = page.locator(".plot").get_by_role("img")
    expect(chart).to_have_attribute("aria-label", re.compile(r"^Bars: .*highest \d+ at "))
    expect(page.locator(".plot")).to_contain_text("Germany")
    assert page.locator(".plot style, .plot [aria-label]:not([role=img])").count() == 0
    expect(page).to_have_url(re.compile("show=chart"))
    page.get_by_role("button", name="Table", exact=True).click()
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator(".count")).to_contain_text("Copied")
    assert clipboard(page).startswith("| country | ")


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Apia"])
def test_instants_and_days_are_shown_as_they_are_in_every_time_zone(
    app: App, browser: Browser, zone: str
) -> None:
    """Apia never had the 30th of December 2011; Los Angeles no half past two on 2026-03-08."""
    context = browser.new_context(timezone_id=zone)
    context.request.get(app.start_url)
    page = context.new_page()
    page.goto(app.url)
    expect(connection(page)).to_have_text("Live")
    run_sql(
        page,
        "SELECT TIMESTAMP '2026-03-08 02:30:00' AS at, DATE '2011-12-30' AS day, 1 AS n "
        "UNION ALL SELECT TIMESTAMP '2026-03-08 02:31:00', DATE '2011-12-31', 2",
    )
    expect(page.get_by_role("gridcell").nth(0)).to_contain_text("2026-03-08 02:30:00")
    expect(page.get_by_role("gridcell").nth(1)).to_have_text("2011-12-30")
    page.get_by_role("button", name="Chart", exact=True).click()
    page.get_by_label("along").select_option("day")
    chart = page.locator(".plot").get_by_role("img")
    expect(chart).to_have_attribute("aria-label", re.compile("from 2011-12-30 to 2011-12-31"))
    expect(page.locator(".plot")).to_contain_text("30")
    context.close()


def test_what_has_changed_since_the_same_was_asked_before_is_told(page: Page) -> None:
    run_sql(page, "SELECT 'clock' AS what, 7 AS same, epoch_ms(now()) AS moved")
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("button", name="What changed")).to_have_count(0)
    page.get_by_role("button", name="Run again").click()
    page.get_by_role("button", name="What changed").click()
    changes = page.locator(".changes")
    expect(changes).to_contain_text("Of the rows, 1 changed, since")
    expect(changes.locator("td").nth(2)).to_have_text(re.compile(r"^\d+ \d+ \(\+\d+\)$"))
