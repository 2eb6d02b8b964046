"""What the page may ask of the backend, in JSON; every error has a code and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
from starlette.routing import Route

from awhile.ask.web.exchange import (
    Refused,
    answered,
    number_in,
    object_in,
    read_body,
    text_in,
    while_connected,
)
from awhile.ask.web.facts import structured, text_of
from awhile.ask.web.starting import Starter, Wanted
from awhile.ask.web.stream import event_stream
from awhile.errors import Cancelled, Expired, ProtocolFailed, ToolFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from awhile.ask.web.board import Board
    from awhile.ask.web.follow import Follower
    from awhile.ask.web.presence import Presence

MOST_ROWS = 1000
"""Rows in one page at most."""
MOST_COLUMNS = 100_000
CHART_CHOICES = ("kind", "x", "y", "series", "aggregate", "filters")
"""What a page may choose of a chart; the tool's own schema says what is wrong with it."""


class Api:
    """The handlers below ``/api``."""

    def __init__(self, board: Board, follower: Follower, presence: Presence) -> None:
        self._board = board
        self._follower = follower
        self._presence = presence
        self._starter = Starter(board, follower)

    def routes(self) -> list[Route]:
        """Every route, with its handler."""
        return [
            Route("/session", answered(self.session), methods=["GET"]),
            Route("/events", self.events, methods=["GET"]),
            Route("/database", answered(self.database), methods=["GET"]),
            Route("/runs", answered(self.runs), methods=["GET"]),
            Route("/runs", answered(self.start), methods=["POST"]),
            Route("/runs/{run_id}", answered(self.run), methods=["GET"]),
            Route("/runs/{run_id}/cancel", answered(self.cancel), methods=["POST"]),
            Route("/runs/{run_id}/answer", answered(self.answer), methods=["POST"]),
            Route("/runs/{run_id}/label", answered(self.label), methods=["POST"]),
            Route("/scripts", answered(self.script), methods=["POST"]),
            Route("/runs/{run_id}/accept", answered(self.accept), methods=["POST"]),
            Route("/runs/{run_id}/delete", answered(self.delete), methods=["POST"]),
            Route("/runs/{run_id}/changes", answered(self.changes), methods=["POST"]),
            Route("/runs/{run_id}/history", answered(self.history), methods=["GET"]),
            Route("/runs/{run_id}/rows", answered(self.rows), methods=["POST"]),
            Route("/runs/{run_id}/cell", answered(self.cell), methods=["POST"]),
            Route("/runs/{run_id}/chart", answered(self.chart), methods=["POST"]),
            Route("/check", answered(self.check), methods=["POST"]),
        ]

    async def session(self, request: Request) -> dict[str, Any]:
        """Whether this browser is signed in: whoever gets here is."""
        return {"signed_in": True}

    async def events(self, request: Request) -> Response:
        """The one event stream."""
        return event_stream(self._board, self._presence, request)

    async def database(self, request: Request) -> dict[str, Any]:
        """The database's name, tables and example questions."""
        return await self._follower.call("describe_database", {})

    async def runs(self, request: Request) -> dict[str, Any]:
        """Every run, as the stream's first message has them."""
        return self._board.sync(None, 0, now=anyio.current_time())

    async def start(self, request: Request) -> dict[str, Any]:
        """Start a run from a question or a statement, once (see `Starter`)."""
        body = await read_body(request)
        if ("question" in body) == ("sql" in body):
            raise Refused(400, "bad_request", "Send either 'question' or 'sql', and not both.")
        arguments: dict[str, Any]
        if "question" in body:
            tool, arguments = "ask", {"question": text_in(body, "question")}
            if body.get("follows"):
                arguments["follows"] = text_in(body, "follows", longest=200)
        else:
            tool, arguments = "run_sql", {"sql": text_in(body, "sql")}
            if values := object_in(body, "parameters"):
                arguments["parameters"] = values
        if body.get("confirm_cost") is True:
            arguments["confirm_cost"] = True
        begun = await self._starter.start(
            Wanted(
                tool=tool,
                arguments=arguments,
                key=text_in(body, "request_key", longest=200),
                anew=body.get("anew") is True,
                supersedes=text_in(body, "supersedes") if body.get("supersedes") else None,
            )
        )
        return {
            "run": self._known(begun.run_id),
            "attached": begun.attached,
            "superseded": begun.superseded,
        }

    async def script(self, request: Request) -> dict[str, Any]:
        """Start the statements of a script, each as a run of its own; the same key, the same."""
        body = await read_body(request)
        arguments: dict[str, Any] = {
            "sql": text_in(body, "sql"),
            "request_key": text_in(body, "request_key", longest=200),
        }
        if values := object_in(body, "parameters"):
            arguments["parameters"] = values
        return {"runs": await self._follower.start_script(arguments)}

    async def cancel(self, request: Request) -> dict[str, Any]:
        """Ask for a stop. Success means the server took the request, not that the work stopped."""
        run_id = self._known(request.path_params["run_id"])["id"]
        await self._follower.ask_to_stop(run_id)
        return {"run": self._known(run_id)}

    async def answer(self, request: Request) -> dict[str, Any]:
        """Answer a question of a run: accept it with content, or decline. Neither is a stop."""
        run_id = self._known(request.path_params["run_id"])["id"]
        body = await read_body(request)
        action = text_in(body, "action", longest=10)
        if action not in {"accept", "decline"}:
            raise Refused(400, "bad_request", f"action={action!r} has to be accept or decline.")
        response: dict[str, Any] = {"action": action}
        if action == "accept":
            response["content"] = object_in(body, "content")
        try:
            await self._follower.answer(run_id, text_in(body, "key", longest=1000), response)
        except Expired as no:
            raise Refused(409, "answered", "This is not asked any more.") from no
        return {"run": self._known(run_id)}

    async def label(self, request: Request) -> dict[str, Any]:
        """Say what to call a run, whether it is pinned, what happens when everybody leaves."""
        run_id = self._known(request.path_params["run_id"])["id"]
        body = await read_body(request)
        await self._follower.label(
            run_id,
            {name: body[name] for name in ("title", "pinned", "stop_when_left") if name in body},
        )
        return {"run": self._known(run_id)}

    async def accept(self, request: Request) -> dict[str, Any]:
        """Keep the SQL of a run as the right answer to its question, or forget it."""
        run_id = self._known(request.path_params["run_id"])["id"]
        accept = (await read_body(request)).get("accept") is not False
        return await self._follower.call("accept_answer", {"run_id": run_id, "accept": accept})

    async def delete(self, request: Request) -> dict[str, Any]:
        """Delete an ended run with its result."""
        run_id = self._known(request.path_params["run_id"])["id"]
        await read_body(request)
        await self._follower.delete(run_id)
        return {}

    async def changes(self, request: Request) -> dict[str, Any]:
        """What changed since an earlier run of the same question."""
        body = await read_body(request)
        compared = {
            "run_id": request.path_params["run_id"],
            "earlier_run_id": text_in(body, "earlier", longest=200),
        }
        return await while_connected(request, self._follower.call("result_changes", compared))

    async def history(self, request: Request) -> dict[str, Any]:
        """What happened to a run, step by step."""
        return await self._follower.call("run_history", {"run_id": request.path_params["run_id"]})

    async def run(self, request: Request) -> dict[str, Any]:
        """One run, and its result once it has ended."""
        run_id = request.path_params["run_id"]
        run = self._known(run_id)
        result, error_text = None, None
        if run["ended_at"] is not None:
            try:
                result = structured(await self._follower.result(run_id))
            except ToolFailed as no:
                result = no.result.get("structuredContent")
                error_text = text_of(no.result) or str(no)
            except Cancelled:
                pass
            except (ProtocolFailed, Expired) as no:
                error_text = str(no)
        return {"run": run, "result": result, "error_text": error_text}

    async def rows(self, request: Request) -> dict[str, Any]:
        """A page of a result's rows, sorted and filtered by the server if asked."""
        body = await read_body(request)
        arguments: dict[str, Any] = {
            **_view_in(body),
            "run_id": request.path_params["run_id"],
            "offset": number_in(body, "offset", most=2**53),
            "limit": number_in(body, "limit", most=MOST_ROWS),
        }
        return await while_connected(request, self._follower.call("result_rows", arguments))

    async def cell(self, request: Request) -> dict[str, Any]:
        """A part of one cell, for those that a page of rows has only the beginning of."""
        body = await read_body(request)
        arguments: dict[str, Any] = {
            **_view_in(body),
            "run_id": request.path_params["run_id"],
            "row": number_in(body, "row", most=2**53),
            "column": number_in(body, "column", most=MOST_COLUMNS),
            "start": number_in(body, "start", most=2**53),
        }
        return await while_connected(request, self._follower.call("result_cell", arguments))

    async def chart(self, request: Request) -> dict[str, Any]:
        """The chart of a result, chosen and summed up by the server."""
        body = await read_body(request)
        chosen = {name: body[name] for name in CHART_CHOICES if body.get(name) not in (None, [])}
        arguments = {"run_id": request.path_params["run_id"], **chosen}
        return await while_connected(request, self._follower.call("result_chart", arguments))

    async def check(self, request: Request) -> dict[str, Any]:
        """Whether a SQL text may run, what is wrong with it, and what it would cost."""
        body = await read_body(request)
        arguments: dict[str, Any] = {"sql": text_in(body, "sql")}
        if values := object_in(body, "parameters"):
            arguments["parameters"] = values
        return await while_connected(request, self._follower.call("check_sql", arguments))

    def _known(self, run_id: str) -> dict[str, Any]:
        run = self._board.as_json(run_id, now=anyio.current_time())
        if run is not None:
            return run
        if not self._board.reachable:
            raise Refused(
                503, "not_sent", "The server cannot be reached, so this run is not known."
            )
        raise Refused(404, "gone", "No such run. It may have been deleted; ask its question again.")


def _view_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """The order and the conditions of the rows that are looked at."""
    view: dict[str, Any] = {}
    if sort := object_in(body, "sort"):
        view["sort_column"] = number_in(sort, "column", most=MOST_COLUMNS)
        view["descending"] = sort.get("descending") is True
    if body.get("filters"):
        view["filters"] = body["filters"]  # the tool's own schema says what is wrong with them
    return view


__all__ = ["MOST_ROWS", "Api"]
