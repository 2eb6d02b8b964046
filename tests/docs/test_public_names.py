"""What a room lists in `__all__` is there and described; at the top it is all there is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import awhile


def packages() -> list[str]:
    """Every package of the distribution: the top and its rooms, whose `__all__` is their face."""
    walked = pkgutil.walk_packages(awhile.__path__, "awhile.")
    return ["awhile", *(found.name for found in walked if found.ispkg)]


def offered(package: str) -> list[tuple[str, object]]:
    module = importlib.import_module(package)
    return [(name, getattr(module, name)) for name in getattr(module, "__all__", ())]


@pytest.mark.parametrize("package", packages())
def test_every_name_a_package_lists_is_there_and_described(package: str) -> None:
    undescribed = [
        described
        for name, thing in offered(package)
        for described in missing_docstrings(name, thing)
    ]
    assert undescribed == []


def missing_docstrings(name: str, thing: object) -> list[str]:
    """`name` and each public method it defines itself that carries no docstring."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return []
    missing = [] if written_docstring(thing) else [name]
    if inspect.isclass(thing):
        for attribute, value in vars(thing).items():
            public = not attribute.startswith("_")
            if public and (inspect.isroutine(value) or isinstance(value, property)):
                # getdoc also finds what an overridden method of a base class says
                described = inspect.getdoc(getattr(thing, attribute))
                missing += [] if described else [f"{name}.{attribute}"]
    return missing


def written_docstring(thing: object) -> bool:
    """Whether a person wrote it: a dataclass without one gets its signature for a docstring."""
    text = thing.__doc__ or ""
    return bool(text) and not text.startswith(f"{getattr(thing, '__name__', '')}(")


def test_the_top_offers_exactly_the_names_it_lists() -> None:
    offered("awhile")  # the top loads a name when it is first asked for
    public = {
        name
        for name, thing in vars(awhile).items()
        if not name.startswith("_") and not isinstance(thing, ModuleType) and name != "annotations"
    }
    assert public == set(getattr(awhile, "__all__", ()))


def test_every_package_says_what_it_is_for() -> None:
    assert [name for name in packages() if not importlib.import_module(name).__doc__] == []
