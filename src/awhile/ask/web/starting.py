"""Starting a run once: whatever is sent twice, retried or already running, there is one run."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from awhile.client.http import NotSent
from awhile.errors import RemoteError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.web.board import Board
    from awhile.ask.web.follow import Follower

REMEMBERED_KEYS = 1000
"""How many keys of requests are remembered here; the server remembers all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a page wants to be run."""

    tool: str
    arguments: Mapping[str, Any]
    key: str
    """The page's own key for this request: the same key, the same run."""
    anew: bool = False
    """Whether to start it even if the very same is running."""
    supersedes: str | None = None
    """The run whose edited version this is; it is asked to stop once this one is started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What became of it."""

    run_id: str
    attached: bool = False
    """The very same was running, so it was not started again."""
    superseded: str | None = None
    """Of the run before: ``stop_asked``, ``not_sent`` or ``unknown``."""


class Starter:
    """Starts what pages ask for."""

    def __init__(self, board: Board, follower: Follower) -> None:
        self._board = board
        self._follower = follower
        self._keys: OrderedDict[str, str] = OrderedDict()
        self._one_at_a_time = anyio.Lock()

    async def start(self, wanted: Wanted) -> Begun:
        """Start a run, or find the one that this is already.

        Raises:
            RemoteError: the server refused or did not answer.
            TimeoutError: no answer in time; ask again with the same key.
        """
        # One after the other, so that of two pages asking the same the second finds the first's.
        async with self._one_at_a_time:
            known = self._keys.get(wanted.key)
            twin = None if known is not None or wanted.anew else self._twin(wanted)
            if twin is not None:
                return Begun(run_id=twin, attached=True)
            run_id = known or await self._follower.start(
                wanted.tool, {**wanted.arguments, "request_key": wanted.key}
            )
            self._remember(wanted.key, run_id)
        return Begun(run_id=run_id, superseded=await self._supersede(wanted.supersedes))

    def _twin(self, wanted: Wanted) -> str | None:
        twin = self._board.twin(wanted.tool, wanted.arguments)
        return None if twin is None else twin.id

    async def _supersede(self, run_id: str | None) -> str | None:
        before = None if run_id is None else self._board.run(run_id)
        if before is None or not before.live:
            return None
        try:
            await self._follower.ask_to_stop(before.id)
        except NotSent:
            return "not_sent"
        except (RemoteError, TimeoutError):
            return "unknown"
        return "stop_asked"

    def _remember(self, key: str, run_id: str) -> None:
        self._keys[key] = run_id
        self._keys.move_to_end(key)
        while len(self._keys) > REMEMBERED_KEYS:
            self._keys.popitem(last=False)


__all__ = ["REMEMBERED_KEYS", "Begun", "Starter", "Wanted"]
