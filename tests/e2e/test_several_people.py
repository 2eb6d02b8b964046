"""Several people at one page, signed in at a real provider. Source: issue "The page and the
terminal", 8."""

from __future__ import annotations

from typing import Any, cast

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.e2e.conftest import wait_until
from tests.e2e.several import ACCESS_SECONDS, Several
from tests.e2e.test_comfort import fits, violations
from tests.e2e.walk import connection, run_sql, state, write_sql

ADAS = "SELECT 'of Ada' AS secret, customer_id FROM customers"
EVES = "SELECT 'of Eve' AS secret, customer_id FROM customers"


def test_each_sees_their_own_runs_results_and_files_and_nobody_elses(
    served: Several, ada: Page, eve: Page
) -> None:
    of_ada, of_eve = run_sql(ada, ADAS), run_sql(eve, EVES)
    for page, own, foreign, runs in ((ada, ADAS, EVES, of_eve), (eve, EVES, ADAS, of_ada)):
        expect(state(page)).to_have_text("Finished")
        expect(page.get_by_role("grid")).to_contain_text("of Ada" if page is ada else "of Eve")
        page.goto(f"{served.page_url}/")
        expect(page.locator(".inbox")).to_contain_text(own[:20])
        expect(page.locator(".inbox")).not_to_contain_text(foreign[:20])
        page.goto(f"{served.page_url}/t/{runs}")
        expect(page.get_by_text("No such run", exact=False)).to_be_visible()
        for path in (f"/runs/{runs}", f"/runs/{runs}/file.csv", f"/runs/{runs}/history"):
            assert served.api(page.context, path) in {404, 422}, path
    csv = ada.context.request.get(f"{served.page_url}/api/runs/{of_ada}/file.csv")
    assert "of Ada" in csv.text()


def test_a_link_leads_through_the_sign_in_to_where_it_was_going(
    served: Several, ada: Page, browser: Browser
) -> None:
    run_id = run_sql(ada, ADAS)
    elsewhere = browser.new_context()
    page = elsewhere.new_page()
    served.sign_in(page, "ada", to=f"/t/{run_id}?sort=1")
    assert page.url == f"{served.page_url}/t/{run_id}?sort=1"
    expect(page.get_by_role("grid")).to_contain_text("of Ada")
    elsewhere.close()


def test_a_restart_of_the_page_and_an_old_token_sign_nobody_out(
    served: Several, contexts: list[BrowserContext]
) -> None:
    """Two restarts in any order, and a token that is renewed before its end."""
    others = served.sessions().keys()
    ada, eve = (context.new_page() for context in contexts)
    served.sign_in(ada, "ada")
    served.sign_in(eve, "eve")
    before = served.sessions()
    theirs = before.keys() - others
    assert len(theirs) == 2
    for page in (ada, eve):
        page.goto(f"{served.page_url}/sql")
        write_sql(page, "SELECT 'typed'")
    served.stop_page()
    expect(connection(ada)).to_contain_text("No connection")
    served.start_page()
    for page in (ada, eve):
        expect(connection(page)).to_have_text("Live")
        expect(page.get_by_role("textbox", name="SQL")).to_have_text("SELECT 'typed'")
    assert theirs <= served.sessions().keys()

    def renewed() -> bool:
        now = served.sessions()
        return all(now[name] > before[name] for name in theirs)

    wait_until(renewed, seconds=3 * ACCESS_SECONDS, what="both tokens renewed")
    run_sql(ada, ADAS)
    expect(state(ada)).to_have_text("Finished")
    expect(connection(ada)).to_have_text("Live")


