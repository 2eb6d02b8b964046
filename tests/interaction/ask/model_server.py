"""A server that speaks OpenAI's chat completions, as llama.cpp and vLLM do, and says what a test
has it say. It listens on 127.0.0.1."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from awhile.listening import listening_on, url_of

KEY = "sk-not-to-be-shown-to-anybody"


@dataclass
class ModelServer:
    """What it answers, one text a request, and what it was asked."""

    url: str = ""
    owner: str = "stand-in"
    """Who it says it is: llama.cpp's own says `llamacpp`."""
    loading: bool = False
    """Whether it does not say that yet."""
    answers: list[str | int | None] = field(default_factory=list[str | int | None])
    """A text; or a status to fail with; or None, to say nothing until the client has left."""
    answers_to: Callable[[str], str | int] | None = None
    """What it answers by what was said last, in place of `answers`."""
    cuts_off: bool = False
    """Whether it says that its answers were longer than they may be."""
    asked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    reached: anyio.Event = field(default_factory=anyio.Event)
    left: anyio.Event = field(default_factory=anyio.Event)
    """Set once a client has gone that was not answered."""

    @property
    def read(self) -> str:
        """All that any request said."""
        return json.dumps(self.asked, ensure_ascii=False)

    async def models(self, _request: Request) -> Response:
        """What it has."""
        if self.loading:
            return JSONResponse({"error": {"message": "Loading model"}}, 503)
        return JSONResponse({"object": "list", "data": [{"id": "any", "owned_by": self.owner}]})

    async def answer(self, request: Request) -> Response:
        """One request."""
        self.asked.append({**await request.json(), "key": request.headers.get("authorization")})
        last: str = self.asked[-1]["messages"][-1]["content"]
        said = self.answers_to(last) if self.answers_to else self.answers.pop(0)
        self.reached.set()
        if said is None:
            while (await request.receive())["type"] != "http.disconnect":
                pass
            self.left.set()
            return Response()
        if isinstance(said, int):
            wrong = {"error": {"message": f"no such key: {KEY}", "type": "wrong"}}
            return JSONResponse(wrong, status_code=said)
        message = {"role": "assistant", "content": said}
        ended = "length" if self.cuts_off else "stop"
        return JSONResponse(
            {
                "id": "1",
                "object": "chat.completion",
                "created": 1,
                "model": "stand-in",
                "choices": [{"index": 0, "finish_reason": ended, "message": message}],
                "usage": {"prompt_tokens": 700, "completion_tokens": 30, "total_tokens": 730},
            }
        )


@asynccontextmanager
async def model_server(
    *answers: str | int | None, owner: str = "stand-in"
) -> AsyncGenerator[ModelServer]:
    """It, until the block is left."""
    model = ModelServer(answers=list(answers), owner=owner)
    asked = Route("/v1/chat/completions", model.answer, methods=["POST"])
    app = Starlette(routes=[asked, Route("/v1/models", model.models)])
    with listening_on("127.0.0.1", 0) as listening:
        model.url = f"{url_of(listening)}/v1"
        server = _Quiet(uvicorn.Config(app, log_level="error", log_config=None))
        async with anyio.create_task_group() as serving:
            serving.start_soon(server.serve, [listening])
            try:
                yield model
            finally:
                server.should_exit = server.force_exit = True


class _Quiet(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave the process's signals alone."""
        yield
