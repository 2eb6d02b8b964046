"""From what a run came to, to what the tools return."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from mcp_types import CallToolResult, TextContent

from awhile.ask.answer.answerer import RUN
from awhile.ask.engines.errors import EngineError, QueryError, QueryRefused
from awhile.ask.mcp_server import model
from awhile.ask.mcp_server.words import answer_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from awhile.ask.answer.outcomes import Answered, CostBack, NotRun
    from awhile.ask.answer.statements import Statement
    from awhile.ask.results.pages import Page
    from awhile.ask.schema import Schema, Table
    from awhile.ask.translators.contract import QuestionBack, Refusal


class _Named(Protocol):
    """A column, of a result or of a page of it."""

    @property
    def name(self) -> str: ...

    @property
    def type(self) -> str: ...


def answered(run_id: str, came_to: Answered, first: Page) -> CallToolResult:
    """Rows: the first of them here, all of them behind ``result_rows``."""
    statement, result = came_to.statement, came_to.result
    return _result(
        model.AnswerModel(
            run_id=run_id,
            result_name=statement.result_name,
            question=statement.question,
            sql=statement.sql,
            parameters=dict(statement.parameters) or None,
            reading=statement.reading,
            meanings=[
                model.MeaningModel(words=one.words, meaning=one.meaning)
                for one in statement.meanings
            ],
            confidence=statement.confidence,
            model_use=use_of(statement),
            columns=columns(result.columns),
            row_count=result.row_count,
            truncated=result.truncated,
            truncated_by=result.cut_by,
            rows=[list(row) for row in first.rows],
            elapsed_seconds=round(result.elapsed_seconds, 3),
        )
    )


def refused(run_id: str, question: str, refusal: Refusal) -> CallToolResult:
    """A refusal is an answer, not an error: nothing went wrong, and asking differently helps."""
    return _result(
        model.AnswerModel(
            run_id=run_id,
            question=question,
            refusal=model.RefusalModel(
                text=refusal.text,
                understood=list(refusal.understood),
                not_understood=list(refusal.not_understood),
                tables=list(refusal.tables),
                measures=list(refusal.measures),
            ),
        )
    )


def asked_back(run_id: str, question: str, back: QuestionBack) -> CallToolResult:
    """A question back, with its choices."""
    choices = [model.ChoiceModel(label=one.label, question=one.question) for one in back.choices]
    return _result(
        model.AnswerModel(
            run_id=run_id,
            question=question,
            question_back=model.QuestionBackModel(text=back.text, choices=choices),
        )
    )


def cost_back(run_id: str, tool: str, back: CostBack, text: str) -> CallToolResult:
    """The question whether to run an expensive query, where it cannot be asked otherwise."""
    statement = back.statement
    return _result(
        model.AnswerModel(
            run_id=run_id,
            question=statement.question,
            sql=statement.sql,
            parameters=dict(statement.parameters) or None,
            reading=statement.reading,
            question_back=model.QuestionBackModel(
                text=text, choices=[model.ChoiceModel(label=RUN, confirm_cost=True)]
            ),
            cost=model.CostModel(
                rows=back.estimate.rows, cost=back.estimate.cost, limit=back.limit, tool=tool
            ),
        )
    )


def not_run(run_id: str, came_to: NotRun) -> CallToolResult:
    """That a person decided against it: an honest end, and no error."""
    statement = came_to.statement
    return _result(
        model.AnswerModel(
            run_id=run_id,
            question=came_to.question,
            sql=statement.sql if statement else None,
            reading=statement.reading if statement else None,
            not_run=came_to.why,
        )
    )


def failed(
    run_id: str,
    question: str | None,
    statement: Statement | None,
    error: EngineError,
    hints: Iterable[str] = (),
) -> CallToolResult:
    """The engine's or the guard's own words, with the SQL they are about."""
    answer = model.AnswerModel(
        run_id=run_id,
        question=question,
        sql=statement.sql if statement else None,
        reading=statement.reading if statement else None,
        error=told(error, hints),
    )
    return _result(answer, is_error=True)


def use_of(statement: Statement) -> model.ModelUseModel | None:
    """What asking a model took."""
    use = statement.use
    return None if use is None else model.ModelUseModel(**asdict(use))


def told(error: EngineError, hints: Iterable[str] = ()) -> model.ErrorModel:
    """An error, with all that helps to do better."""
    line, column = (error.line, error.column) if isinstance(error, QueryError) else (None, None)
    return model.ErrorModel(
        kind=type(error).__name__,
        message=str(error),
        line=line,
        column=column,
        word=error.word if isinstance(error, QueryRefused) else None,
        hints=list(hints),
    )


def rows(read: Page, *, offset: int) -> model.RowsModel:
    """A page of rows."""
    return model.RowsModel(
        columns=columns(read.columns),
        rows=[list(row) for row in read.rows],
        offset=offset,
        row_count=read.row_count,
        matching_rows=read.matching_rows,
        truncated=read.truncated,
    )


def columns(of: Iterable[_Named]) -> list[model.ColumnModel]:
    """Columns by name and type."""
    return [model.ColumnModel(name=one.name, type=one.type) for one in of]


def tables(schema: Schema) -> list[model.TableModel]:
    """The schema card as a client sees it."""
    return [
        model.TableModel(
            name=table.name,
            row_count=table.row_count,
            comment=table.comment,
            columns=_columns_of(table),
        )
        for table in schema.tables
    ]


def _columns_of(table: Table) -> list[model.TableColumnModel]:
    points = {
        here: f"{key.table}.{there}"
        for key in table.foreign_keys
        for here, there in zip(key.columns, key.referenced_columns, strict=False)
    }
    return [
        model.TableColumnModel(
            name=one.name,
            type=one.type,
            kind=one.kind,
            comment=one.comment,
            primary=one.name in table.primary_key,
            references=points.get(one.name),
        )
        for one in table.columns
    ]


def _result(answer: model.AnswerModel, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=answer_text(answer))],
        structured_content=answer.model_dump(mode="json", exclude_none=True),
        is_error=is_error,
    )
