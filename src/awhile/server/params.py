"""The parameters of the methods that both eras' tasks have, and the refusals they share."""

from __future__ import annotations

import json
from typing import Any

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PaginatedRequestParams, RequestParams
from pydantic import Field

from awhile.errors import TaskNotFound


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
