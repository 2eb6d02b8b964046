"""Whether *ask your database* is completely installed, found out without loading it.

The commands import what they need when they run, so that help and completion come at once.
"""

from __future__ import annotations

from importlib.util import find_spec

NEEDED = (
    "duckdb",
    "fastexcel",
    "fsspec",
    "pyarrow",
    "pydantic",
    "yaml",
    "sqlglot",
    "starlette",
    "uvicorn",
    "xlsxwriter",
)
"""The modules of the extra ``ask`` (`pyproject.toml`; a test compares)."""


def must_be_complete() -> None:
    """Raise `ImportError` where a module is missing, as loading it would."""
    for name in NEEDED:
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


__all__ = ["NEEDED", "must_be_complete"]
