"""A server of ours with the tools a test gives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from mcp.server.mcpserver import MCPServer

from awhile import Tasks
from tests.interaction.server.peer import Peer, serving
from tests.machine.runtime.left_behind import nothing_left_behind

Function = TypeVar("Function", bound=Callable[..., Any])


class App:
    """An MCPServer with Tasks installed, to be given tools and then served."""

    def __init__(
        self, store: Path, *, install: dict[str, Any] | None = None, **settings: Any
    ) -> None:
        self.store = store
        self.tasks = Tasks(f"sqlite:///{store}", **settings)
        installed = self.tasks.install(**(install or {}))
        self.mcp: MCPServer[Any] = MCPServer("app", log_level="WARNING", **installed)

    def tool(self, **options: Any) -> Callable[[Function], Function]:
        """Register a task tool; see `Tasks.tool`."""

        def declare(function: Function) -> Function:
            self.mcp.tool(name=options.get("name"))(self.tasks.tool(**options)(function))
            return function

        return declare

    def serving(self, **options: Any) -> AbstractAsyncContextManager[Peer]:
        """Serve it over HTTP in this event loop; ``options`` are those of `http_app`."""
        return serving(self.mcp, **options)


@pytest.fixture
def app(tmp_path: Path) -> App:
    """A server with a store of its own and no tools yet."""
    return App(tmp_path / "tasks.db")


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path: Path) -> Iterator[None]:
    """No live body, lease, thread or child outlives a test here."""
    with nothing_left_behind(tmp_path):
        yield
