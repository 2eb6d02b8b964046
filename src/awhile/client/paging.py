"""Lists that come in pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mcp_types import INTERNAL_ERROR

from awhile.client.sending import unended
from awhile.client.unreadable import unreadable
from awhile.errors import ProtocolFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.client.era import Era
    from awhile.wire.snapshot import Snapshot


class Cursors:
    """The cursors of one listing: a server that repeats one would be asked for ever."""

    def __init__(self, method: str) -> None:
        self.latest: str | None = None
        self._method = method
        self._seen: set[str] = set()

    def go_on(self, cursor: str | None) -> bool:
        """Whether there is another page; `latest` is its cursor then.

        Raises:
            ProtocolFailed: it is one that was there already.
        """
        self.latest = cursor
        if cursor is None:
            return False
        if cursor in self._seen:
            raise ProtocolFailed(
                f"The server's pages of {self._method!r} go round in circles: its cursor "
                f"{cursor!r} came twice. Tell whoever runs it.",
                code=INTERNAL_ERROR,
            )
        self._seen.add(cursor)
        return True


def listed(era: Era, page: Mapping[str, Any]) -> list[Snapshot]:
    """The tasks of one page of ``tasks/list``.

    Raises:
        ProtocolFailed: it is none.
    """
    answer, tasks = "The server's answer to 'tasks/list'", page.get("tasks")
    if not isinstance(tasks, list):
        raise unreadable(answer, "its 'tasks' are no list")
    found: list[Snapshot] = []
    for fields in cast("list[Any]", tasks):
        if not isinstance(fields, dict):
            raise unreadable(answer, f"one of its tasks is no object but {fields!r}")
        try:
            found.append(unended(era.read(cast("dict[str, Any]", fields))))
        except (KeyError, TypeError, ValueError) as broken:
            raise unreadable(answer, broken) from broken
    return found


__all__ = ["Cursors", "listed"]
