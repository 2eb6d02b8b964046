"""Waiting, stopping, leaving and coming back. Source: issue "The first real question"."""

from __future__ import annotations

import re
import signal

import psutil
from playwright.sync_api import Page, expect

from tests.e2e.conftest import App, wait_until
from tests.e2e.walk import (
    HEAVY,
    NEVER_ENDING,
    TOGETHER,
    ask,
    connection,
    percent,
    run_sql,
    state,
    stop,
    told,
)


def test_the_percentage_of_a_heavy_question_moves_and_goes_on_after_a_reload(page: Page) -> None:
    ask(page, TOGETHER)
    expect(state(page)).to_have_text("Running")
    first = percent(page)
    expect(page.get_by_text("engine’s estimate")).to_be_visible()
    expect(page.get_by_text("What this computes")).to_be_visible()
    expect(page.get_by_label("SQL text")).to_contain_text("SELECT")
    wait_until(lambda: percent(page) > first, seconds=30, what=f"more than {first} %")
    before_reload = percent(page)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text(TOGETHER)
    expect(state(page)).to_have_text("Running")
    wait_until(lambda: percent(page) > before_reload, seconds=30, what=f"more, after {first} %")
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=15_000)


def test_a_run_that_was_reloaded_half_way_ends_with_its_table(page: Page) -> None:
    run_sql(page, HEAVY)
    expect(state(page)).to_have_text("Running")
    page.reload()
    expect(state(page)).to_have_text("Finished", timeout=90_000)
    expect(page.get_by_role("gridcell")).to_have_text(re.compile(r"^\d+$"))


def test_stopped_is_shown_once_the_database_has_stopped(page: Page, app: App) -> None:
    run_id = ask(page, TOGETHER)
    percent(page)
    wait_until(lambda: app.busy_workers() != [], seconds=10, what="a busy database process")
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=15_000)
    assert app.busy_workers() == []  # the engine's own word, not the page's
    facts = app.run(run_id)
    assert facts["status"] == "cancelled"
    assert facts["stopped_how"] in {"engine_confirmed", "process_ended"}
    expect(told(page)).to_contain_text("confirmed")


def test_a_sort_that_does_not_listen_is_stopped_all_the_same(page: Page, app: App) -> None:
    """DuckDB's interrupt took up to 15 s inside a sort; then its process is ended."""
    run_id = run_sql(
        page,
        "SELECT * FROM order_lines a, range(4) b ORDER BY hash(a.quantity, b.range, random())",
    )
    wait_until(lambda: app.busy_workers() != [], seconds=10, what="a busy database process")
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=15_000)
    assert app.busy_workers() == []
    assert app.run(run_id)["status"] == "cancelled"


def test_a_killed_server_comes_back_by_itself_and_the_run_ends_honestly(
    page: Page, app: App
) -> None:
    run_id = run_sql(page, HEAVY)
    expect(state(page)).to_have_text("Running")
    killed = app.server()
    killed.kill()
    expect(connection(page)).to_contain_text("Server not reachable since", timeout=12_000)
    expect(state(page)).to_have_text("Unreachable")
    expect(connection(page)).to_have_text("Live", timeout=30_000)
    assert app.server().pid != killed.pid
    # `run_sql` is declared safe to run again, so it is; the page was never reloaded.
    expect(told(page)).to_have_text("Running again: 2nd attempt")
    expect(state(page)).to_have_text("Finished", timeout=120_000)
    expect(page.get_by_role("gridcell").first).not_to_be_empty()
    assert app.run(run_id)["status"] == "completed"


def test_D7_a_query_that_errors_ends_at_once_with_the_place_of_the_error(page: Page) -> None:
    run_sql(page, "SELECT name\nFROM no_such_table")
    expect(state(page)).to_have_text("Failed")
    panel = page.get_by_role("region", name="Error")
    expect(panel).to_contain_text("no_such_table")
    expect(panel).to_contain_text("Line 2")
    expect(page.locator(".line.marked")).to_contain_text("no_such_table")


def test_D7_a_database_process_that_dies_ends_the_run_in_bounded_time(page: Page, app: App) -> None:
    run_id = run_sql(page, NEVER_ENDING)

    def is_failed() -> bool:
        for worker in app.busy_workers():  # one that is just starting is busy as well
            worker.kill()
        return state(page).text_content() == "Failed"

    wait_until(is_failed, seconds=20, what="a run that failed with its database process")
    expect(page.get_by_role("region", name="Error")).not_to_be_empty()
    assert app.run(run_id)["is_error"]


def test_D7_a_server_that_sleeps_is_said_to_and_its_late_result_still_arrives(
    page: Page, app: App
) -> None:
    run_sql(page, HEAVY)
    expect(state(page)).to_have_text("Running")
    server = app.server()
    server.send_signal(signal.SIGSTOP)
    try:
        expect(connection(page)).to_contain_text("Server not reachable since", timeout=12_000)
        expect(state(page)).to_have_text("Unreachable")
        expect(page.locator(".figures")).to_contain_text("when last heard of")
    finally:
        server.send_signal(signal.SIGCONT)
    expect(connection(page)).to_have_text("Live")
    expect(state(page)).to_have_text("Finished", timeout=90_000)
    expect(page.get_by_role("gridcell")).not_to_be_empty()


def test_D7_a_query_that_never_ends_can_be_stopped(page: Page, app: App) -> None:
    run_sql(page, NEVER_ENDING)
    wait_until(lambda: app.busy_workers() != [], seconds=10, what="a busy database process")
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=15_000)
    assert app.busy_workers() == []


def test_live_decays_when_the_page_backend_sleeps(page: Page, app: App) -> None:
    backend = psutil.Process(app.process.pid)
    backend.send_signal(signal.SIGSTOP)
    try:
        expect(connection(page)).to_have_text(
            "No connection, what you see may be out of date", timeout=14_000
        )
    finally:
        backend.send_signal(signal.SIGCONT)
    expect(connection(page)).to_have_text("Live", timeout=7_000)


def test_a_request_to_stop_that_was_not_sent_says_so(page: Page, app: App) -> None:
    run_id = run_sql(page, NEVER_ENDING)
    expect(state(page)).to_have_text("Running")
    app.server().kill()
    expect(connection(page)).to_contain_text("Server not reachable", timeout=12_000)
    stop(page)
    expect(told(page)).to_contain_text("request not sent; the query is unaffected")
    expect(connection(page)).to_have_text("Live", timeout=30_000)
    assert app.run(run_id)["cancel_asked_at"] is None
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=20_000)
