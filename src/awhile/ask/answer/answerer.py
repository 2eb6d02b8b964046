"""The order of steps from a question to its rows: understand, check, ask the person, run, keep.

It picks nothing: engine, translator and folders are given to it. The read-only guard is the
engine's lock-down first and its `check` second; nothing runs that did not pass both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import anyio
import anyio.to_thread

from awhile.ask.answer.choosing import NobodyToAsk, NotAnswered, ToChange, ToChoose
from awhile.ask.answer.deadline import Deadline
from awhile.ask.answer.outcomes import Answered, CostBack, NotRun
from awhile.ask.answer.progress import told
from awhile.ask.answer.statements import Decision, Statement, Statements
from awhile.ask.answer.telling import for_a_model
from awhile.ask.engines.errors import EngineError
from awhile.ask.engines.parameters import typed
from awhile.ask.translators.contract import Corrects, Identified, Learns, QuestionBack, Refusal, Sql

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from awhile.ask.answer.choosing import Person
    from awhile.ask.answer.earlier import Earlier, Over
    from awhile.ask.answer.progress import Report
    from awhile.ask.engines.contract import (
        Budget,
        Engine,
        Estimate,
        OnStopped,
        QueryResult,
    )
    from awhile.ask.engines.parameters import Scalar
    from awhile.ask.results.results import Results
    from awhile.ask.semantics.accepted import AcceptedAnswers
    from awhile.ask.translators.contract import Translation, Translator, Turn

RUN, NARROW, LEAVE = "Run it", "Narrow it", "Don't run it"
"""What a person can do about an expensive query."""

MOST_QUESTIONS = 10
"""How often one run asks its person; after that it ends, and says so (source: ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One run: who asks, and how they are told, asked and stopped.

    Attributes:
        run_id: its result and statement are kept under this.
        report: is told how far it is.
        on_stopped: is told how it is known that the query has stopped.
        person: who can be asked.
        principal: who asks; where the engine can, the query runs with that person's rights.
        cost_confirmed: whether the person wants an expensive query run, and is not asked.
        follows: the run whose question this one goes on from.
    """

    run_id: str
    report: Report
    on_stopped: OnStopped
    person: Person
    principal: str | None = None
    cost_confirmed: bool = False
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be answered, and what was decided about it so far."""

    text: str
    conversation: Sequence[Turn]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True, slots=True)
class _Changed:
    """Another text is wanted in place of the one that was to run."""

    text: str
    decision: Decision


