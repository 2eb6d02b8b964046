"""A store as an operator sees it: opened by its URL, read at one instant, written as JSON."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from awhile.cli.seals import codec_of
from awhile.errors import SettingsError
from awhile.runtime.presence import Present, present
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.contract import Store, TaskStore
from awhile.stores.open import open_store
from awhile.stores.operated import Operated, Overview
from awhile.stores.sealing import sealed
from awhile.tasks import Status

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from awhile.cli.settings import Settings
    from awhile.tasks import TaskRecord


_SECRET_OPTION = re.compile(
    r"([?&][^=&]*(?:key|password|pwd|secret|token|odbc_connect)[^=&]*=)[^&]*", re.IGNORECASE
)
_WITHOUT = r"\1…"


class OperatedStore(TaskStore, Operated, Protocol):
    """A store that an operator can look over and act on."""


@asynccontextmanager
async def overseen(settings: Settings) -> AsyncGenerator[OperatedStore]:
    """The open store of these settings.

    Raises:
        SettingsError: there is none, or it cannot be operated.
        StoreError: it cannot be opened.
    """
    codec = codec_of(settings)
    store = _there(settings.store)
    if codec is not None:
        store = sealed(store, codec)
    async with store:
        yield cast("OperatedStore", store)


def _there(url: str) -> Store:
    scheme, _, path = url.partition(":///")
    if scheme == "sqlite" and not Path(path).exists():
        raise SettingsError(
            f"There is no store at {url!r}, and looking must not make one. Name the one your "
            "servers use (--store, or AWHILE_STORE)."
        )
    store = open_store(url)
    if not isinstance(store, Operated):
        raise SettingsError(
            f"The store for {scheme!r} URLs cannot be looked over; SQLite and PostgreSQL can."
        )
    return store


def shown_url(url: str) -> str:
    """The URL without a password, and without what options give under a name like that."""
    scheme, _, rest = url.partition("://")
    # By the last @: somebody may have left a / or a ? in a password as it is.
    before, at, after = rest.rpartition("@")
    user, colon, _ = before.partition(":")
    plain = f"{user}{':…' if colon else ''}{at}{after}"
    return f"{scheme}://{_SECRET_OPTION.sub(_WITHOUT, plain)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A store at one instant."""

    at_ms: int
    workers: Sequence[Present]
    overview: Overview

    @property
    def not_stopped(self) -> Sequence[TaskRecord]:
        """What was asked to stop and is not known to have: running, or ended saying so."""
        asked = [one for one in self.overview.held if one.cancel_asked]
        ended = [one for one in self.overview.endings if _unstopped_end(one)]
        return [*asked, *ended]

    def leases(self, worker: str) -> Sequence[TaskRecord]:
        """What that worker holds, of what was read."""
        return [one for one in self.overview.held if one.lease and one.lease.worker == worker]

    @property
    def silent(self) -> Sequence[str]:
        """Workers that should have said by now that they are there, or hold leases and never did:
        killed, frozen, or cut off."""
        there = {one.name for one in self.workers}
        holders = {one.lease.worker for one in self.overview.held if one.lease}
        late = {one.name for one in self.workers if one.silent_ms(self.at_ms)}
        return sorted((holders - there) | late)


def _unstopped_end(record: TaskRecord) -> bool:
    return record.status is Status.CANCELLED and record.stopped_at_ms is None


async def look(store: OperatedStore, *, limit: int) -> Seen:
    """See the store now; of each list so many at most."""
    at_ms = wall_clock_ms()
    overview = await store.overview(limit=limit)
    return Seen(at_ms=at_ms, workers=await present(store, at_ms), overview=overview)


def as_json(url: str, seen: Seen) -> dict[str, Any]:
    """What was seen, for programs. Instants are Unix milliseconds."""
    return {
        "store": shown_url(url),
        "at_ms": seen.at_ms,
        "workers": [
            {**asdict(one), "leases": [held.task_id for held in seen.leases(one.name)]}
            for one in seen.workers
        ],
        "silent_workers": list(seen.silent),
        "tasks": [asdict(one) for one in seen.overview.counts],
        "queue": [asdict(one) for one in seen.overview.lines],
        "held": [brief(one) for one in seen.overview.held],
        "not_stopped": [brief(one) for one in seen.not_stopped],
        "endings": [brief(one) for one in seen.overview.endings],
    }


def brief(record: TaskRecord) -> dict[str, Any]:
    """A task without what it was given and what came of it."""
    return {
        "task_id": record.task_id,
        "owner": record.owner,
        "tool": record.tool,
        "status": record.status.value,
        "status_message": record.status_message,
        "created_at_ms": record.created_at_ms,
        "ended_at_ms": record.ended_at_ms,
        "worker": record.lease.worker if record.lease else None,
        "lease_until_ms": record.lease.until_ms if record.lease else None,
        "attempt": record.attempt,
        "max_attempts": record.max_attempts,
        "cancel_asked_at_ms": record.cancel_asked_at_ms,
        "stopped_at_ms": record.stopped_at_ms,
        "stopped_how": record.stopped_how.value if record.stopped_how else None,
    }


__all__ = ["OperatedStore", "Seen", "as_json", "brief", "look", "overseen", "shown_url"]
