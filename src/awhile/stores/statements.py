"""Reads ``.sql`` files in which every statement has a name and a description.

::

    -- name: one_task
    -- The record of one task.
    SELECT * FROM task_row WHERE task_id = :task_id;
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.stores.contract import Detail

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


LISTS: Mapping[Detail, str] = {
    "whole": "tasks_of_owner",
    "brief": "briefs_of_owner",
    "outline": "outlines_of_owner",
}
"""The statement of `TaskStore.find` for each ``detail``."""


def named_statements(text: str) -> Mapping[str, str]:
    """The statements of a ``.sql`` file by name.

    Raises:
        ValueError: a name is used twice, or a statement has no description.
    """
    parts = _NAME.split(text)
    statements: dict[str, str] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.strip().splitlines()
        sql = "\n".join(line for line in lines if not line.startswith("--")).strip()
        if name in statements or not sql or not lines[0].startswith("-- "):
            raise ValueError(f"The statement {name!r} is named twice, empty or not described.")
        statements[name] = sql.removesuffix(";")
    return statements


__all__ = ["LISTS", "named_statements"]