class Answerer:
    """Answers questions about one database.

    Args:
        engine: the opened database.
        translator: turns a question into SQL.
        results: where the rows of finished runs are kept.
        statements: where the SQL of a run is kept.
        budget: how much of a result is read, and how long a run may work.
        today: the day that words such as "last month" are relative to.
        database_name: what to call the database to a person.
        ask_above_cost: above which estimated cost, in the engine's own unit, a person is asked
            before a query runs; None: never. An engine without an estimate never asks.
        earlier: what runs SQL over earlier results; None: they are no tables.
        accepted: the answers people accepted; None: there are none.
    """

    def __init__(
        self,
        engine: Engine,
        translator: Translator,
        *,
        results: Results,
        statements: Statements,
        budget: Budget,
        today: Callable[[], date],
        database_name: str = "",
        ask_above_cost: float | None = None,
        earlier: Earlier | None = None,
        accepted: AcceptedAnswers | None = None,
    ) -> None:
        self._accepted = accepted
        self._earlier = earlier
        self._engine = engine
        self._translator = translator
        self._results = results
        self._statements = statements
        self._budget = budget
        self._today = today
        self._database_name = database_name
        self._ask_above_cost = ask_above_cost

    async def question(
        self, text: str, request: Request, conversation: Sequence[Turn] = ()
    ) -> Answered | QuestionBack | Refusal | CostBack | NotRun:
        """Answer a question in plain language, ask one back, or say what was not understood.

        ``conversation`` is what was asked and answered before it, oldest first.

        Raises:
            EngineError: the query could not be run to its end; its text is for the person.
        """
        deadline = Deadline(self._budget.seconds)
        decisions: list[Decision] = []
        while len(decisions) < MOST_QUESTIONS:
            request.report(message="Understanding the question")
            with deadline.counting():
                translation = await self._translated(text, conversation, request.principal)
            match translation:
                case Refusal():
                    return translation
                case QuestionBack():
                    came_to = await self._meant(translation, text, request)
                case Sql():
                    asked = _Asked(text, conversation, tuple(decisions))
                    came_to = await self._run_written(translation, asked, request, deadline)
            if not isinstance(came_to, _Changed):
                return came_to
            text = came_to.text
            decisions.append(came_to.decision)
        return NotRun(_TOO_OFTEN, question=text)

    async def sql(
        self, sql: str, request: Request, *, parameters: Mapping[str, Any] | None = None
    ) -> Answered | CostBack | NotRun:
        """Run one SELECT that a person or a model wrote, with values for its `:names`.

        Raises:
            EngineError: it was refused, or could not be run to its end.
        """
        deadline = Deadline(self._budget.seconds)
        decisions: list[Decision] = []
        while len(decisions) < MOST_QUESTIONS:
            statement = self._dated(
                Statement(sql=sql, parameters=dict(parameters or {}), decisions=tuple(decisions))
            )
            await self._save(request, statement)
            over = await self._over(sql, typed(parameters), request.principal)
            came_to = await self._run(statement, request, deadline, over)
            if not isinstance(came_to, _Changed):
                return came_to
            sql = came_to.text
            decisions.append(came_to.decision)
        return NotRun(_TOO_OFTEN)

    async def look_up(
        self, sql: str, *, parameters: Mapping[str, Any] | None, principal: str | None
    ) -> Estimate | None:
        """What is known of a SELECT that is not run: what it would cost, where the database can
        tell; None where it cannot, or the text reads earlier results.

        Raises:
            EngineError: it may not run, or names what is not there.
        """
        values = typed(parameters)
        over = await self._over(sql, values, principal)
        if over is None:
            return await self._engine.estimate(sql, parameters=values, principal=principal)
        await over.engine.look_up(sql, over.files, parameters=values)
        return None

    def check(self, sql: str, values: Mapping[str, Scalar]) -> None:
        """Raise `EngineError` for what cannot be a permitted SELECT, on whatever it would run."""
        if self._earlier is not None and self._earlier.may_be_about(sql, values):
            self._earlier.engine.check(sql, values)
        else:
            self._engine.check(sql, values)

    async def _over(
        self, sql: str, values: Mapping[str, Scalar], principal: str | None
    ) -> Over | None:
        """The earlier results that a text reads, in place of the database or beside it."""
        if self._earlier is None:
            return None
        return await self._earlier.named_in(sql, values, principal=principal, database=self._engine)

    async def _run_written(
        self,
        written: Sql,
        asked: _Asked,
        request: Request,
        deadline: Deadline,
    ) -> Answered | CostBack | NotRun | _Changed:
        """Run what a translator wrote; what a model wrote and the database does not take is
        written again, once."""
        try:
            return await self._run(await self._stated(asked, written, request), request, deadline)
        except EngineError as error:
            again = await self._corrected(written, asked, error, request, deadline)
            if again is None:
                raise
        return await self._run(await self._stated(asked, again, request), request, deadline)

    async def _corrected(
        self, written: Sql, asked: _Asked, error: EngineError, request: Request, deadline: Deadline
    ) -> Sql | None:
        translator = self._translator_for(request.principal)
        if written.confidence != "unverified" or not isinstance(translator, Corrects):
            return None
        schema = await self._engine.describe(principal=request.principal)
        said = for_a_model(error, written.sql, schema)
        if said is None:
            return None
        request.report(message="Having the SQL written again")
        with deadline.counting():
            again = await translator.correct(
                asked.text,
                schema,
                self._today(),
                asked.conversation,
                written=written,
                error=said,
            )
        return again if isinstance(again, Sql) else None

    async def _translated(
        self, text: str, conversation: Sequence[Turn], principal: str | None
    ) -> Translation:
        schema = await self._engine.describe(principal=principal)
        if self._accepted is not None and not conversation:
            find = partial(self._accepted.find, text, owner=principal or "", today=self._today())
            if known := await anyio.to_thread.run_sync(find):
                return known
        translator = self._translator_for(principal)
        return await translator.translate(text, schema, self._today(), conversation)

    def _translator_for(self, principal: str | None) -> Translator:
        """The translator, with what this person accepted to learn from, if it can."""
        if self._accepted is None or not isinstance(self._translator, Learns):
            return self._translator
        own = partial(self._accepted.examples, owner=principal or "", today=self._today())
        return self._translator.learning(own)

    async def _meant(
        self, back: QuestionBack, text: str, request: Request
    ) -> _Changed | QuestionBack | NotRun:
        """Which of the readings the person means, if they can be asked."""
        questions = {
            label: one.question for one, label in zip(back.choices, _labels(back), strict=True)
        }
        asked = ToChoose(about="meaning", text=back.text, labels=tuple(questions))
        try:
            said = await request.person.choose(asked)
        except NobodyToAsk:
            return back
        if isinstance(said, NotAnswered):
            return NotRun(said.words, question=text)
        return _Changed(questions[said], Decision(asked=back.text, chosen=said))

    async def _run(
        self,
        statement: Statement,
        request: Request,
        deadline: Deadline,
        over: Over | None = None,
    ) -> Answered | CostBack | NotRun | _Changed:
        if over is not None:
            return await self._run_over(over, statement, request, deadline)
        values = typed(statement.parameters)
        self._engine.check(statement.sql, values)
        estimate = await self._estimated(statement, values, request, deadline)
        if estimate is not None:
            statement = replace(statement, estimate=estimate)
            await self._save(request, statement)
            came_to = await self._decided(statement, estimate, request)
            if not isinstance(came_to, Statement):
                return came_to
            if came_to is not statement:
                statement = came_to
                await self._save(request, statement)
        with deadline.spent():
            result = await self._engine.run(
                statement.sql,
                report=told(request.report),
                budget=replace(self._budget, seconds=deadline.left),
                destination=self._results.draft(request.run_id),
                on_stopped=request.on_stopped,
                parameters=values,
                principal=request.principal,
            )
        return await self._kept(statement, result, request)

    async def _run_over(
        self, over: Over, statement: Statement, request: Request, deadline: Deadline
    ) -> Answered:
        """Run a text over the earlier results that it names."""
        engine = over.engine
        statement = replace(
            statement,
            reading=over.reading,
            earlier=over.run_ids,
            engine=engine.capabilities.name,
            dialect=engine.capabilities.dialect,
        )
        await self._save(request, statement)
        with deadline.spent():
            result = await engine.run_over(
                statement.sql,
                over.files,
                report=told(request.report),
                budget=replace(self._budget, seconds=deadline.left),
                destination=self._results.draft(request.run_id),
                on_stopped=request.on_stopped,
                parameters=typed(statement.parameters),
                principal=request.principal,
            )
        return await self._kept(statement, result, request)

    async def _kept(self, statement: Statement, result: QueryResult, request: Request) -> Answered:
        """The rows are the run's from here on, and have a name."""
        try:
            await self._results.keep(request.run_id, result.path)
            if self._earlier is not None:
                name = await self._earlier.give_name(request.principal or "", request.run_id)
                statement = replace(statement, result_name=name)
                await self._save(request, statement)
        except OSError as error:
            raise EngineError(f"The query ended, but its rows were not kept. {error}") from error
        return Answered(statement, result)

    async def _save(self, request: Request, statement: Statement) -> None:
        await anyio.to_thread.run_sync(self._statements.save, request.run_id, statement)

    async def _estimated(
        self,
        statement: Statement,
        values: Mapping[str, Scalar],
        request: Request,
        deadline: Deadline,
    ) -> Estimate | None:
        """What the query would cost, where somebody wants to know."""
        without = self._engine.capabilities.estimate == "none"
        if self._ask_above_cost is None or request.cost_confirmed or without:
            return None
        request.report(message="Estimating the cost")
        with deadline.counting():
            return await self._engine.estimate(
                statement.sql, parameters=values, principal=request.principal
            )

    async def _decided(
        self, statement: Statement, estimate: Estimate, request: Request
    ) -> Statement | CostBack | NotRun | _Changed:
        """The statement that is to run, with the person's decision where it took one."""
        limit = self._ask_above_cost
        if limit is None or estimate.cost <= limit:
            return statement
        text = cost_text(estimate, limit, self._engine.capabilities.name)
        asked = ToChoose(
            about="cost", text=f"{text}\n\n{statement.sql}", labels=(RUN, NARROW, LEAVE)
        )
        try:
            said = await request.person.choose(asked)
            if said == NARROW:
                return await self._narrowed(statement, Decision(asked=text, chosen=NARROW), request)
        except NobodyToAsk:
            return CostBack(statement, estimate, limit)
        if isinstance(said, NotAnswered):
            return NotRun(said.words, statement.question, statement)
        if said == LEAVE:
            return NotRun("you chose not to run it", statement.question, statement)
        decision = Decision(asked=text, chosen=said)
        return replace(statement, decisions=(*statement.decisions, decision))

    async def _narrowed(
        self, statement: Statement, decision: Decision, request: Request
    ) -> NotRun | _Changed:
        """What the person wants in place of the statement."""
        what: Literal["question", "SQL"] = "SQL" if statement.question is None else "question"
        now = statement.question or statement.sql
        said = await request.person.change(
            ToChange(
                about="narrower",
                text=f"Change the {what}, for example to a shorter time or fewer columns.",
                what=what,
                now=now,
            )
        )
        if isinstance(said, NotAnswered):
            return NotRun(said.words, statement.question, statement)
        if said == now.strip():
            return NotRun(f"the {what} was left as it was", statement.question, statement)
        return _Changed(said, decision)

    async def _stated(self, asked: _Asked, written: Sql, request: Request) -> Statement:
        """What was written, saved before anything is done with it."""
        translator = self._translator
        known = isinstance(translator, Identified)
        statement = self._dated(
            Statement(
                sql=written.sql,
                question=asked.text,
                reading=written.reading,
                meanings=written.meanings,
                confidence=written.confidence,
                use=written.use,
                translator=written.use.model
                if written.use
                else translator.name
                if known
                else type(translator).__name__,
                translator_version=translator.version if known else version("awhile"),
                decisions=asked.decisions,
                follows=request.follows,
            )
        )
        await self._save(request, statement)
        return statement

    def _dated(self, statement: Statement) -> Statement:
        can = self._engine.capabilities
        return replace(
            statement,
            engine=can.name,
            dialect=can.dialect,
            database=self._database_name or None,
            at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )


_TOO_OFTEN = f"it was changed {MOST_QUESTIONS} times and is not settled; ask again"


def cost_text(estimate: Estimate, limit: float, engine: str) -> str:
    """What is said of an expensive query before it is run."""
    rows = "1 row" if round(estimate.rows) == 1 else f"{estimate.rows:,.0f} rows"
    return (
        f"This query is expected to be expensive: {engine} estimates a cost of "
        f"{estimate.cost:,.0f}, in its own unit, and {rows}; from {limit:,.0f} on, you are asked "
        "first."
    )


def _labels(back: QuestionBack) -> list[str]:
    """The labels of its choices; those that are not alone say their question, too."""
    labels = [one.label for one in back.choices]
    return [
        one.label if labels.count(one.label) == 1 else f"{one.label}: {one.question}"
        for one in back.choices
    ]
