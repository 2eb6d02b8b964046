"""The child's end of the wire to its parent."""

from __future__ import annotations

import os
import queue
import socket
import threading
import traceback

from awhile.processes.frames import Frames, frame

__all__ = ["PARENT_GONE", "Link"]

PARENT_GONE = 75
"""Exit code of a child that saw its parent's end of the wire close (EX_TEMPFAIL)."""

UNREADABLE = 65
"""Exit code of a child that was sent what cannot be unpickled here (EX_DATAERR)."""

_READ_BYTES = 64 * 1024


class Link:
    """Messages to and from the parent. Every method may be called from any thread.

    A watcher thread reads all the time, so that the parent's end is noticed however busy the
    function is: at end-of-file the process exits at once, without clean-up, because there is
    nobody left to do it for. (On Linux the kernel is faster and also ends a child stuck in C code
    that never lets the watcher run: see `main.py`.)
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._sending = threading.Lock()
        self._received: queue.SimpleQueue[object] = queue.SimpleQueue()
        threading.Thread(target=self._watch, name="parent watcher", daemon=True).start()

    def send(self, message: object) -> None:
        """Send one picklable message; blocks while the parent is behind with reading."""
        data = frame(message)
        with self._sending:
            self._socket.sendall(data)

    def receive(self) -> object:
        """The next message from the parent; blocks until there is one."""
        return self._received.get()

    def _watch(self) -> None:
        frames = Frames()
        while True:
            try:
                data = self._socket.recv(_READ_BYTES)
            except OSError:
                data = b""
            if not data:
                os._exit(PARENT_GONE)
            frames.add(data)
            try:
                while (message := frames.next()) is not None:
                    self._received.put(message[0])
            except Exception:  # noqa: BLE001 - nobody would ever hear of it: this thread is the ears
                traceback.print_exc()
                os._exit(UNREADABLE)
