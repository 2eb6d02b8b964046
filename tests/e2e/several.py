"""A server, an OpenID Connect provider and the page of several people, as processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
from playwright.sync_api import BrowserContext, Page, expect

ROOT = Path(__file__).parents[2]
SECRET = "only-for-tests"  # noqa: S105
ACCESS_SECONDS = 4
"""How long an access token lasts: it is renewed after three quarters of that."""
STOP_SECONDS = 10.0


@dataclass
class Several:
    """All of them, and where they are."""

    data: Path
    page_url: str
    mcp_url: str
    issuer: str
    _stack: ExitStack = field(default_factory=ExitStack)
    _page: ExitStack = field(default_factory=ExitStack)

    def start_page(self) -> None:
        """The page backend, in front of the server."""
        self._page.enter_context(
            _running(
                *("-m", "awhile.cli.main", "page"),
                f"--server-url={self.mcp_url}",
                f"--page-url={self.page_url}",
                f"--token-issuer={self.issuer}",
                "--oidc-client-id=page",
                "--token-scopes=ask",
                f"--page-port={_port_of(self.page_url)}",
                f"--data-folder={self.data}",
                AWHILE_OIDC_CLIENT_SECRET=SECRET,
            )
        )

    def stop_page(self) -> None:
        """End the page backend; the server and the provider go on."""
        self._page.close()

    def start(self) -> None:
        """Everything."""
        database = self.data / "shop.duckdb"
        with duckdb.connect(str(database)) as made:
            made.execute(
                "CREATE TABLE customers AS SELECT range AS customer_id, "
                "['Iceland', 'Norway', 'Spain'][1 + range % 3] AS country FROM range(7)"
            )
        setup = {
            "port": _port_of(self.issuer),
            "page_url": self.page_url,
            "resource": self.mcp_url,
            "client_secret": SECRET,
            "access_seconds": ACCESS_SECONDS,
        }
        provider = ("-m", "checks.oidc_provider", json.dumps(setup))
        self._stack.enter_context(_running(*provider))
        self._stack.enter_context(
            _running(
                *("-m", "awhile.cli.main", "serve", str(database)),
                f"--port={_port_of(self.mcp_url)}",
                f"--data-folder={self.data}",
                f"--token-issuer={self.issuer}",
                f"--public-url={self.mcp_url}",
                "--token-scopes=ask",
            )
        )
        self._stack.callback(self.stop_page)
        self.start_page()

    def close(self) -> None:
        """End all of them."""
        self._stack.close()

    def sessions(self) -> dict[str, int]:
        """The files that say who is signed in, and when each was written."""
        found = (self.data / "sessions").glob("*.session")
        return {one.name: one.stat().st_mtime_ns for one in found}

    def sign_in(self, page: Page, name: str, *, to: str = "/") -> None:
        """Go to the page, and sign in at the provider as that person."""
        page.goto(self.page_url + to)
        page.get_by_placeholder("Enter any login").fill(name)
        page.get_by_placeholder("and password").fill("whatever")
        page.get_by_role("button", name="Sign-in").click()
        expect(page.locator(".connection")).to_have_text("Live")

    def end_session(self, context: BrowserContext) -> None:
        """End a browser's session while its tabs know nothing of it."""
        headers = {"origin": self.page_url, "content-type": "application/json"}
        ended = context.request.post(f"{self.page_url}/api/sign-out", headers=headers, data="{}")
        assert ended.ok

    def api(self, context: BrowserContext, path: str) -> int:
        """The status of a GET in a browser's session."""
        return context.request.get(f"{self.page_url}/api{path}").status


def several(data: Path) -> Several:
    """Not yet started. The provider is at another site than the page, as in life."""
    provider, server, page = _free_ports(3)
    return Several(
        data,
        page_url=f"http://127.0.0.1:{page}",
        mcp_url=f"http://127.0.0.1:{server}/mcp",
        issuer=f"http://localhost:{provider}",
    )


@contextmanager
def _running(*arguments: str, **environment: str) -> Generator[None]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        said = process.stdout.readline()
        assert said.startswith("http"), f"{arguments[1:3]} said {said!r}"
        yield
    finally:
        process.stdin.close()  # which ends the provider
        if "awhile.cli.main" in arguments:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(STOP_SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            process.stdout.close()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        taken = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in taken:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in taken]


def _port_of(url: str) -> int:
    return int(url.partition("://")[2].partition("/")[0].rpartition(":")[2])
