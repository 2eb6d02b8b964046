"""PyMySQL, with three things it has not: a limit on how long a server may take to greet, cells as
the bytes that were sent, and a result that can be left before its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pymysql.connections import Connection
from pymysql.constants import CLIENT
from pymysql.cursors import SSCursor

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

    _Connection = Connection[Cursor]
else:
    _Connection = Connection  # generic in its stubs alone

__all__ = ["Link", "Stream", "linked"]

_CONNECT_SECONDS = 10


class Link(_Connection):
    """A connection that does not wait for ever for a server that says nothing."""

    def connect(self, sock: Any = None) -> None:
        """Connect; afterwards an answer may take as long as it takes."""
        me: Any = self
        me._read_timeout = self.connect_timeout
        super().connect(sock)
        me._read_timeout = None

    def drop(self) -> None:
        """Close it at once: nothing is read any more, or told to the server."""
        me: Any = self
        me._force_close()


class Stream(SSCursor):
    """Reads a result row by row, as bytes."""

    def read(self, sql: str) -> Iterator[tuple[bytes | None, ...]]:
        """Run a statement, and give its rows as they come."""
        connection: Any = self.connection
        decoders, unicode = connection.decoders, connection.use_unicode
        connection.decoders, connection.use_unicode = {}, False
        try:
            self.execute(sql)
        finally:
            connection.decoders, connection.use_unicode = decoders, unicode
        return self.fetchall_unbuffered()

    def fields(self) -> Sequence[Any]:
        """What the server says of each column."""
        return self._answer.fields

    @property
    def unread(self) -> bool:
        """Whether there are rows that were not read."""
        return self._answer is not None and bool(self._answer.unbuffered_active)

    @property
    def warned(self) -> bool:
        """Whether the server has something to say of the rows, all of them read by now."""
        return bool(self._answer.warning_count)

    def leave(self) -> None:
        """Read no more of it: the connection has to be dropped, too."""
        self._answer.unbuffered_active = False
        self._answer.connection = None
        me: Any = self
        me.connection = None

    @property
    def _answer(self) -> Any:
        me: Any = self
        return me._result


def linked(options: Mapping[str, Any]) -> Link:
    """A connection that takes one statement at a time and sends no file.

    Raises `pymysql.Error`, and `TypeError` for an option that the driver does not know.
    """
    given: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, **options}
    given.update(
        autocommit=True,
        charset="utf8mb4",
        client_flag=int(given.get("client_flag", 0)) & ~CLIENT.MULTI_STATEMENTS,
        local_infile=False,
    )
    return Link(**given)
