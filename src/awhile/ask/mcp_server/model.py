"""What the tools return, as the schemas that MCP clients see (source: ours).

Cells are text, or null for SQL's NULL: no number is ever rounded on its way (`results` says how
each type is written). A name is exact, so that SQL can be written with it. A sentence about names
and values of the database is not: what it holds may be anybody's, so it is made visible here,
whoever wrote it (`awhile.visible`).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from awhile.ask.charts import Aggregate, Kind
from awhile.ask.results.operators import Operator
from awhile.ask.schema import ColumnKind
from awhile.visible import visible, visible_lines

LONGEST_QUESTION = 4_000
"""Characters of a question; more is no question but a text."""

LONGEST_SQL = 100_000
"""Characters of a SQL text."""

Sentence = Annotated[str, AfterValidator(visible)]
"""One line for people, which may quote names and values."""

Lines = Annotated[str, AfterValidator(visible_lines)]
"""The same of several lines: an engine's own words, or a comment."""

NOTICE = "awhile-notice"
"""The header of a file that says, in sentences, what of it is not all or not exact."""

ParameterValue = str | int | float | bool | dict[str, str] | None
"""A value for a `:name`; an object names the type of its text."""


class ColumnModel(BaseModel):
    """One column: its name as the query gave it, and the engine's type."""

    name: str
    type: str


class MeaningModel(BaseModel):
    """What some words of the question were taken to mean."""

    words: Sentence
    meaning: Sentence


class RefusalModel(BaseModel):
    """The question was not understood well enough to answer."""

    text: Sentence
    understood: list[Sentence]
    not_understood: list[Sentence]
    tables: list[Sentence]
    measures: list[Sentence]


class ChoiceModel(BaseModel):
    """One way to go on: a label to show, and how."""

    label: Sentence
    question: str | None = Field(
        default=None, description="The question to ask in place of the first one."
    )
    confirm_cost: bool | None = Field(
        default=None, description="True: call the same again with confirm_cost true."
    )


class QuestionBackModel(BaseModel):
    """What has to be known before a query is run: which reading is meant, or whether to run it."""

    text: Sentence
    choices: list[ChoiceModel]


class EstimateModel(BaseModel):
    """What the database expects of a query."""

    rows: float = Field(description="Rows of its result.")
    cost: float = Field(description="In the database's own unit.")


class CostModel(EstimateModel):
    """Why it was not run at once."""

    limit: float = Field(description="The cost above which a person is asked first.")
    tool: str = Field(description="The tool to call again.")


class ErrorModel(BaseModel):
    """Why a query gave no result; ``line`` and ``column`` count from 1."""

    kind: str
    message: Lines
    line: int | None = None
    column: int | None = None
    word: str | None = Field(default=None, description="The word that it was refused for.")
    hints: list[Sentence] = Field(
        default_factory=list[Sentence],
        description="What to do: names near those that are not there.",
    )


Outcome = Literal["table", "refusal", "question_back", "not_run", "error"]
"""What a finished run came to, apart from its status."""


ResultName = Annotated[
    str | None,
    Field(
        description="What the rows are called in later SQL of the same person: run_sql over such "
        "names alone reads these results (in DuckDB's SQL) in place of the database; where that is "
        "DuckDB or data files, they can be joined with its tables."
    ),
]


Confidence = Annotated[
    Literal["grounded", "accepted", "unverified"] | None,
    Field(
        description="grounded: every word of the question was explained; accepted: a person found "
        "this SQL right for such a question; unverified: a model wrote the SQL or changed it, and "
        "it can run and be wrong. None: a person wrote it."
    ),
]


class ModelUseModel(BaseModel):
    """What asking a model took."""

    model: str
    requests: int
    input_tokens: int
    output_tokens: int
    seconds: float
    price_usd: float | None = Field(
        default=None, description="By its provider's list of prices, where that is known."
    )


