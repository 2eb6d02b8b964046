"""The parameters of the methods that both eras' tasks have, and the refusals they share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams
from pydantic import Field

from awhile.errors import TaskNotFound
from awhile.wire.run import UNOBSERVED_META

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.server.context import ServerRequestContext

    from awhile.server.options import ToolOptions


class TaskParams(RequestParams):
    """Of ``tasks/get``, ``tasks/cancel`` and ``tasks/result``."""

    task_id: str = Field(alias="taskId")


class UpdateParams(TaskParams):
    """Of ``tasks/update``."""

    input_responses: dict[str, Any] = Field(alias="inputResponses")


class ListParams(PaginatedRequestParams):
    """Of ``tasks/list``."""


def unknown_task() -> MCPError:
    """No such task, or not the caller's: both read the same, and the id is not repeated (both
    eras' Error Handling)."""
    return MCPError(code=INVALID_PARAMS, message=str(TaskNotFound()))


LONGEST_UNOBSERVED_SECONDS = 365 * 86_400


def unobserved_ms(ctx: ServerRequestContext[Any, Any], options: ToolOptions) -> int | None:
    """How long the work of this call goes on while nobody looks: as it says itself, else as its
    tool does; None for as long as it takes.

    Raises:
        MCPError: -32602 for what is no such duration.
    """
    meta: Mapping[str, Any] = (ctx.params or {}).get("_meta") or {}
    if UNOBSERVED_META not in meta:
        return options.unobserved_ms
    asked = meta[UNOBSERVED_META]
    if asked is None:
        return None
    if not isinstance(asked, int | float) or not 1 <= asked <= LONGEST_UNOBSERVED_SECONDS:
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"{UNOBSERVED_META} is {asked!r}; it has to be a number of seconds from 1 to "
            f"{LONGEST_UNOBSERVED_SECONDS}, or null to let the work go on.",
        )
    return round(asked * 1000)


def refuse_unkept(value: object) -> None:
    """Refuse what no store could keep: a lenient parser lets it through, strict JSON has no form.

    Raises:
        MCPError: -32602.
    """
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError as unkept:  # a lone surrogate is a UnicodeEncodeError, which is one too
        raise MCPError(
            code=INVALID_PARAMS,
            message=f"The request holds a value that is no JSON ({unkept}); send it as text.",
        ) from None
