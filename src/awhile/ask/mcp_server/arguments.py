"""The arguments that several tools take, as a model reads of them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from awhile.ask.mcp_server import model

__all__ = [
    "After",
    "ConfirmCost",
    "Follows",
    "Parameters",
    "Question",
    "ReadableId",
    "RequestKey",
    "RunId",
    "Sql",
]

Question = Annotated[
    str,
    Field(description="The question, in plain language.", max_length=model.LONGEST_QUESTION),
]
Sql = Annotated[
    str,
    Field(
        description="One SELECT in the database's own dialect.",
        min_length=1,
        max_length=model.LONGEST_SQL,
    ),
]
Parameters = Annotated[
    dict[str, model.ParameterValue] | None,
    Field(
        description="Values for the :names in the SQL, which are bound and never pasted: a text, a "
        "number, true, false or null; or, for another type, an object such as "
        '{"type": "date", "value": "2025-01-01"} '
        "(types: text, integer, decimal, number, date, timestamp).",
    ),
]
RequestKey = Annotated[
    str | None,
    Field(
        description="Your own key for this request: repeated with the same key, a call finds the "
        "same run instead of starting another.",
        max_length=200,
    ),
]
ConfirmCost = Annotated[
    bool,
    Field(
        description="Run it however expensive it is expected to be. Set it only when your user has "
        "been told what was estimated and has said to run it; otherwise leave it out, and you or "
        "they are asked first."
    ),
]
After = Annotated[
    str | None,
    Field(
        description="Run it only once this run of yours has ended with a table; if that one does "
        "not, this one ends as not run."
    ),
]
Follows = Annotated[
    str | None,
    Field(
        description="The run of yours whose question this one goes on from, where it says only "
        'what changes: "and by country?", "only 2025".'
    ),
]
RunId = Annotated[str, Field(description="One of your runs, by its id.")]
ReadableId = Annotated[
    str,
    Field(description="One of your runs by its id, or a run shared with you by its share id."),
]
