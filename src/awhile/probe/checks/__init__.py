"""What a server should do about waiting: every check, in the order of the reports."""

from __future__ import annotations

from awhile.probe.checks import creating, declaring, ending, refusing, stopping, waiting
from awhile.probe.checks.registry import CHECKS, Check

ROOMS = (declaring, refusing, creating, waiting, ending, stopping)
"""The modules that declare checks; importing them fills `CHECKS`."""

__all__ = ["CHECKS", "Check"]
