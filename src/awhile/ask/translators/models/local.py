"""A model in a file of this machine, asked without a network: llama.cpp in a child process.

Source: ours. `xllamacpp` brings llama.cpp, whose server always listens; here on a socket file in a
folder of this user's alone, behind a key that nobody is told. Requests go to the child directly.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
import httpx2

from awhile.errors import LocalError, SettingsError
from awhile.extras import command_to_add
from awhile.processes import Child, ChildEnded

if TYPE_CHECKING:
    from awhile.processes import Link

__all__ = ["LocalModel", "LocalModelFailed", "model_file"]

CONTEXT_TOKENS = 8192
"""Of question, card and answer together. A model's own limit can be a hundred times more memory."""

_BEHIND_OTHERS = 5
"""How nice the child is: the server has to answer while a model takes every processor."""

_MAGIC = b"GGUF"


class LocalModelFailed(LocalError):
    """The model cannot be loaded, or its process is gone; its text says which."""


def model_file(name: str) -> Path:
    """The file of a model, as somebody wrote its path.

    Raises:
        SettingsError: it is not there or no GGUF file, or what runs it is not installed.
    """
    path = Path(name).expanduser()
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise SettingsError(
            f"The model's file {str(path)!r} cannot be read: {why}. Write gguf: and the path of a "
            "GGUF file, as in 'gguf:~/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf'."
        ) from error
    if start != _MAGIC:
        raise SettingsError(
            f"{str(path)!r} is no GGUF file: it begins with {start!r}. Other formats have to be "
            "converted, or are run by a server (ollama:…, or compatible:… with --model-url)."
        )
    if find_spec("xllamacpp") is None:
        raise SettingsError(
            f"A model in a file needs the package 'xllamacpp': {command_to_add('gguf')}"
        )
    return path


class LocalModel(httpx2.AsyncBaseTransport):
    """Takes requests for chat completions to a model's file.

    The child is started by the first request and kept for the next ones, until `aclose`. One
    request at a time: one answer takes every processor. A request that is cancelled ends the
    child, so that nothing goes on and its memory is free; the next one starts it again.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn = anyio.Lock()
        self._child: Child | None = None
        self._folder: Path | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        return self._child and self._child.pid

    @property
    def busy(self) -> bool:
        """Whether a request is with the child."""
        return self._turn.locked()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(await request.aread())
        async with self._turn:
            reply = await self._asked(body)
        wrong = reply.get("error")
        status = int(wrong.get("code") or 500) if wrong else 200
        return httpx2.Response(status, json=reply, request=request)

    async def aclose(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is not None:
            await child.kill()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    async def _asked(self, body: dict[str, Any]) -> dict[str, Any]:
        try:
            if self._child is None:
                self._folder = Path(tempfile.mkdtemp(prefix="awhile-"))
                self._child = await Child.start(_SERVE, str(self._path), str(self._folder))
            await self._child.send(body)
            reply = await self._child.receive()
        except ChildEnded as ended:
            await self.aclose()
            raise LocalModelFailed(
                f"Its process ended ({ended}). Is there memory enough for {self._path.name}?"
            ) from ended
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.aclose()
            raise
        if isinstance(reply, str):
            await self.aclose()
            raise LocalModelFailed(reply)
        return cast("dict[str, Any]", reply)


_SERVE = f"{__name__}:serve"


def serve(link: Link, path: str, folder: str) -> None:
    """The child: answers each body it is sent by what llama.cpp says, or by why it cannot."""
    os.nice(_BEHIND_OTHERS)
    xllamacpp: Any = import_module("xllamacpp")  # an optional package
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.offline = True
    parameters.hostnames = [f"{folder}/model.sock"]
    parameters.api_keys = [secrets.token_urlsafe()]
    parameters.ui = False
    parameters.n_ctx = CONTEXT_TOKENS
    parameters.n_parallel = 1
    parameters.cache_ram_mib = 0
    parameters.verbosity = 0
    try:
        server = xllamacpp.Server(parameters)
    except Exception as error:  # noqa: BLE001 - told to the parent, which raises it
        link.send(f"{Path(path).name} cannot be loaded: {error}.")
        return
    while True:
        link.send(server.handle_chat_completions(link.receive()))
