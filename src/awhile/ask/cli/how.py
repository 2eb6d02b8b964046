"""What is asked for on a command line, and how to show what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Kind = Literal["csv", "parquet", "xlsx"]


@dataclass(frozen=True, slots=True)
class File:
    """What the rows of a run become, and where; None is standard output."""

    kind: Kind
    path: Path | None = None

    @property
    def how(self) -> str:
        """The option that asks for it."""
        return f"--{self.kind}" if self.path is None else f"--{self.kind} {self.path}"


Form = Literal["screen", "json"] | File
"""How an answer is shown: to a person, to a program, or as a file of its rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How to show what comes of a request."""

    form: Form = "screen"
    quiet: bool = False
    """Whether to say nothing but the answer."""
    may_page: bool = True
    """Whether a long table may go through the pager."""


Request = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Script:
    """Several statements: the arguments of ``run_script``."""

    arguments: dict[str, Any]


__all__ = ["File", "Form", "How", "Kind", "Request", "Script"]
