"""All rows of a run as a file, which the server makes and sends part by part."""

from __future__ import annotations

import codecs
import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import anyio
import httpx2

from awhile.ask.mcp_server.model import NOTICE
from awhile.cli.screen import say, visible
from awhile.client.http import way_to
from awhile.errors import RemoteError, SettingsError, Unreachable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from awhile.ask.cli.how import File, Kind
    from awhile.ask.cli.reach import Reached

CONNECT_SECONDS = 10.0
WAIT_SECONDS = 3600.0
"""Between two parts: a workbook is made as a whole before its first part comes."""


async def write_file(there: Reached, run_id: str, file: File, *, quiet: bool = False) -> None:
    """Every row, exactly. A path shows the whole file or, if anything fails, what was there before.

    Raises:
        SettingsError: the path cannot be written.
        RemoteError: the server refused, or broke off.
    """
    if file.path is None:
        if sys.stdout.isatty():
            await _show_text(_parts(there, run_id, file.kind))
            return
        async for part in _parts(there, run_id, file.kind):
            sys.stdout.buffer.write(part)
        sys.stdout.buffer.flush()
        return
    if file.kind == "xlsx" and not quiet:
        say(
            "Making the workbook; its first row comes when it is whole. Ctrl-C leaves it.",
            aside=True,
        )
    draft = anyio.Path(file.path.with_name(f".{file.path.name}.part"))
    try:
        async with await draft.open("wb") as written:
            async for part in _parts(there, run_id, file.kind):
                await written.write(part)
        await draft.replace(file.path)
    except OSError as error:
        raise SettingsError(
            f"{str(file.path)!r} cannot be written ({error.strerror or error}), so the rows are at "
            f"the server alone. Name another file: awhile attach {run_id} --{file.kind} FILE"
        ) from error
    finally:
        with anyio.CancelScope(shield=True):
            await draft.unlink(missing_ok=True)
    if not quiet:
        say(f"All rows are in {str(file.path)!r}.", aside=True)


async def _show_text(parts: AsyncGenerator[bytes]) -> None:
    """At a terminal, what would drive it is written out; a pipe and a file get every byte."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    async for part in parts:
        text = decoder.decode(part)
        sys.stdout.write("\n".join(map(visible, text.split("\n"))))
    sys.stdout.flush()


async def _parts(there: Reached, run_id: str, kind: Kind) -> AsyncGenerator[bytes]:
    async with _answer(there, run_id, kind) as answer:
        if not answer.is_success:
            raise RemoteError(await _why(answer))
        async for part in answer.aiter_bytes():
            yield part
        if NOTICE in answer.headers:
            say(answer.headers[NOTICE])


@asynccontextmanager
async def _answer(there: Reached, run_id: str, kind: Kind) -> AsyncGenerator[httpx2.Response]:
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=WAIT_SECONDS)
    url = urljoin(there.url, f"results/{run_id}.{kind}")
    try:
        async with (
            httpx2.AsyncClient(timeout=timeout, headers=dict(there.headers), **way_to(url)) as http,
            http.stream("GET", url, params={"lines": "lf"} if kind == "csv" else {}) as answer,
        ):
            yield answer
    except httpx2.TransportError as broken:
        raise Unreachable(
            f"The server at {there.url!r} broke off while it sent the rows "
            f"({str(broken) or type(broken).__name__}). Ask for them again: "
            f"awhile attach {run_id} --{kind}{'' if kind == 'csv' else ' FILE'}"
        ) from broken


async def _why(answer: httpx2.Response) -> str:
    try:
        told: Any = json.loads(await answer.aread())
        return str(told["error"]["message"])
    except (ValueError, TypeError, KeyError):
        return (
            f"The server answered with HTTP {answer.status_code} and no file. An older one than "
            "this command makes none: upgrade it, or take --json."
        )


__all__ = ["write_file"]
