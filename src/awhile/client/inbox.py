"""What a server sends by itself: pushed tasks, progress, and (in the older era) questions."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from mcp.client.extension import ClientExtension, NotificationBinding
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types import (
    INVALID_REQUEST,
    ElicitResult,
    ErrorData,
    ProgressNotification,
    SubscriptionsAcknowledgedNotification,
)
from pydantic import RootModel

from awhile.wire import v2025_11_25, v2026_07_28

if TYPE_CHECKING:
    from mcp.client.session import ClientRequestContext, IncomingMessage
    from mcp.shared.dispatcher import ProgressFnT
    from mcp_types import ElicitRequestParams

    from awhile.client.listen import Listening
    from awhile.wire.snapshot import Snapshot

log = logging.getLogger(__name__)

OnInput = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Answers one question: the request (``{"method": …, "params": …}``) in, the response out."""


class _Params(RootModel[dict[str, Any]]):
    """A notification's parameters as they came."""


class Inbox:
    """Hands on what comes in by itself to whoever waits for it."""

    def __init__(self, listening: Listening, *, on_input: OnInput | None) -> None:
        self._listening = listening
        self._on_input = on_input
        self._askers: dict[str, OnInput] = {}
        self.progress: dict[str, ProgressFnT] = {}
        """Who hears progress under which token, where the token outlives its request."""

    def extensions(self) -> Sequence[ClientExtension]:
        """What to give the SDK's client: the Tasks extension, and an ear for its notifications."""
        return [_Tasks(self._pushed, self._told)]

    @contextmanager
    def asking(self, of: str, ask: OnInput) -> Generator[None]:
        """Put questions about ``of`` (a task's id, or any name of a call) to ``ask`` meanwhile."""
        self._askers[of] = ask
        try:
            yield
        finally:
            del self._askers[of]

    async def hear(self, message: IncomingMessage) -> None:
        """The SDK's message handler."""
        match message:
            case SubscriptionsAcknowledgedNotification(params=params):
                ids: Any = (params.notifications.model_extra or {}).get("taskIds")
                granted = cast("list[Any]", ids) if isinstance(ids, list) else []
                named = [one for one in granted if isinstance(one, str)]
                self._listening.acknowledge(_subscription(params.meta), named)
            case ProgressNotification(params=params):
                hear = self.progress.get(str(params.progress_token))
                if hear is not None:
                    await hear(params.progress, params.total, params.message)
            case _:
                pass

    async def elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult | ErrorData:
        """The SDK's elicitation callback: the question goes to whoever waits for that task."""
        del context
        fields = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        meta: Any = fields.pop("_meta", None)
        ask = self._asker(meta)
        if ask is None:
            return ErrorData(code=INVALID_REQUEST, message="Nobody is here to answer.")
        answer = await ask({"method": "elicitation/create", "params": fields})
        return ElicitResult.model_validate(dict(answer), by_name=False)

    def _asker(self, meta: Any) -> OnInput | None:
        related: Any = cast("dict[str, Any]", meta or {}).get(v2025_11_25.RELATED_TASK)
        of = cast("dict[str, Any]", related).get("taskId") if isinstance(related, dict) else None
        if of in self._askers:
            return self._askers[of]
        # Not every server says which task it asks about; with one in question there is no doubt.
        if len(self._askers) == 1:
            return next(iter(self._askers.values()))
        return self._on_input

    async def _pushed(self, params: _Params) -> None:
        """``notifications/tasks``, on a stream."""
        task = _read(v2026_07_28.read_task, params)
        if task is not None:
            await self._listening.hear(task, _subscription(params.root.get("_meta")))

    async def _told(self, params: _Params) -> None:
        """``notifications/tasks/status``, on no stream in particular."""
        task = _read(v2025_11_25.read_task, params)
        if task is not None:
            await self._listening.notice(task)


def _read(read: Callable[[Mapping[str, Any]], Snapshot], params: _Params) -> Snapshot | None:
    try:
        return read(params.root)
    except ValueError as broken:
        log.debug("A pushed task cannot be read: %s", broken)
        return None


def _subscription(meta: Any) -> Any:
    """The id of the stream that a message was sent on."""
    if not isinstance(meta, dict):
        return None
    return cast("dict[str, Any]", meta).get(SUBSCRIPTION_ID_META_KEY)


class _Tasks(ClientExtension):
    """Advertises that results may be tasks. No claim: what a task means is the era's business."""

    identifier = v2026_07_28.EXTENSION_ID

    def __init__(
        self,
        pushed: Callable[[_Params], Awaitable[None]],
        told: Callable[[_Params], Awaitable[None]],
    ) -> None:
        self._handlers = {"notifications/tasks": pushed, "notifications/tasks/status": told}

    def notifications(self) -> Sequence[NotificationBinding[Any]]:
        return [
            NotificationBinding(method=method, params_type=_Params, handler=handler)
            for method, handler in self._handlers.items()
        ]


__all__ = ["Inbox", "OnInput"]
