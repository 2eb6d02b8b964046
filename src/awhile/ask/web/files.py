"""Results that leave as files: passed on from the MCP server, part by part, and never kept here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import httpx2
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from awhile.ask.web.exchange import while_connected
from awhile.client.http import way_to

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request

CONNECT_SECONDS = 5.0
READ_SECONDS = 3600.0
"""Between two parts; a workbook has to be whole at the server before its first part leaves. Whoever
does not want to wait leaves, which stops it."""

_PASSED_ON = (
    "accept-ranges", "awhile-notice", "cache-control", "content-disposition", "content-length",
    "content-range", "content-type", "etag", "last-modified", "x-content-type-options",
)  # fmt: skip
_WANTED = ("if-range", "range")
_ASKED = ("sort", "desc", "filters", "bom", "safe", "lines")


class Files:
    """The files of runs, from the server at ``mcp_url``. An async context manager.

    Args:
        mcp_url: the server's endpoint.
        auth: what shows the server who asks.
    """

    def __init__(self, mcp_url: str, auth: httpx2.Auth | None = None) -> None:
        self._beside = urljoin(mcp_url, "results/")
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(CONNECT_SECONDS, read=READ_SECONDS),
            headers={"accept-encoding": "identity"},
            auth=auth,
            **way_to(mcp_url),
        )

    async def __aenter__(self) -> Files:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    def routes(self) -> list[Route]:
        """``/runs/{run_id}/file.{kind}``: csv, parquet or xlsx. HEAD says what is not exact."""
        return [Route("/runs/{run_id}/file.{kind}", self.file, methods=["GET"])]

    async def file(self, request: Request) -> Response:
        """One file, or why there is none."""
        run_id, kind = request.path_params["run_id"], request.path_params["kind"]
        asked = {
            name: request.query_params[name] for name in _ASKED if name in request.query_params
        }
        wanted = self._http.build_request(
            request.method,
            f"{self._beside}{quote(f'{run_id}.{kind}', safe='')}",
            params=asked,
            headers={name: request.headers[name] for name in _WANTED if name in request.headers},
        )

        async def sent() -> dict[str, Any]:
            return {"answer": await self._http.send(wanted, stream=True)}

        try:
            found = await while_connected(request, sent())
        except httpx2.TransportError:
            error = {"code": "not_sent", "message": "The server cannot be reached; try again."}
            return JSONResponse({"error": error}, 503)
        if not found:  # whoever wanted it has left
            return Response(status_code=503)
        answer: httpx2.Response = found["answer"]
        headers = {name: answer.headers[name] for name in _PASSED_ON if name in answer.headers}
        return StreamingResponse(_parts(answer), answer.status_code, headers)


async def _parts(answer: httpx2.Response) -> AsyncGenerator[bytes]:
    try:
        async for part in answer.aiter_raw():
            yield part
    finally:
        await answer.aclose()


__all__ = ["Files"]
