"""The same answers as text, for a model or a person who reads a tool's result."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awhile.ask.mcp_server.model import AnswerModel

SHOWN_ROWS = 20
"""How many rows the text repeats; the structured content and `result_rows` have more."""


def answer_text(answer: AnswerModel) -> str:
    """An answer as Markdown. It never calls a part of the rows the whole."""
    if answer.refusal is not None:
        return answer.refusal.text
    if answer.question_back is not None:
        choices = "\n".join(
            f"- {one.label}: {one.question}" for one in answer.question_back.choices
        )
        return f"{answer.question_back.text}\n{choices}"
    if answer.error is not None:
        where = f" (line {answer.error.line}, column {answer.error.column})"
        sql = f"\n\n```sql\n{answer.sql}\n```" if answer.sql else ""
        return f"{answer.error.message}{where if answer.error.line else ''}{sql}"
    parts = [answer.reading] if answer.reading else []
    parts += [f"```sql\n{answer.sql}\n```", _table(answer), _count(answer)]
    return "\n\n".join(parts)


def _count(answer: AnswerModel) -> str:
    total, shown = answer.row_count or 0, min(len(answer.rows or ()), SHOWN_ROWS)
    whole = f"the first {total:,} rows of more" if answer.truncated else f"{total:,} rows"
    if total == 1 and not answer.truncated:
        whole = "1 row"
    if total == 0 and answer.truncated:
        return (
            "There are rows, but the first one alone is larger than a result may be: select fewer "
            "or smaller columns."
        )
    if shown == total and not answer.truncated:
        return f"{whole[:1].upper()}{whole[1:]}."
    return (
        f"Only {shown:,} rows are shown here. The result has {whole}; result_rows with run_id "
        f"{answer.run_id!r} gives the others. Do not count or add up the rows shown."
    )


def _table(answer: AnswerModel) -> str:
    columns = answer.columns or []
    head = [_cell(one.name) or " " for one in columns]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    lines += [
        f"| {' | '.join(_cell(cell) for cell in row)} |" for row in (answer.rows or [])[:SHOWN_ROWS]
    ]
    return "\n".join(lines)


def _cell(value: str | None) -> str:
    if value is None:
        return "NULL"
    return value.replace("|", "\\|").replace("\n", " ").replace("\r", " ")
