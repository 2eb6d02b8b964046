"""A text of several statements, taken apart: each is a run of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError

from awhile.ask.engines.errors import EngineError, QueryRefused
from awhile.ask.engines.parameters import names_in, typed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from awhile.ask.answer.answerer import Answerer

__all__ = ["MOST_STATEMENTS", "ScriptRefused", "Step", "statements_in", "steps_of"]

MOST_STATEMENTS = 20
"""Each holds a place for a running task until its turn comes and it has ended (source: ours)."""


class ScriptRefused(EngineError):
    """Nothing of the script was run; the message says which statement it is about, and why."""


@dataclass(frozen=True, slots=True)
class Step:
    """One statement with the values of its own `:names`, as they were given."""

    sql: str
    parameters: Mapping[str, Any]


def steps_of(
    sql: str, parameters: Mapping[str, Any] | None, *, dialect: str, answerer: Answerer
) -> list[Step]:
    """The statements of a script, each of them permitted.

    Raises `ScriptRefused`: so that no script stops half way for what could be told before.
    """
    given = parameters or {}
    try:
        texts = statements_in(sql, dialect)
        typed(given)
    except QueryRefused as no:
        raise ScriptRefused(f"{no}; nothing was run") from None
    if not texts:
        raise ScriptRefused("there is no statement in it")
    if len(texts) > MOST_STATEMENTS:
        raise ScriptRefused(
            f"it has {len(texts)} statements, and {MOST_STATEMENTS} are the most that one script "
            "may have; split it"
        )
    steps: list[Step] = []
    for text in texts:
        names = names_in(text)
        steps.append(Step(text, {name: given[name] for name in given if name in names}))
    unused = given.keys() - {name for step in steps for name in step.parameters}
    if unused:
        raise ScriptRefused(
            f"a value is given for {', '.join(f':{name}' for name in sorted(unused))}, and no "
            "statement has it; nothing was run"
        )
    for number, step in enumerate(steps, start=1):
        try:
            answerer.check(step.sql, typed(step.parameters))
        except EngineError as no:
            raise ScriptRefused(
                f"statement {number} of {len(steps)}: {no}; nothing was run"
            ) from None
    return steps


def statements_in(sql: str, dialect: str) -> list[str]:
    """The statements of a text, without the semicolons between them.

    By SQLGlot's reader of that dialect's words, which knows its texts, quoted names and comments: a
    semicolon in one of those divides nothing. Where it were wrong, a part would be refused by the
    engine's own guard, which each has to pass. Raises `QueryRefused` for what cannot be read.
    """
    try:
        tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    except TokenError:
        raise QueryRefused(
            "'",
            "a text, a quoted name or a comment in it does not end, so it cannot be taken apart",
        ) from None
    found: list[str] = []
    begin, some = 0, False
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            some = True
            continue
        if some:
            found.append(sql[begin : token.start].strip())
        begin, some = token.end + 1, False
    if some:
        found.append(sql[begin:].strip())
    return found
