"""The built page, as it is sent to browsers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

STATIC = Path(__file__).parent / "static"


def page_routes() -> list[BaseRoute]:
    """Every address of the page, and what it is made of."""
    return [
        Route("/", _page, methods=["GET"]),
        Route("/sql", _page, methods=["GET"]),
        Route("/t/{run_id}", _page, methods=["GET"]),
        Route("/s/{share_id}", _page, methods=["GET"]),
        Mount("/assets", _Assets(directory=STATIC / "assets", check_dir=False)),
        Route("/icon.svg", _icon, methods=["GET"]),
    ]


class _Assets(StaticFiles):
    """Built files carry their hash in their name, so a browser may keep them."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = "private, max-age=31536000, immutable"
        return response


async def _page(request: Request) -> Response:
    page = STATIC / "index.html"
    if not page.exists():
        return PlainTextResponse(
            f"The page is not built: {str(page)!r} is missing. Run `make page`, or install a "
            "wheel, which carries it.",
            500,
        )
    return FileResponse(page, headers={"cache-control": "no-store"})


async def _icon(request: Request) -> Response:
    return FileResponse(STATIC / "icon.svg", headers={"cache-control": "private, max-age=86400"})


__all__ = ["page_routes"]
