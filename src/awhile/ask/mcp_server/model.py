"""What the tools return, as the schemas that MCP clients see (source: ours).

Cells are text, or null for SQL's NULL: no number is ever rounded on its way (`results` says how
each type is written).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from awhile.ask.schema import ColumnKind

LONGEST_QUESTION = 4_000
"""Characters of a question; more is no question but a text."""

LONGEST_SQL = 100_000
"""Characters of a SQL text."""


ParameterValue = str | int | float | bool | dict[str, str] | None
"""A value for a `:name`; an object names the type of its text."""


class ColumnModel(BaseModel):
    """One column: its name as the query gave it, and the engine's type."""

    name: str
    type: str


class MeaningModel(BaseModel):
    """What some words of the question were taken to mean."""

    words: str
    meaning: str


class RefusalModel(BaseModel):
    """The question was not understood well enough to answer."""

    text: str
    understood: list[str]
    not_understood: list[str]
    tables: list[str]
    measures: list[str]


class ChoiceModel(BaseModel):
    """One way to go on: a label to show, and the question to ask in place of the first one."""

    label: str
    question: str


class QuestionBackModel(BaseModel):
    """The question can be read in more than one way."""

    text: str
    choices: list[ChoiceModel]


class ErrorModel(BaseModel):
    """Why a query gave no result; ``line`` and ``column`` count from 1."""

    kind: str
    message: str
    line: int | None = None
    column: int | None = None


Outcome = Literal["table", "refusal", "question_back", "error"]
"""What a finished run came to, apart from its status."""


class AnswerModel(BaseModel):
    """What became of a question: rows; or a refusal; or a question back; or an error."""

    run_id: str
    question: str | None = None
    sql: str | None = None
    parameters: dict[str, ParameterValue] | None = Field(
        default=None, description="The values of the SQL's :names, where it has any."
    )
    reading: str | None = None
    meanings: list[MeaningModel] = Field(default_factory=list[MeaningModel])
    confidence: str | None = None
    columns: list[ColumnModel] | None = None
    row_count: int | None = None
    truncated: bool | None = Field(
        default=None, description="Whether the query had more rows than were read."
    )
    rows: list[list[str | None]] | None = Field(
        default=None, description="The first rows; result_rows has the others."
    )
    elapsed_seconds: float | None = None
    refusal: RefusalModel | None = None
    question_back: QuestionBackModel | None = None
    error: ErrorModel | None = None


class RowsModel(BaseModel):
    """One page of a finished run's rows."""

    columns: list[ColumnModel]
    rows: list[list[str | None]]
    offset: int
    row_count: int
    truncated: bool


class TableColumnModel(BaseModel):
    """One column of a table."""

    name: str
    type: str
    kind: ColumnKind = Field(description="The family of the type.")
    comment: str | None = None
    primary: bool = Field(default=False, description="Whether it is part of the primary key.")
    references: str | None = Field(
        default=None, description="The table.column this one points at, declared or inferred."
    )


class TableModel(BaseModel):
    """One table that can be asked about."""

    name: str
    row_count: int | None
    comment: str | None
    columns: list[TableColumnModel]


class DatabaseModel(BaseModel):
    """The database, and questions that can be asked about it."""

    name: str
    dialect: str = Field(description="SQLGlot's name of the SQL it speaks.")
    tables: list[TableModel]
    examples: list[str]
    notes: list[str] = Field(description="What is missing from the list of tables, and why.")


class AnswerGivenModel(BaseModel):
    """What a person answered when the run asked."""

    question: str
    action: str = Field(description="accept, decline or cancel")
    content: dict[str, str | int | float | bool | list[str] | None] | None = None
    at: str


class RunModel(BaseModel):
    """One of the caller's runs. Instants are ISO 8601."""

    run_id: str
    tool: str
    question: str | None
    sql: str | None
    parameters: dict[str, ParameterValue] | None = Field(
        default=None, description="The values of the SQL's :names, where it has any."
    )
    reading: str | None
    status: str
    outcome: Outcome | None = Field(description="What a completed run came to.")
    status_message: str | None
    created_at: str
    ended_at: str | None
    is_error: bool
    cancel_asked_at: str | None
    stopped_how: str | None
    updated_at: str = Field(description="When something of it last changed.")
    answers: list[AnswerGivenModel] = Field(default_factory=list[AnswerGivenModel])
    title: str | None = Field(default=None, description="What its owner calls it.")
    pinned: bool = False
    stop_when_left: bool = Field(
        default=False, description="Whether it is stopped once whoever watched it has left."
    )
    rev: int


class RunsModel(BaseModel):
    """The caller's runs, newest first."""

    runs: list[RunModel]


class StepModel(BaseModel):
    """One thing that happened to a run."""

    at: str
    words: str
    said: bool = Field(description="Whether the work said it of itself.")


class HistoryModel(BaseModel):
    """The last steps of a run, oldest first."""

    steps: list[StepModel]
    earlier: int = Field(description="How many steps came before these.")
