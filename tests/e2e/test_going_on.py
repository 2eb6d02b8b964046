"""Asking on, accepting, and scripts. Source: ours."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.walk import ask, state, write_sql


def test_a_question_is_asked_on_with_what_changes_alone_and_an_answer_is_remembered(
    page: Page,
) -> None:
    ask(page, "number of customers by country")
    expect(state(page)).to_have_text("Finished")
    page.get_by_role("button", name="This is right: remember it").click()
    expect(page.get_by_text("Kept: the same question")).to_be_visible()
    page.get_by_role("textbox", name="Go on from this").fill("and by segment?")
    page.keyboard.press("Enter")
    expect(page.locator(".follows")).to_contain_text("number of customers by country")
    expect(state(page)).to_have_text("Finished")
    expect(page.locator(".reading")).to_contain_text("segment")
    page.locator(".follows").get_by_role("link").click()
    page.get_by_role("button", name="Ask again").click()
    expect(page.get_by_text("You have accepted this SQL")).to_be_visible()
    page.get_by_role("button", name="Forget that it is right").click()
    expect(page.get_by_text("Forgotten.")).to_be_visible()


def test_a_script_becomes_a_run_for_each_statement(page: Page) -> None:
    page.get_by_role("banner").get_by_role("link", name="SQL", exact=True).click()
    write_sql(page, "SELECT ';' AS one; SELECT 2 AS two; -- the end;")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".notice")).to_contain_text("A script")
    expect(page.get_by_role("gridcell")).to_have_text(";")
    page.locator(".notice").get_by_role("link", name="2").click()
    expect(page.get_by_role("columnheader")).to_have_text("two")
    expect(page.get_by_role("gridcell")).to_have_text("2")
