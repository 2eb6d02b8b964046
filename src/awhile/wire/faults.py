"""What is wrong with something read, in one line. Pure."""

from __future__ import annotations

from pydantic import ValidationError

MOST_FAULTS = 3
"""How many faults are told: one missing member brings one for every variant."""

LONGEST_FAULT = 200
"""How many characters of a fault are told: it may quote what was read."""


def faults(broken: Exception | str) -> str:
    """What is wrong, and where; without pydantic's lines for programmers."""
    if not isinstance(broken, ValidationError):
        words = f"{broken} is missing" if isinstance(broken, KeyError) else str(broken)
        return words if len(words) <= LONGEST_FAULT else f"{words[:LONGEST_FAULT]}…"
    told = [
        f"{'.'.join(map(str, one['loc'])) or 'all of it'}: {one['msg']}"[:LONGEST_FAULT]
        for one in broken.errors(include_url=False, include_context=False, include_input=False)
    ]
    more = len(told) - MOST_FAULTS
    return "; ".join(told[:MOST_FAULTS]) + (f"; and {more} more" if more > 0 else "")
