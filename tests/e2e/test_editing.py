"""Writing SQL, changing it and running it again. Source: issue "The page and the terminal", 1."""

from __future__ import annotations

import re

from playwright.sync_api import BrowserContext, Page, Route, expect

from tests.e2e.conftest import App, wait_until
from tests.e2e.walk import NEVER_ENDING, ask, connection, run_sql, state, stop, write_sql


def live_runs(app: App) -> list[str]:
    return [run["sql"] for run in app.runs() if run["status"] == "working"]


def test_sql_is_completed_from_the_schema_checked_as_it_is_written_and_given_values(
    page: Page,
) -> None:
    page.keyboard.press("e")
    editor = page.get_by_role("textbox", name="SQL")
    expect(editor).to_be_focused()
    expect(page.get_by_role("region", name=re.compile("holds"))).to_be_visible()
    page.keyboard.type("SELECT * FROM custom", delay=20)
    expect(page.get_by_role("option", name="customers")).to_be_visible()
    page.wait_for_timeout(150)  # an editor takes no completion that has only just appeared
    page.keyboard.press("Enter")
    page.keyboard.type(" WHERE customer_id = :who AND contry = 1")
    page.get_by_label(":who", exact=True).fill("7")
    expect(page.get_by_label("Type of :who")).to_have_value("integer")
    expect(page.locator(".hint")).to_contain_text("contry", timeout=10_000)
    expect(page.locator(".cm-lintRange-error")).to_have_text("contry")
    write_sql(page, "SELECT customer_id, :name AS said FROM customers WHERE customer_id = :who")
    page.get_by_label(":who", exact=True).fill("seven")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Needs a whole number")).to_be_visible()
    page.get_by_label(":who", exact=True).fill("7")
    page.get_by_label(":name", exact=True).fill("O'Hara; --")
    page.get_by_label(":name", exact=True).press("Enter")
    expect(state(page)).to_have_text("Finished")
    expect(page.get_by_role("gridcell")).to_have_text(["7", "O'Hara; --"])
    expect(page.locator(".values")).to_contain_text("O'Hara; --")


def test_the_schema_is_at_hand_and_a_name_of_it_goes_into_the_text(page: Page) -> None:
    page.get_by_role("banner").get_by_role("link", name="SQL", exact=True).click()
    page.get_by_role("textbox", name="SQL").focus()
    page.keyboard.type("SELECT * FROM ")
    schema = page.get_by_role("region", name=re.compile("holds"))
    schema.get_by_text("order_lines", exact=True).click()
    expect(schema.get_by_text("→ products.product_id")).to_be_visible()
    schema.locator("li", has_text="order_lines").get_by_role(
        "button", name="Insert its name"
    ).first.click()
    expect(page.get_by_role("textbox", name="SQL")).to_contain_text("SELECT * FROM order_lines")


def test_D2_what_is_edited_and_run_again_leaves_one_query_and_its_own_label(
    page: Page, app: App
) -> None:
    run_sql(page, f"{NEVER_ENDING} -- 0")
    for number in range(1, 6):
        page.get_by_role("button", name="Edit SQL").click()
        write_sql(page, f"{NEVER_ENDING} -- {number}")
        page.get_by_role("button", name="Run", exact=True).click()
        if number == 1:  # asked once, and remembered
            page.get_by_role("button", name="Stop it and run this one").click()
        expect(page.get_by_label("SQL text")).to_contain_text(f"-- {number}")
        expect(page.locator(".notice")).to_contain_text("The version before was asked to stop")
    wait_until(lambda: len(live_runs(app)) == 1, seconds=15, what="one query left")
    page.reload()
    expect(state(page)).to_have_text("Running")
    expect(page.get_by_label("SQL text")).to_contain_text("-- 5")
    assert live_runs(app)[0].endswith("-- 5")
    page.get_by_label("When I leave:").select_option("stop")
    expect(page.get_by_label("When I leave:")).to_have_value("stop")
    page.goto("about:blank")
    wait_until(lambda: live_runs(app) == [], seconds=25, what="a stop because everybody has left")


def test_a_question_that_runs_is_attached_to_and_not_started_again(
    page: Page, context: BrowserContext, app: App
) -> None:
    run_id = run_sql(page, NEVER_ENDING)
    other = context.new_page()
    other.goto(app.url)
    expect(connection(other)).to_have_text("Live")
    assert run_sql(other, NEVER_ENDING) == run_id
    expect(other.locator(".notice")).to_contain_text("not started again")
    other.close()
    page.bring_to_front()
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=15_000)


def test_a_lost_answer_a_way_back_and_a_way_forward_start_nothing_twice(
    page: Page, app: App
) -> None:
    question = "How many products are there?"
    lost: list[int] = []

    def lose_the_first_answer(route: Route) -> None:
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)  # it arrives, and its answer does not
        return route.fulfill(status=502, body="Bad Gateway")

    page.route("**/api/runs", lose_the_first_answer)
    run_id = ask(page, question)
    expect(state(page)).to_have_text("Finished")
    assert lost == [200]
    page.go_back()
    expect(page.get_by_role("heading", name="Ask your database")).to_be_visible()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text(question)
    assert [run["run_id"] for run in app.runs() if run["question"] == question] == [run_id]
    # Asked before, so it is offered.
    page.get_by_role("combobox", name="Your question").focus()
    page.keyboard.type("many prod")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Your question")).to_have_value(question)
    # And changed where it stands.
    page.get_by_role("button", name="Edit", exact=True).click()
    page.get_by_label("Change the question").fill("How many orders are there?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("How many orders are there?")
    expect(state(page)).to_have_text("Finished")
