"""Connecting to a server."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread

from awhile.client.call import RemoteServer
from awhile.client.ledger import Ledger
from awhile.client.link import Link

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from typing import TextIO

    import httpx2

    from awhile.client.inbox import OnInput


@asynccontextmanager
async def connect(
    target: Any,
    *,
    ledger: Ledger | Literal["default"] | None = "default",
    on_input: OnInput | None = None,
    answers_forms: bool = True,
    headers: Mapping[str, str] | None = None,
    auth: httpx2.Auth | None = None,
    stderr: TextIO | None = None,
) -> AsyncGenerator[RemoteServer]:
    """A server to call tools at. Nothing is sent before the first call.

    So a server that is down is no error here: it is reached for when it is needed, and again
    after it was away.

    Args:
        target: the URL of a server (Streamable HTTP), the SDK's ``StdioServerParameters``, one of
            its transports, or an ``MCPServer`` in this process.
        ledger: where handles are kept; by default the user's own ledger, for a URL or a command
            (a server in this process has no name to be found by). None keeps no handles.
        on_input: answers the questions that work asks: the request (``method``, ``params``) in,
            the response (for an elicitation ``{"action": "accept", "content": {…}}``) out.
        answers_forms: whether to declare that questions by a form are answered here: by
            ``on_input``, or by whoever looks at the work (`Handle.answer`). False where nobody
            does: a server that would have asked can then say so at once, instead of waiting.
        headers: sent with every HTTP request, such as ``{"Authorization": "Bearer …"}``.
        auth: asked with every HTTP request for what shows who calls, such as a token that is
            renewed meanwhile; ``httpx2`` has its form.
        stderr: where a server that is started by a command says what it has to say beside the
            protocol: an open file with a descriptor, by default this program's standard error.

    Raises:
        SettingsError: ``target`` is not an address, or has no use for ``headers`` or ``auth``.
        StoreError: the ledger cannot be opened.
    """
    own: Ledger | None = None
    failure: BaseException | None = None
    async with anyio.create_task_group() as tasks:
        try:
            link = Link(
                target,
                headers=headers,
                auth=auth,
                on_input=on_input,
                answers_forms=answers_forms,
                stderr=stderr,
                tasks=tasks,
            )
            if ledger == "default" and link.findable:
                own = await anyio.to_thread.run_sync(Ledger.default)
            kept = own if ledger == "default" else ledger
            yield RemoteServer(link, ledger=kept, on_input=on_input, tasks=tasks)
        # Raised again outside the task group, which would wrap it in a group of its own.
        except (Exception, KeyboardInterrupt, SystemExit) as broken:  # noqa: BLE001
            failure = broken
        finally:
            tasks.cancel_scope.cancel()
    if own is not None:
        own.close()
    if failure is not None:
        raise failure


__all__ = ["connect"]
