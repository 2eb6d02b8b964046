"""Tells an operator's webhook of each task that ended, at least once, signed.

The store keeps a notice from the transaction that ends a task until it was told
(`awhile.stores.operated.Notifies`), so what is sent survives every process: whichever has the
webhook sends what is due. What is sent are facts about the task, never what it was given or what
came of it. Signed as Standard Webhooks has it (https://www.standardwebhooks.com, version 1).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import random
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import httpx2

from awhile.errors import AwhileError, SettingsError
from awhile.identity.urls import is_private, through_proxies
from awhile.stores.operated import Notifies
from awhile.telemetry import meters
from awhile.telemetry.logs import about_task

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping, Sequence

    from awhile.stores.contract import Store
    from awhile.stores.operated import Notice
    from awhile.tasks import TaskRecord

logger = logging.getLogger(__name__)

PREFIX = "whsec_"
"""How a secret is written: this, and 24 to 64 bytes in base64 (Standard Webhooks)."""

AGAIN_SECONDS = (5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""How long after which failed attempt the next one comes; after the last, none: 3 days in all."""

JITTER = 0.2
"""By how much at most each is longer, so that a receiver that comes back is not run over."""

TIMEOUT_SECONDS = 15.0
"""How long a receiver may take to answer (Standard Webhooks asks for 15 to 30 s)."""

AT_ONCE = 20
"""How many notices one process has on their way at the same time."""

TAKEN_MS = 60_000
"""When a notice is due again whose sender has died."""

LOOK_SECONDS = 5.0
"""How often at least it is looked for notices that are due again."""

PAUSE_SECONDS = 0.2
"""How long at least between two looks: every change in the store wakes a sender."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Who is told.

    Attributes:
        url: where it is posted: https, or http on this very machine.
        secrets: what it is signed with, each ``whsec_…``; several while they are being changed.
    """

    url: str
    secrets: tuple[str, ...]

    def __post_init__(self) -> None:
        if not is_private(self.url):
            raise SettingsError(
                f"webhook_url is {self.url!r}: anybody on the way could read or change what is "
                "sent there. Use an https URL (http is taken for this very machine alone)."
            )
        parts = urlsplit(self.url)
        if parts.hostname is None or parts.username is not None or parts.fragment:
            raise SettingsError(
                f"webhook_url is {self.url!r}, which names no host, or has a user or a fragment in "
                "it. Write https://host/path; a secret belongs into webhook_secret."
            )
        if not self.secrets:
            raise SettingsError(
                "There is a webhook_url but no webhook_secret, so its receiver could not tell what "
                f"is ours. {HOW}"
            )
        for one in self.secrets:
            key_of(one)


HOW = (
    "Make one by `python3 -c 'import base64, secrets; "
    'print("whsec_" + base64.b64encode(secrets.token_bytes(32)).decode())\'`.'
)


def key_of(secret: str) -> bytes:
    """The bytes a secret stands for.

    Raises:
        SettingsError: it is none. The message does not repeat it.
    """
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith(PREFIX) or not 24 <= len(key) <= 64:
        raise SettingsError(
            f"The webhook_secret is not {PREFIX!r} and 24 to 64 bytes in base64, so receivers "
            f"could not use it. {HOW}"
        )
    return key


def signed(webhook: Webhook, *, message_id: str, at_seconds: int, body: bytes) -> dict[str, str]:
    """The headers of one sending, with a signature for each secret."""
    content = b".".join((message_id.encode(), str(at_seconds).encode(), body))
    signatures = [
        base64.b64encode(hmac.new(key_of(one), content, hashlib.sha256).digest()).decode()
        for one in webhook.secrets
    ]
    return {
        "content-type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(at_seconds),
        "webhook-signature": " ".join(f"v1,{one}" for one in signatures),
    }


def payload(record: TaskRecord) -> dict[str, Any]:
    """What is told of a task that ended. Times are RFC 3339."""
    assert record.ended_at_ms is not None
    facts: dict[str, Any] = {
        "taskId": record.task_id,
        "status": record.status.value,
        "tool": record.tool,
        "owner": record.owner,
        "createdAt": _instant(record.created_at_ms),
        "endedAt": _instant(record.ended_at_ms),
    }
    if record.cancel_asked_at_ms is not None:
        facts["stopAskedAt"] = _instant(record.cancel_asked_at_ms)
        facts["stoppedHow"] = record.stopped_how.value if record.stopped_how else None
    return {
        "type": f"task.{record.status.value}",
        "timestamp": _instant(record.ended_at_ms),
        "data": facts,
    }