class AnswerModel(BaseModel):
    """What became of a question: rows; or a refusal; or a question back; or an error; or nothing,
    because a person decided so."""

    run_id: str
    result_name: ResultName = None
    question: str | None = None
    sql: str | None = None
    parameters: dict[str, ParameterValue] | None = Field(
        default=None, description="The values of the SQL's :names, where it has any."
    )
    reading: Sentence | None = None
    meanings: list[MeaningModel] = Field(default_factory=list[MeaningModel])
    confidence: Confidence = None
    model_use: ModelUseModel | None = None
    columns: list[ColumnModel] | None = None
    row_count: int | None = Field(
        default=None,
        description="How many rows were read and are kept: all there are, unless truncated.",
    )
    truncated: bool | None = Field(
        default=None,
        description="Whether the query had more rows than were read. How many it has in all is "
        "then not known; row_count is not it.",
    )
    truncated_by: Literal["rows", "bytes"] | None = Field(
        default=None, description="Which limit ended the reading."
    )
    rows: list[list[str | None]] | None = Field(
        default=None, description="The first rows; result_rows has the others."
    )
    elapsed_seconds: float | None = None
    refusal: RefusalModel | None = None
    question_back: QuestionBackModel | None = None
    cost: CostModel | None = Field(
        default=None, description="With a question back: it is about an expensive query."
    )
    not_run: Sentence | None = Field(
        default=None, description="Why nothing was run, though nothing went wrong."
    )
    error: ErrorModel | None = None


class StatementModel(BaseModel):
    """One statement of a script, and the run it became."""

    number: int = Field(description="Counted from 1.")
    run_id: str
    sql: str


class ScriptModel(BaseModel):
    """The runs of a script, in their order; the first is begun, the others wait for it."""

    runs: list[StatementModel]


class CheckModel(BaseModel):
    """What is known of a SQL text before it runs."""

    may_run: bool
    estimate: EstimateModel | None = Field(
        default=None, description="What it would cost; null where the database cannot tell."
    )
    asks_first: bool = Field(
        default=False, description="Whether it costs so much that a person is asked first."
    )
    error: ErrorModel | None = Field(default=None, description="Why it may not run.")


class DecisionModel(BaseModel):
    """What a person was asked before a run, and what they chose."""

    asked: str
    chosen: str


class ExplanationModel(BaseModel):
    """How a run came to its answer."""

    run_id: str
    tool: str
    asked: str | None = Field(description="The question or SQL that it began with.")
    question: str | None = Field(
        default=None, description="The question that was translated in the end."
    )
    reading: Sentence | None = None
    meanings: list[MeaningModel] = Field(default_factory=list[MeaningModel])
    follows: str | None = Field(
        default=None, description="The run whose question this one goes on from."
    )
    confidence: Confidence = None
    model_use: ModelUseModel | None = None
    decisions: list[DecisionModel] = Field(default_factory=list[DecisionModel])
    sql: str | None = None
    parameters: dict[str, ParameterValue] | None = None
    translator: str | None = Field(
        default=None, description="Who wrote the SQL; null: a person, or a model of theirs."
    )
    translator_version: str | None = None
    engine: str | None = None
    dialect: str | None = None
    database: str | None = None
    earlier: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="The earlier results that were read, in place of the database or beside it: "
        "runs by name.",
    )
    result_name: ResultName = None
    written_at: str | None = Field(default=None, description="When it was about to run.")
    estimate: EstimateModel | None = None
    status: str
    outcome: Outcome | None = None
    row_count: int | None = None
    truncated: bool | None = None
    truncated_by: Literal["rows", "bytes"] | None = None
    elapsed_seconds: float | None = None


class FilterModel(BaseModel):
    """A condition on one column. NULL meets `is null` alone."""

    column: int = Field(ge=0, description="The column, counted from 0.")
    operator: Operator = Field(
        description="`contains` looks for a text in the cell, upper and lower case alike."
    )
    value: str | None = Field(default=None, max_length=100_000, description="As a cell has it.")


class RowsModel(BaseModel):
    """One page of a finished run's rows."""

    columns: list[ColumnModel]
    rows: list[list[str | None]]
    offset: int
    row_count: int = Field(description="Of the whole result.")
    matching_rows: int = Field(description="How many of them meet the filters; all without any.")
    truncated: bool = Field(description="Whether the query had more rows than were read.")


class ChangeModel(BaseModel):
    """One row that changed between two results. Cells are text, exact."""

    kind: Literal["changed", "new", "gone"]
    before: list[str | None] | None
    after: list[str | None] | None
    differences: list[str | None] = Field(
        description="Of each column that is an amount: after less before."
    )


class ChangesModel(BaseModel):
    """What changed between two results of one question."""

    columns: list[ColumnModel]
    keys: list[int] = Field(
        description="The columns that tell what a row is about; none: rows compared as wholes."
    )
    rows: list[ChangeModel] = Field(description="Those that changed, or the first of them.")
    changed: int
    new: int
    gone: int
    same: int


class AcceptedModel(BaseModel):
    """Whether the SQL of a run is now kept as the answer to its question."""

    run_id: str
    question: str
    accepted: bool


