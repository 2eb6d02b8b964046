"""Length-prefixed pickled messages, both directions.

Pickle is right here and nowhere else: both ends are the same program of the same user, joined by
a socket pair that nobody else can open.
"""

from __future__ import annotations

import io
import pickle
import struct
from functools import reduce
from typing import Any

from awhile.processes.target import MAINS, main_module

__all__ = ["Frames", "frame", "unpickled"]

_LENGTH = struct.Struct("!Q")


def frame(message: object) -> bytes:
    """One message as it travels: eight bytes of length, then the pickle."""
    body = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(body)) + body


def unpickled(body: bytes) -> Any:
    """What was pickled at the other end, where ``__main__`` is another module than here."""
    return _Unpickler(io.BytesIO(body)).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name in MAINS:
            return reduce(getattr, global_name.split("."), main_module())
        return super().find_class(module_name, global_name)


class Frames:
    """Collects bytes until they make a message, so a reader can be cancelled between two reads."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Take in what was read."""
        self._bytes += data

    def next(self) -> tuple[object] | None:
        """The next whole message in a one-tuple (it may itself be None), or None."""
        if len(self._bytes) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._bytes)
        end = _LENGTH.size + length
        if len(self._bytes) < end:
            return None
        body = bytes(self._bytes[_LENGTH.size : end])
        del self._bytes[:end]
        return (unpickled(body),)