def test_signing_out_ends_it_in_every_tab_and_at_the_provider(served: Several, ada: Page) -> None:
    run_sql(ada, ADAS)
    other = ada.context.new_page()
    other.goto(ada.url)
    expect(other.get_by_role("grid")).to_contain_text("of Ada")
    cookies = ada.context.cookies()
    ada.get_by_role("button", name="Ada", exact=True).click()
    ada.get_by_role("button", name="Sign out").click()
    expect(other.get_by_role("heading", name="You are signed out")).to_be_visible()
    ada.get_by_role("button", name="Yes, sign me out").click()
    expect(ada.get_by_role("heading", name="You are signed out")).to_be_visible()
    held = [one for one in cookies if one.get("name", "").startswith("awhile-")]
    ada.context.add_cookies(cast("Any", held))
    assert served.api(ada.context, "/session") == 401
    ada.context.clear_cookies()
    served.sign_in(other, "eve")
    expect(other.get_by_role("button", name="Eve", exact=True)).to_be_visible()
    expect(other.locator(".inbox")).not_to_contain_text("of Ada")


def test_whoever_is_signed_out_while_typing_signs_in_again_and_goes_on(
    served: Several, ada: Page
) -> None:
    ada.goto(f"{served.page_url}/sql")
    write_sql(ada, "SELECT 'typed for an hour'")
    served.end_session(ada.context)
    expect(connection(ada)).to_contain_text("Signed out; what you see may be out of date")
    assert violations(ada) == []
    with ada.expect_popup() as opened:
        ada.get_by_role("link", name="Sign in again").click()
    again = opened.value
    # The provider knows her still.
    expect(connection(again)).to_have_text("Live")
    assert again.url == f"{served.page_url}/sql"
    expect(connection(ada)).to_have_text("Live")
    expect(ada.get_by_role("textbox", name="SQL")).to_have_text("SELECT 'typed for an hour'")
    ada.get_by_role("button", name="Run", exact=True).click()
    expect(state(ada)).to_have_text("Finished")


def test_another_person_in_the_same_browser_is_shown_nothing_of_the_one_before(
    served: Several, ada: Page
) -> None:
    run_sql(ada, ADAS)
    expect(ada.get_by_role("grid")).to_contain_text("of Ada")
    second = ada.context.new_page()
    served.end_session(ada.context)
    ada.context.clear_cookies()  # also the provider's, which knew her
    served.sign_in(second, "eve")
    expect(ada.get_by_role("button", name="Eve", exact=True)).to_be_visible()
    expect(ada.locator("body")).not_to_contain_text("of Ada")


def test_a_tab_of_somebody_whose_cookies_were_deleted_tells_the_next_nothing(
    served: Several, ada: Page
) -> None:
    """Her tab is open, and her session goes on, while somebody else signs in beside it."""
    run_sql(ada, ADAS)
    expect(ada.get_by_role("grid")).to_contain_text("of Ada")
    ada.context.clear_cookies()
    second = ada.context.new_page()
    served.sign_in(second, "eve")
    own = run_sql(second, EVES)
    expect(second.locator(".inbox")).to_contain_text(EVES[:20])
    expect(second.locator(".inbox")).not_to_contain_text(ADAS[:20])
    second.goto(f"{served.page_url}/t/{own}")
    expect(second.get_by_role("grid")).to_contain_text("of Eve")
    expect(second.locator(".inbox")).not_to_contain_text(ADAS[:20])
    expect(ada.locator("body")).not_to_contain_text("of Eve")


def test_where_too_many_people_are_here_the_page_says_so_and_goes_on_once_there_is_room(
    served: Several, ada: Page
) -> None:
    """What the page backend answers then is tested in `tests.interaction.ask`."""
    late = ada.context.new_page()
    ada.close()
    error = {"error": {"code": "full", "message": "Too many people are here at the moment."}}
    here = {"signed_in": True, "full": True, "person": {"id": "x", "name": "Ada"}}
    late.route("**/api/events*", lambda one: one.fulfill(status=503, json=error))
    late.route("**/api/session", lambda one: one.fulfill(json=here))
    late.goto(served.page_url)
    expect(connection(late)).to_contain_text("Too many people are here at the moment")
    assert fits(late)
    assert violations(late) == []
    late.unroute_all()
    expect(connection(late)).to_have_text("Live")


def test_who_is_signed_in_is_shown_on_a_desk_and_on_a_phone(ada: Page, eve: Page) -> None:
    for page, name in ((ada, "Ada"), (eve, "Eve")):
        page.get_by_role("button", name=name, exact=True).click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        assert fits(page)
        assert violations(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
