"""The child's first steps: tie its life to the parent's, then run the function it was told.

Run as `python -m awhile.processes.main FD PARENT_PID`, by `child.py` only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from typing import cast

from awhile.processes.frames import unpickled
from awhile.processes.link import PARENT_GONE, Link
from awhile.processes.target import import_main, load

__all__ = ["main"]

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Serve one function until it returns."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    end_with_parent(parent)
    sock = socket.socket(fileno=descriptor)
    sock.set_inheritable(False)
    link = Link(sock)
    # The parent's import path, so that whatever it could import can be imported here.
    path, main_name, name, packed = cast("tuple[list[str], str, str, bytes]", link.receive())
    sys.path[:] = path
    if main_name:
        import_main(main_name)
    load(name)(link, *unpickled(packed))
    sys.stdout.flush()
    sys.stderr.flush()
    # Not sys.exit: a thread the function left behind must not keep an ended child alive.
    os._exit(0)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the parent's spawning thread ends (Linux).

    The watcher thread in `Link` covers the other systems, but needs the interpreter to run; a
    child inside C code that holds the interpreter lock only ends this way.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died between the fork and the line above.
    if os.getppid() != parent:
        os._exit(PARENT_GONE)


if __name__ == "__main__":
    main()