class WebhookSender:
    """Sends what is due, from this process.

    Args:
        store: where the tasks are.
        webhook: who is told.
        now_ms: the clock, Unix milliseconds.

    Raises:
        SettingsError: the store keeps no notices.
    """

    def __init__(self, store: Store, webhook: Webhook, now_ms: Callable[[], int]) -> None:
        if not isinstance(store, Notifies):
            raise SettingsError(
                "This store keeps no notices of endings, so a webhook could miss some. Use "
                "SQLite or PostgreSQL, or leave webhook_url out."
            )
        self._store: Store = store
        self._notices: Notifies = store
        self._webhook = webhook
        self._now_ms = now_ms

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Send while the block runs; from its beginning on, every ending is noted.

        Raises:
            StoreError: the store could not say so.
        """
        await self._notices.note_endings()
        async with anyio.create_task_group() as beside:
            beside.start_soon(self._send_all)
            yield
            beside.cancel_scope.cancel()

    async def _send_all(self) -> None:
        room = anyio.Semaphore(AT_ONCE)
        async with (
            httpx2.AsyncClient(
                timeout=TIMEOUT_SECONDS,
                follow_redirects=False,
                trust_env=through_proxies(self._webhook.url),
            ) as client,
            anyio.create_task_group() as beside,
        ):
            while True:
                try:
                    async with self._store.watch() as watch:
                        while True:
                            async with room:
                                pass  # there is some now, and only this loop takes it
                            due = await self._take(room.value)
                            for notice in due:
                                room.acquire_nowait()
                                beside.start_soon(self._tell, client, notice, room)
                            if not due:
                                await watch.wait(LOOK_SECONDS)
                            await anyio.sleep(PAUSE_SECONDS)
                except AwhileError as error:
                    logger.error("Notices could not be read; trying again. %s", error)
                    await anyio.sleep(LOOK_SECONDS)

    async def _take(self, limit: int) -> Sequence[Notice]:
        now = self._now_ms()
        return await self._notices.take_notices(at_ms=now, until_ms=now + TAKEN_MS, limit=limit)

    async def _tell(
        self, client: httpx2.AsyncClient, notice: Notice, room: anyio.Semaphore
    ) -> None:
        """Send one, beside others: a receiver that hangs with it delays none of them."""
        try:
            after_seconds = await self._send(client, notice)
            task_id, again = notice.record.task_id, dict[str, int]()
            if after_seconds is not None:
                again[task_id] = self._now_ms() + round(after_seconds * 1000)
            await self._notices.settle_notices(told=[] if again else [task_id], again_ms=again)
        except AwhileError as error:  # it is due again soon: told twice is better than never
            logger.error(
                "A notice could not be settled. %s", error, extra=about_task(notice.record.task_id)
            )
        finally:
            room.release()

    async def _send(self, client: httpx2.AsyncClient, notice: Notice) -> float | None:
        """Send one; how many seconds until it is to be tried again, or None if it is done with."""
        body = json.dumps(payload(notice.record), separators=(",", ":")).encode()
        headers = signed(
            self._webhook,
            message_id=f"{notice.record.task_id}.ended",  # the same in every attempt
            at_seconds=self._now_ms() // 1000,
            body=body,
        )
        asked_seconds = 0.0
        try:
            with anyio.fail_after(TIMEOUT_SECONDS):  # httpx counts from byte to byte
                answer = await client.post(self._webhook.url, content=body, headers=headers)
            if answer.is_success:
                meters.notices.add(1, {"awhile.webhook.outcome": "told"})
                return None
            words = f"it answered {answer.status_code}"
            asked_seconds = _retry_after(answer.headers)
        except (httpx2.HTTPError, TimeoutError) as error:
            words = f"it could not be reached ({type(error).__name__})"
        about = about_task(notice.record.task_id)
        if notice.attempt > len(AGAIN_SECONDS):
            meters.notices.add(1, {"awhile.webhook.outcome": "given_up"})
            logger.error(
                "The webhook was not told of a task's end in %d attempts, the last time because "
                "%s. It is not tried again.",
                notice.attempt,
                words,
                extra=about,
            )
            return None
        meters.notices.add(1, {"awhile.webhook.outcome": "failed"})
        chance = random.random()  # noqa: S311 - spreads load, decides nothing
        wait = again_after(notice.attempt, asked_seconds, chance)
        logger.warning(
            "The webhook was not told of a task's end, because %s; tried again in %d s.",
            words,
            wait,
            extra=about,
        )
        return wait


def again_after(attempt: int, asked_seconds: float, chance: float) -> float:
    """How many seconds after its failed attempt of this number a notice is sent again.

    ``asked_seconds``: what the receiver asked for; ``chance``: from 0 to 1.
    """
    return max(AGAIN_SECONDS[attempt - 1], asked_seconds) * (1 + JITTER * chance)


def _retry_after(headers: Mapping[str, str]) -> float:
    """What a receiver asks for, in seconds, up to an hour; a date is not looked at."""
    said = headers.get("retry-after", "")
    return min(float(said), 3600.0) if said.isdigit() else 0.0


def _instant(at_ms: int) -> str:
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


__all__ = [
    "AGAIN_SECONDS",
    "Webhook",
    "WebhookSender",
    "again_after",
    "key_of",
    "payload",
    "signed",
]
