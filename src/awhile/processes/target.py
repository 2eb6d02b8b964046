"""Naming a function so that another process can find it: `module:qualname`."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from awhile.processes.errors import ProcessError

__all__ = [
    "CHILD_FUNCTION",
    "MAINS",
    "import_main",
    "load",
    "main_module",
    "main_name",
    "target_of",
]

CHILD_FUNCTION = "__child_function__"
"""A decorator that replaces a function leaves the original under this attribute, for children."""

_MAIN = "__awhile_main__"
"""The name under which a child imports the parent's script, so its `__main__` guard stays shut."""

MAINS = ("__main__", _MAIN)
"""The names that a class of the parent's main module may have in a pickle."""


def target_of(function: Callable[..., Any]) -> str:
    """The name under which a child can import `function`.

    A function of the running script is named by the script's path. Raises `ProcessError` for
    what cannot be imported again: lambdas, closures, and functions typed at a prompt.
    """
    module, name = function.__module__, function.__qualname__
    if "<" in name:
        raise ProcessError(
            f"{module}.{name} cannot be imported by a child process; "
            "move it to the top level of a module"
        )
    if module not in MAINS:
        return f"{module}:{name}"
    main = main_name()
    if not main:
        raise ProcessError(
            f"{name!r} lives in an interactive session, which a child process cannot import; "
            "move it to a module"
        )
    return f"{main}:{name}"


def main_name() -> str:
    """The name under which a child imports this program's main module; empty when it cannot."""
    main = sys.modules.get(_MAIN) or sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None and spec.name != _MAIN:
        return str(spec.name)
    path = getattr(main, "__file__", None)
    return "" if path is None else str(Path(path).resolve())


def main_module() -> Any:
    """What ``__main__`` means in a pickle between a parent and its children: the parent's."""
    return sys.modules.get(_MAIN) or sys.modules["__main__"]


def import_main(name: str) -> None:
    """In a child: import the parent's main module, which `main_name` named there."""
    sys.modules[_MAIN] = _script(name) if name.endswith(".py") else importlib.import_module(name)


def load(target: str) -> Callable[..., Any]:
    """The function named by `target`. Raises what the import raises, or `ProcessError`."""
    module_name, _, qualname = target.rpartition(":")
    if not module_name or not qualname:
        raise ProcessError(f"{target!r} names no function; write 'package.module:function'")
    found: Any = _script(module_name) if module_name.endswith(".py") else None
    if found is None:
        found = importlib.import_module(module_name)
    for part in qualname.split("."):
        found = getattr(found, part)
    found = getattr(found, CHILD_FUNCTION, found)
    if not callable(found):
        raise ProcessError(f"{target!r} is {type(found).__name__}, which cannot be called")
    return found


def _script(path: str) -> Any:
    if _MAIN in sys.modules:
        return sys.modules[_MAIN]
    spec = importlib.util.spec_from_file_location(_MAIN, path)
    if spec is None or spec.loader is None:
        raise ProcessError(f"{path!r} cannot be imported as a script")
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MAIN] = module
    spec.loader.exec_module(module)
    return module
