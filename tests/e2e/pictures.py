"""`make pictures`: every state of the page in light, dark and on a phone, into ``docs/images``.

One sheet a state, drawn by the browser itself, and two of them large for the README. To be looked
at, and kept with the documentation.
"""

from __future__ import annotations

import base64
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.e2e.browsing import launched
from tests.e2e.several import Several, several
from tests.e2e.walk import (
    NEVER_ENDING,
    TOGETHER,
    ask,
    connection,
    make_link,
    run_sql,
    state,
    stop,
    write_sql,
)

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
SAMPLES = ROOT / ".pytest_cache" / "d" / "samples"

LARGE = ("running", "finished")

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
LOOKS = (("light", DESK), ("dark", DESK), ("light", PHONE))

SHEET = """
<body style="margin:0;display:flex;gap:12px;padding:12px;background:#8a929e;width:max-content">
{}
</body>
"""


def front(page: Page) -> None:
    expect(page.locator(".examples button").first).to_be_visible()
    page.locator(".schema summary").first.click()


def editor(page: Page) -> None:
    page.get_by_role("banner").get_by_role("link", name="SQL", exact=True).click()
    write_sql(
        page,
        "SELECT country, count(*) AS customers\nFROM customers\nWHERE joined_on >= :since\n"
        "  AND contry <> 'Spain'\nGROUP BY country",
    )
    page.get_by_label(":since", exact=True).fill("2025-01-01")
    expect(page.locator(".cm-lintRange-error")).to_be_visible()


def running(page: Page) -> None:
    ask(page, TOGETHER)
    expect(page.locator(".figures strong")).to_have_text(re.compile(r"[2-9] %"), timeout=30_000)
    page.get_by_role("button", name="Steps").click()
    expect(page.get_by_role("list", name="Steps")).to_be_visible()


def superseded(page: Page) -> None:
    run_sql(page, NEVER_ENDING)
    page.get_by_role("button", name="Edit SQL").click()
    write_sql(page, "SELECT 1")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()


def stopped(page: Page) -> None:
    run_sql(page, NEVER_ENDING)
    stop(page)
    expect(state(page)).to_have_text("Stopped", timeout=20_000)


def finished(page: Page) -> None:
    ask(page, "top 10 products by revenue last month")
    expect(page.get_by_role("gridcell").first).to_be_visible(timeout=30_000)
    page.locator("#cell-1-0").click()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowRight")


def filtered(page: Page) -> None:
    run_sql(page, "SELECT * FROM orders LIMIT 5000")
    page.get_by_role("button", name="Filter").click()
    page.get_by_label("Column", exact=True).select_option("status")
    page.get_by_label("Value").fill("ret")
    page.get_by_role("button", name="Add").click()
    page.get_by_role("columnheader").nth(1).get_by_role("button").click()
    expect(page.locator(".count")).to_contain_text("of 5,000 rows")
    page.get_by_role("button", name="Columns").click()


def line(page: Page) -> None:
    ask(page, "revenue by month in 2025")
    page.get_by_role("button", name="Chart", exact=True).click()
    expect(page.locator(".plot svg")).to_be_visible()


def bars(page: Page) -> None:
    ask(page, "number of customers by country")
    page.get_by_role("button", name="Chart", exact=True).click()
    expect(page.locator(".plot svg")).to_be_visible()


def changed(page: Page) -> None:
    sql = "SELECT 'k' || range AS key, 7 AS same, epoch_ms(now()) % 1000 * range AS n FROM range(4)"
    run_sql(page, sql)
    expect(state(page)).to_have_text("Finished")
    first = page.url
    page.get_by_role("button", name="Run again").click()
    expect(page).not_to_have_url(first)
    page.get_by_role("button", name="What changed").click()
    expect(page.locator(".changes table")).to_be_visible()


def failed(page: Page) -> None:
    run_sql(page, "SELECT name,\n  contry\nFROM customers")
    expect(state(page)).to_have_text("Failed")


def refused(page: Page) -> None:
    ask(page, "How happy are our customers with the weather?")
    expect(state(page)).to_have_text("Not answered")


