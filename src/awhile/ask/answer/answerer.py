"""The order of steps from a question to its rows: understand, check, run, keep.

It picks nothing: engine, translator and folders are given to it. The read-only guard is the
engine's lock-down first and its `check` second; nothing runs that did not pass both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread

from awhile.ask.answer.statements import Statement, Statements
from awhile.ask.engines.parameters import typed
from awhile.ask.translators.contract import QuestionBack, Refusal, Sql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import date

    from awhile.ask.engines.contract import Budget, Engine, OnStopped, Progress, QueryResult
    from awhile.ask.results.folder import ResultFolder
    from awhile.ask.translators.contract import Translator


@dataclass(frozen=True, slots=True)
class Answered:
    """A question or a SQL text that was run to its end."""

    statement: Statement
    result: QueryResult


class Report(Protocol):
    """Takes how far a run is (`awhile.Run.report` is one)."""

    def __call__(
        self, done: float | None = None, total: float | None = None, message: str | None = None
    ) -> None: ...


class Answerer:
    """Answers questions about one database.

    Args:
        engine: the opened database.
        translator: turns a question into SQL.
        results: where the rows of finished runs are kept.
        statements: where the SQL of a run is kept.
        budget: how much of a result is read, and how long a run may take.
        today: the day that words such as "last month" are relative to.
    """

    def __init__(
        self,
        engine: Engine,
        translator: Translator,
        *,
        results: ResultFolder,
        statements: Statements,
        budget: Budget,
        today: Callable[[], date],
    ) -> None:
        self._engine = engine
        self._translator = translator
        self._results = results
        self._statements = statements
        self._budget = budget
        self._today = today

    async def question(
        self,
        text: str,
        *,
        run_id: str,
        report: Report,
        on_stopped: OnStopped,
        principal: str | None = None,
    ) -> Answered | QuestionBack | Refusal:
        """Answer a question in plain language, ask one back, or say what was not understood.

        `principal` is who asks: where the engine can, the query runs with that person's rights.

        Raises:
            EngineError: the query could not be run to its end; its text is for the person.
        """
        report(message="Understanding the question")
        schema = await self._engine.describe()
        translation = await anyio.to_thread.run_sync(
            self._translator.translate, text, schema, self._today()
        )
        if not isinstance(translation, Sql):
            return translation
        statement = Statement(
            sql=translation.sql,
            question=text,
            reading=translation.reading,
            meanings=translation.meanings,
            confidence=translation.confidence,
            translator=type(self._translator).__name__,
        )
        return await self._run(statement, run_id, report, on_stopped, principal)

    async def sql(
        self,
        sql: str,
        *,
        run_id: str,
        report: Report,
        on_stopped: OnStopped,
        parameters: Mapping[str, Any] | None = None,
        principal: str | None = None,
    ) -> Answered:
        """Run one SELECT that a person or a model wrote, with values for its `:names`.

        Raises:
            EngineError: it was refused, or could not be run to its end.
        """
        statement = Statement(sql=sql, parameters=dict(parameters or {}))
        return await self._run(statement, run_id, report, on_stopped, principal)

    async def _run(
        self,
        statement: Statement,
        run_id: str,
        report: Report,
        on_stopped: OnStopped,
        principal: str | None,
    ) -> Answered:
        self._statements.save(run_id, statement)
        values = typed(statement.parameters)
        self._engine.check(statement.sql, values)

        def tell(at: Progress) -> None:
            if at.stage == "waiting":
                report(message="Waiting for a place")
            elif at.stage == "running":
                report(at.percent, None if at.percent is None else 100, "Running the query")
            else:
                report(at.rows, message="Fetching rows")

        result = await self._engine.run(
            statement.sql,
            report=tell,
            budget=self._budget,
            destination=self._results.draft(run_id),
            on_stopped=on_stopped,
            parameters=values,
            principal=principal,
        )
        kept = self._results.keep(run_id, result.path)
        return Answered(statement, replace(result, path=kept))
