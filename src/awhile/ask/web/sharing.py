"""What the page may ask of shares: make, list and take back one's own, and read another's run."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import anyio
from starlette.routing import Route

from awhile.ask.web.board import shown
from awhile.ask.web.exchange import Refused, answered, read_body, said_by, text_in
from awhile.ask.web.facts import clocks_of, read_run
from awhile.errors import ToolFailed

if TYPE_CHECKING:
    from starlette.requests import Request

    from awhile.ask.web.follow import Follower


_OF_THE_SHARE = ("shared_by", "shared_at", "expires_at", "asks")


class Sharing:
    """Handlers below ``/api``."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower

    def routes(self) -> list[Route]:
        """Every route, with its handler."""
        return [
            Route("/runs/{run_id}/shares", answered(self.shares), methods=["GET"]),
            Route("/runs/{run_id}/shares", answered(self.share), methods=["POST"]),
            Route("/runs/{run_id}/shares/revoke", answered(self.revoke), methods=["POST"]),
            Route("/shared/{share_id}", answered(self.shared), methods=["GET"]),
        ]

    async def shares(self, request: Request) -> dict[str, Any]:
        """The shares of a run, and how often each was opened."""
        return await self._follower.call("run_shares", {"run_id": request.path_params["run_id"]})

    async def share(self, request: Request) -> dict[str, Any]:
        """Make a share of a run; only this answer has its id."""
        body = await read_body(request)
        arguments: dict[str, Any] = {"run_id": request.path_params["run_id"]}
        if body.get("days") is not None:
            arguments["days"] = body["days"]  # the tool's own schema says what is wrong with it
        return await self._follower.call("share_run", arguments)

    async def revoke(self, request: Request) -> dict[str, Any]:
        """Take one share back, or all of the run's; those that are left."""
        body = await read_body(request)
        arguments: dict[str, Any] = {"run_id": request.path_params["run_id"]}
        if body.get("share") is not None:
            arguments["share"] = text_in(body, "share", longest=200)
        return await self._follower.call("revoke_share", arguments)

    async def shared(self, request: Request) -> dict[str, Any]:
        """A run that somebody shares, as if it were one's own, by the id of the share; ``?again``:
        it is open already, and this is only a look at how it goes on."""
        share_id = request.path_params["share_id"]
        again = "again" in request.query_params
        try:
            told = await self._follower.call("open_shared", {"share_id": share_id, "again": again})
        except ToolFailed as no:
            raise Refused(404, "gone", said_by(no)) from no
        run = replace(
            read_run({**told, "run_id": share_id}, None),
            percent=told["percent"],
            row_count=told["rows_so_far"],
        )
        clocks = clocks_of(told, at=anyio.current_time(), wall=datetime.now(UTC))
        return {
            "run": shown(run, clocks),
            "result": told["answer"],
            "error_text": told["error_text"],
            "shared": {name: told[name] for name in _OF_THE_SHARE},
        }


__all__ = ["Sharing"]
