"""Text that others wrote (names, comments, values, messages), as it may be shown to anybody.

A name can hold a line end, a sequence that drives a terminal, or an order to write from right to
left, behind which other words hide. Nothing is dropped: it is written out, as Python would.
"""

from __future__ import annotations


def visible(text: str) -> str:
    """One line: whatever would move, colour, reorder, break or hide it is written out."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def visible_lines(text: str) -> str:
    """The same for text of several lines, whose line ends and tabs stay."""
    return "\n".join(visible(line.expandtabs(4)) for line in text.splitlines())


__all__ = ["visible", "visible_lines"]
