"""The browser that the page is looked at in."""

from __future__ import annotations

import shutil

from playwright.sync_api import Browser, Playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")


def launched(playwright: Playwright) -> Browser:
    """Chromium, as it is on this machine."""
    found = [shutil.which(name) for name in NAMES]
    executable = next((path for path in found if path), None)
    assert executable is not None, "no Chromium on the PATH; `make e2e` brings one"
    return playwright.chromium.launch(
        executable_path=executable,
        args=[
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
        ],
    )
