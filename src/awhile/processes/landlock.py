"""Denying a thread, and whatever it starts, to write anywhere but beneath one folder (Linux).

By Landlock: the kernel decides by the file that is opened, whatever path led to it, and also for
root. It holds for the thread that asks for it, for the threads and processes that thread starts
from then on, and for ever. Reading is not touched, and neither is what was open for writing before.

Source: Linux, Documentation/userspace-api/landlock.rst.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

__all__ = ["deny_writing", "version"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls; since 5.13 they are the same on every architecture."""
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38

_WRITES = (
    1 << 1  # write to a file
    | 1 << 4  # remove a folder
    | 1 << 5  # remove a file
    | sum(1 << each for each in range(6, 13))  # make a device, folder, file, socket, pipe or link
)
_SINCE = {2: 1 << 13, 3: 1 << 14}
"""Rights that later versions know: rename or link into another folder, cut off."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """The kernel's version of Landlock; 0 where there is none, or it may not be used."""
    if sys.platform != "linux":
        return 0
    found = int(
        ctypes.CDLL(None).syscall(
            _CREATE_RULESET, None, ctypes.c_size_t(0), _CREATE_RULESET_VERSION
        )
    )
    return max(found, 0)


def deny_writing(but_beneath: Path) -> bool:
    """Whether the kernel now denies this thread to write anywhere else; False: nothing has changed.

    Raises `OSError` for a folder that is not there.
    """
    known = version()
    if known == 0:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rights = _WRITES | sum(right for since, right in _SINCE.items() if known >= since)
    ruleset = _Ruleset(rights)
    rules = int(
        libc.syscall(
            _CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0
        )
    )
    if rules < 0:
        return False
    folder = -1
    try:
        folder = os.open(but_beneath, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        rule = _Beneath(rights, folder)
        return (
            libc.syscall(_ADD_RULE, rules, _RULE_PATH_BENEATH, ctypes.byref(rule), 0) == 0
            # Without this, only who may do anything anyway may give up a right.
            and libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            and libc.syscall(_RESTRICT_SELF, rules, 0) == 0
        )
    finally:
        os.close(rules)
        if folder >= 0:
            os.close(folder)