class DeletedModel(BaseModel):
    """A run that is gone, with its result."""

    run_id: str


class CellModel(BaseModel):
    """A part of a cell."""

    text: str | None
    characters: int = Field(description="Of the whole cell.")


class AxisModel(BaseModel):
    """What is along an axis of a chart."""

    label: Sentence
    column: int | None = Field(description="Counted from 0; null: the number of rows.")
    type: Literal["time", "category", "number"]


class ChartModel(BaseModel):
    """A chart of a result. Values are text, exact."""

    nothing: Sentence | None = Field(default=None, description="Why there is no chart.")
    kind: Kind | None = None
    title: Sentence | None = None
    x: AxisModel | None = None
    y: AxisModel | None = None
    series: int | None = None
    series_label: Sentence | None = None
    aggregate: Aggregate | None = Field(
        default=None, description="How several rows became one point; null: each is one row."
    )
    points: list[list[str | None]] = Field(
        default_factory=list[list[str | None]], description="[x, y, series] of each, in order."
    )
    notes: list[Sentence] = Field(
        default_factory=list[Sentence], description="What was left out or summed up on the way."
    )
    text: Lines | None = Field(default=None, description="What it shows, in words.")
    kinds: list[Kind] = Field(default_factory=list[Kind], description="What it could be instead.")
    along: list[int] = Field(
        default_factory=list[int], description="Columns that could be along the x axis."
    )
    amounts: list[int] = Field(
        default_factory=list[int], description="Columns that could be drawn along it."
    )


class TableColumnModel(BaseModel):
    """One column of a table."""

    name: str
    type: str
    kind: ColumnKind = Field(description="The family of the type.")
    comment: Lines | None = None
    primary: bool = Field(default=False, description="Whether it is part of the primary key.")
    references: str | None = Field(
        default=None, description="The table.column this one points at, declared or inferred."
    )


class TableModel(BaseModel):
    """One table that can be asked about."""

    name: str
    row_count: int | None
    comment: Lines | None
    columns: list[TableColumnModel]


class DatabaseModel(BaseModel):
    """The database, and questions that can be asked about it."""

    name: Sentence
    dialect: str = Field(description="SQLGlot's name of the SQL it speaks.")
    tables: list[TableModel]
    examples: list[Sentence]
    notes: list[Sentence] = Field(description="What is missing from the list of tables, and why.")
    can_share: bool = Field(
        default=False, description="Whether runs can be shared: callers are told apart here."
    )


class AnswerGivenModel(BaseModel):
    """What a person answered when the run asked."""

    question: str
    action: str = Field(description="accept, decline or cancel")
    content: dict[str, str | int | float | bool | list[str] | None] | None = None
    at: str


class RunModel(BaseModel):
    """One of the caller's runs. Instants are ISO 8601."""

    run_id: str
    result_name: ResultName = None
    tool: str
    question: str | None
    sql: str | None
    parameters: dict[str, ParameterValue] | None = Field(
        default=None, description="The values of the SQL's :names, where it has any."
    )
    reading: Sentence | None
    follows: str | None = Field(
        default=None, description="The run whose question this one goes on from."
    )
    status: str
    outcome: Outcome | None = Field(description="What a completed run came to.")
    status_message: Lines | None
    created_at: str
    ended_at: str | None
    is_error: bool
    attempt: int = Field(
        description="Which attempt this is: above 1, the server that ran it was lost "
        "before. 0 while it waits for its first."
    )
    cancel_asked_at: str | None
    stopped_how: str | None
    updated_at: str = Field(description="When something of it last changed.")
    answers: list[AnswerGivenModel] = Field(default_factory=list[AnswerGivenModel])
    title: str | None = Field(default=None, description="What its owner calls it.")
    pinned: bool = False
    stop_when_left: bool = Field(
        default=False, description="Whether it is stopped once whoever watched it has left."
    )
    unobserved_seconds: float | None = Field(
        default=None, description="How long it goes on while nobody looks; null: to its end."
    )
    rev: int


class RunsModel(BaseModel):
    """The caller's runs, newest first."""

    runs: list[RunModel]


class StepModel(BaseModel):
    """One thing that happened to a run."""

    at: str
    words: Lines
    said: bool = Field(description="Whether the work said it of itself.")


class HistoryModel(BaseModel):
    """The last steps of a run, oldest first."""

    steps: list[StepModel]
    earlier: int = Field(description="How many steps came before these.")
