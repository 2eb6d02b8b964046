"""The probe's report in a real browser: light and dark, at a desk and on a phone."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import anyio
import pytest
from playwright.sync_api import Browser, Page, expect

from awhile.probe.reports import as_data, as_html, compared
from tests.interaction.probe.bench import probe_bench
from tests.interaction.probe.breaking import Defect
from tests.interaction.probe.defects import StaleMessage

AXE: Any = import_module("axe_playwright_python.sync_playwright").Axe()

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 800}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A report with a fault, and two side by side, as files."""
    folder = tmp_path_factory.mktemp("reports")

    async def run() -> Any:
        found: dict[str, Any] = {}

        async def one(name: str, defect: Defect | None) -> None:
            store = folder / f"{name}.db"
            found[name] = as_data(await probe_bench(store, defect=defect, eras=("2026-07-28",)))

        async with anyio.create_task_group() as together:
            together.start_soon(one, "bad", StaleMessage())
            together.start_soon(one, "good", None)
        return found["bad"], found["good"]

    with ThreadPoolExecutor(1) as beside:  # the browser's own loop is this thread's
        bad, good = beside.submit(anyio.run, run).result()
    written = {"report": as_html(bad), "comparison": as_html(compared(bad, good))}
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: folder / f"{name}.html" for name in written}


@pytest.fixture(params=["light", "dark"])
def scheme(request: pytest.FixtureRequest) -> Literal["light", "dark"]:
    return request.param


@pytest.fixture(params=[DESK, PHONE], ids=["desk", "phone"])
def view(
    request: pytest.FixtureRequest, browser: Browser, scheme: Literal["light", "dark"]
) -> Generator[Page]:
    # axe injects a script, which the report's own policy rightly refuses.
    context = browser.new_context(
        viewport=request.param, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("name", ["report", "comparison"])
def test_the_report_is_clean_by_axe_and_fits_its_screen(
    view: Page, pages: dict[str, Path], name: str
) -> None:
    """Ours."""
    view.goto(pages[name].as_uri())
    expect(view.locator("svg").first).to_be_visible()
    for details in view.locator("details").all()[:5]:
        details.evaluate("one => one.open = true")
    violations: list[dict[str, Any]] = AXE.run(view).response["violations"]
    assert [
        f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in violations
    ] == []
    wide = view.evaluate("() => [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide[0] <= wide[1]


def test_the_report_loads_nothing_and_complains_of_nothing(
    browser: Browser, pages: dict[str, Path]
) -> None:
    """Ours: under its own policy."""
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages["report"].as_uri())
    page.get_by_text("Exchange").first.click()
    expect(page.locator("pre").first).to_be_visible()
    assert said == []
    assert asked == [pages["report"].as_uri()]
    page.close()
