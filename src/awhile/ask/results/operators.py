"""How a filter compares."""

from __future__ import annotations

from typing import Literal

__all__ = ["Operator"]

Operator = Literal["contains", "=", "!=", "<", "<=", ">", ">=", "is null", "is not null"]
