"""Durable, honest, stoppable long work for MCP servers and clients."""

from awhile.runtime.bodies import ChildRun
from awhile.runtime.run import Run
from awhile.server.tasks import Tasks

__all__ = ["ChildRun", "Run", "Tasks"]
