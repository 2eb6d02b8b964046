"""The two eras, as bytes: what a request of each has to carry, and where a task is in an answer."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

from awhile.probe.exchanges import Json, as_object

VENDOR = "io.modelcontextprotocol"
TASKS = f"{VENDOR}/tasks"
RELATED_TASK = f"{VENDOR}/related-task"
SUBSCRIPTION = f"{VENDOR}/subscriptionId"

MODERN, LEGACY = "2026-07-28", "2025-11-25"

CLIENT = {"name": "awhile-probe", "version": version("awhile")}
"""How the probe names itself in ``clientInfo``."""

ACCEPT = "application/json, text/event-stream"


class Dialect(ABC):
    """How one era is spoken."""

    era: str
    ttl: str
    poll: str
    """The names of the task's time to live and of the suggested interval."""

    @abstractmethod
    def params(self, params: Json, *, declared: bool, token: str | None) -> Json:
        """A request's parameters, complete."""

    @abstractmethod
    def headers(self, method: str, params: Json) -> dict[str, str]:
        """The headers of a request over HTTP."""

    @abstractmethod
    def call(self, tool: str, arguments: Json) -> Json:
        """The parameters of a call that may become a task."""

    @abstractmethod
    def created(self, result: Json) -> Json | None:
        """The task in the answer to a call, None if it is none."""


class Modern(Dialect):
    """2026-07-28: no handshake; each request says version, client and capabilities."""

    era, ttl, poll = MODERN, "ttlMs", "pollIntervalMs"

    def params(self, params: Json, *, declared: bool, token: str | None) -> Json:
        """See `Dialect.params`."""
        capabilities: Json = {"elicitation": {"form": {}}}
        if declared:
            capabilities["extensions"] = {TASKS: {}}
        meta: Json = {
            f"{VENDOR}/protocolVersion": MODERN,
            f"{VENDOR}/clientInfo": CLIENT,
            f"{VENDOR}/clientCapabilities": capabilities,
        }
        if token is not None:
            meta["progressToken"] = token
        return {**params, "_meta": {**meta, **as_object(params.get("_meta"))}}

    def headers(self, method: str, params: Json) -> dict[str, str]:
        """See `Dialect.headers`."""
        headers = {
            "content-type": "application/json",
            "accept": ACCEPT,
            "mcp-protocol-version": MODERN,
            "mcp-method": method,
        }
        name = params.get("taskId" if method.startswith("tasks/") else "name")
        if isinstance(name, str):
            headers["mcp-name"] = header_value(name)
        return headers

    def call(self, tool: str, arguments: Json) -> Json:
        """See `Dialect.call`."""
        return {"name": tool, "arguments": arguments}

    def created(self, result: Json) -> Json | None:
        """See `Dialect.created`."""
        return result if "taskId" in result else _nested(result)


class Legacy(Dialect):
    """2025-11-25: ``initialize`` first; the caller asks for a task by ``params.task``."""

    era, ttl, poll = LEGACY, "ttl", "pollInterval"

    def __init__(self) -> None:
        self.session: str | None = None
        self.version: str | None = None
        """What the server has answered ``initialize`` with."""

    @property
    def handshake(self) -> Json:
        """The parameters of ``initialize``."""
        capabilities: Json = {"elicitation": {}}
        return {"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": CLIENT}

    def params(self, params: Json, *, declared: bool, token: str | None) -> Json:
        """See `Dialect.params`."""
        if token is None:
            return params
        return {**params, "_meta": {**as_object(params.get("_meta")), "progressToken": token}}

    def headers(self, method: str, params: Json) -> dict[str, str]:
        """See `Dialect.headers`."""
        headers = {"content-type": "application/json", "accept": ACCEPT}
        if self.version is not None:
            headers["mcp-protocol-version"] = self.version
        if self.session is not None:
            headers["mcp-session-id"] = self.session
        return headers

    def call(self, tool: str, arguments: Json) -> Json:
        """See `Dialect.call`."""
        return {"name": tool, "arguments": arguments, "task": {"ttl": REQUESTED_TTL_MS}}

    def created(self, result: Json) -> Json | None:
        """See `Dialect.created`."""
        return _nested(result) or (result if "taskId" in result else None)


REQUESTED_TTL_MS = 60_000
"""The ``ttl`` that is asked for, as the page's own example does."""


def _nested(result: Json) -> Json | None:
    task: Any = result.get("task")
    return as_object(task) if isinstance(task, dict) and "taskId" in task else None


def header_value(text: str) -> str:
    """A value for ``Mcp-Name``. Source: 2026-07-28 streamable-http, "Value Encoding"."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    if plain and not text.startswith("=?base64?"):
        return text
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


__all__ = ["LEGACY", "MODERN", "RELATED_TASK", "SUBSCRIPTION", "TASKS", "Legacy", "Modern"]