def helped(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def asked(page: Page) -> None:
    ask(page, f"Form {secrets.token_hex(2)}")
    card = page.get_by_role("region", name="Needs your answer")
    card.get_by_label("Who asks").fill("A")
    card.get_by_role("button", name="Answer").click()
    expect(card).to_contain_text("at least 2 characters")


def sharing(page: Page) -> None:
    ask(page, "number of customers by country")
    expect(page.get_by_role("gridcell").first).to_be_visible()
    make_link(page)


def shared(page: Page, people: Several) -> None:
    browser = page.context.browser
    assert browser is not None
    other = browser.new_page()
    people.sign_in(other, "ada")
    sharing(other)
    link = other.get_by_label("The link", exact=True).input_value()
    other.context.close()
    page.goto(link)
    expect(page.get_by_role("gridcell").first).to_be_visible()


def signed_out(page: Page, people: Several) -> None:
    run_sql(page, "SELECT range AS n, range * range AS square FROM range(12)")
    expect(page.get_by_role("gridcell").first).to_be_visible()
    people.end_session(page.context)
    expect(connection(page)).to_contain_text("Sign in again")


STATES: dict[str, Callable[[Page], None]] = {
    "front": front,
    "editor": editor,
    "running": running,
    "superseded": superseded,
    "stopped": stopped,
    "finished": finished,
    "filtered": filtered,
    "line": line,
    "bars": bars,
    "changed": changed,
    "failed": failed,
    "refused": refused,
    "help": helped,
}


@contextmanager
def started(*command: str) -> Generator[str]:
    """A program that prints a start URL first; ended at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", *command], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)


def opened_at(address: str) -> Callable[[Page], None]:
    """By the start URL of a page with one user."""

    def enter(page: Page) -> None:
        page.context.request.get(address)
        page.goto(address.partition("/?")[0])
        expect(connection(page)).to_have_text("Live")

    return enter


def picture(
    browser: Browser,
    enter: Callable[[Page], None],
    arrive: Callable[[Page], None],
    *,
    scheme: str,
    size: dict[str, int],
) -> bytes:
    """One state in one look."""
    context = browser.new_context(
        viewport={"width": size["width"], "height": size["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    enter(page)
    arrive(page)
    page.wait_for_timeout(300)
    taken = page.screenshot()
    while page.get_by_role("button", name="Stop", exact=True).count() and arrive is running:
        stop(page)
        expect(state(page)).to_have_text("Stopped", timeout=20_000)
    context.close()
    return taken


def sheet(browser: Browser, pictures: list[bytes]) -> bytes:
    """Pictures side by side, at half their size."""
    tags = [
        f'<img height="{400 if number < 2 else 422}" '
        f'src="data:image/png;base64,{base64.b64encode(one).decode()}">'
        for number, one in enumerate(pictures)
    ]
    page = browser.new_page(viewport={"width": 1600, "height": 460})
    page.set_content(SHEET.format("".join(tags)))
    taken = page.locator("body").screenshot()
    page.close()
    return taken


def main(wanted: list[str]) -> None:
    """Takes those that are named, or all."""
    (IMAGES / "page").mkdir(exist_ok=True)
    with ExitStack() as stack:
        data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if SAMPLES.exists():
            (data / "samples").symlink_to(SAMPLES)
        app = stack.enter_context(
            started(
                *("awhile.cli.main", "app", "--no-open-browser", "--port=0", "--page-port=0"),
                f"--data-folder={data}",
            )
        )
        store = f"sqlite:///{data / 'asking.sqlite3'}"
        asking = stack.enter_context(
            started("tests.machine.web.questions", store, "0", secrets.token_urlsafe())
        )
        people = several(Path(stack.enter_context(tempfile.TemporaryDirectory())))
        people.start()
        stack.callback(people.close)
        elsewhere: dict[str, tuple[Callable[[Page], None], Callable[[Page], None]]] = {
            "asked": (opened_at(asking), asked),
            "sharing": (partial(people.sign_in, name="ada"), sharing),
            "shared": (partial(people.sign_in, name="eve"), partial(shared, people=people)),
            "signed-out": (
                partial(people.sign_in, name="ada"),
                partial(signed_out, people=people),
            ),
        }
        playwright = stack.enter_context(sync_playwright())
        browser = launched(playwright)
        for name in wanted or [*STATES, *elsewhere]:
            enter, arrive = elsewhere.get(name) or (opened_at(app), STATES[name])
            taken = [picture(browser, enter, arrive, scheme=one, size=size) for one, size in LOOKS]
            (IMAGES / "page" / f"{name}.png").write_bytes(sheet(browser, taken))
            if name in LARGE:
                (IMAGES / f"{name}.png").write_bytes(taken[0])
            sys.stderr.write(f"{name}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
