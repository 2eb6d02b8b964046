"""What the tools of sharing return, as the schemas that MCP clients see (source: ours)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from awhile.ask.mcp_server import model


class ShareModel(BaseModel):
    """One share of a run, as its owner sees it. Instants are ISO 8601."""

    share: str = Field(description="What to call it when it is revoked; it opens nothing.")
    made_at: str
    expires_at: str | None = Field(description="Until when it opens the run; null: till revoked.")
    opened: int = Field(description="How often it was opened.")


class SharesModel(BaseModel):
    """The shares of a run that open it now, the oldest first."""

    run_id: str
    shares: list[ShareModel]


class SharedIdModel(BaseModel):
    """A new share. Its id is told here and never again."""

    share_id: str = Field(description="Who has it can read the run with open_shared.")
    run_id: str
    share: str = Field(description="What to call it when it is revoked.")
    expires_at: str | None


class SharedModel(BaseModel):
    """A run that somebody else shares: what it asked, how it stands, and what it came to."""

    share_id: str = Field(
        description="In place of the run's id for result_rows, result_cell, result_chart, "
        "result_changes and files."
    )
    shared_by: model.Sentence | None = Field(
        description="What its owner is called, where that is known."
    )
    shared_at: str
    expires_at: str | None
    tool: str
    question: str | None
    title: str | None = Field(description="What its owner calls it.")
    sql: str | None
    parameters: dict[str, model.ParameterValue] | None
    reading: model.Sentence | None
    translator: str | None = Field(description="Who wrote the SQL; null: a person, or a model.")
    translator_version: str | None
    database: str | None
    asks: Literal["question", "sql"] | None = Field(
        description="What asks the same of one's own: the question, or (where that goes on from an "
        "earlier one) the SQL; null: neither, because it reads earlier results of its owner."
    )
    status: str
    status_message: model.Lines | None
    percent: float | None = Field(description="The database's own estimate, while it runs.")
    rows_so_far: int | None
    created_at: str
    ended_at: str | None
    updated_at: str
    attempt: int
    cancel_asked_at: str | None
    stopped_how: str | None
    is_error: bool
    outcome: model.Outcome | None
    answer: model.AnswerModel | None = Field(description="What became of it, once it has ended.")
    error_text: model.Lines | None = Field(description="What was said where it ended badly.")
