"""What servers and workers log, and how: set up once, before anything else can."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from awhile.telemetry.logs import JsonLines, TaskContext, TextLines

if TYPE_CHECKING:
    from pathlib import Path

AUDIT = "awhile.audit"
"""The logger of who asked, saw, answered and stopped what."""

QUIETER = {
    "mcp": logging.WARNING,  # it tells of every start and stop
    "httpx2": logging.WARNING,  # of every webhook, with its whole URL
    # Of every try to connect, four a second while PostgreSQL is away (measured): the store says
    # once that it is, and once that it is back.
    "psycopg": logging.ERROR,
}
"""Libraries of which only so much is written."""


def set_up_logs(log_format: str, audit_file: Path | None) -> None:
    """Write to standard error, each line about a task with its id; the audit trail to its file.

    The official SDK sets up logging when an MCPServer is built, unless somebody has before; so this
    comes before the module is imported. The level stays the module's own (``log_level``).
    """
    lines = logging.StreamHandler()
    lines.setFormatter(JsonLines() if log_format == "json" else TextLines())
    lines.addFilter(TaskContext())
    logging.basicConfig(handlers=[lines])
    for name, level in QUIETER.items():
        logging.getLogger(name).setLevel(level)
    set_up_audit(audit_file)


def set_up_audit(audit_file: Path | None) -> None:
    """Append the audit trail to that file, one JSON object a line; None: it is not kept."""
    if audit_file is None:
        return
    audit = logging.getLogger(AUDIT)
    kept = logging.FileHandler(audit_file, encoding="utf-8", delay=True)
    kept.setFormatter(JsonLines())
    kept.addFilter(TaskContext())
    audit.addHandler(kept)
    audit.setLevel(logging.INFO)


def keep_level(level: str) -> None:
    """Log from the level on that the module's server was built with."""
    logging.getLogger().setLevel(level)


__all__ = ["AUDIT", "keep_level", "set_up_audit", "set_up_logs"]
