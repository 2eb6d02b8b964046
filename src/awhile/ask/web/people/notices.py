"""Small pages of text around signing in and out, where there is nobody to show the page to."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, HTMLResponse

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

STYLE = Path(__file__).parent / "notice.css"

_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · awhile</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="/notice.css">
<main>
<p class="name">awhile</p>
<h1>{title}</h1>
<p>{text}</p>
<p><a href="{to}">{link}</a></p>
</main>
</html>
"""


def notice(
    title: str, text: str, *, to: str = "/sign-in", link: str = "Sign in", status: int = 200
) -> Response:
    """A page that says one thing and leads to one place."""
    filled = _PAGE.format(
        title=escape(title), text=escape(text), to=escape(to, quote=True), link=escape(link)
    )
    return HTMLResponse(filled, status, {"cache-control": "no-store"})


async def style(_: Request) -> Response:
    """How they look."""
    return FileResponse(STYLE, headers={"cache-control": "private, max-age=86400"})


__all__ = ["notice", "style"]
