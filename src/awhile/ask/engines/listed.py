"""Lists of names that lie beside a module, as text."""

from __future__ import annotations

from importlib.resources import files

__all__ = ["listed"]


def listed(package: str, name: str) -> frozenset[str]:
    """The words of a file of the package; what follows a `#` on a line is a comment."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() for word in line.partition("#")[0].split())
