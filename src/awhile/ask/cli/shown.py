"""An answer in the terminal: what was understood, the SQL, and a table with every cell as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.padding import Padding
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from awhile.ask.schema import TableColumn
from awhile.cli.screen import visible, visible_lines
from awhile.cli.words import duration, rows_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

NARROWEST_TEXT = 12
"""A text column may be folded down to this many cells of the terminal, a number never."""

COLUMN_GAP = 2
NULL = Text("NULL", style="dim italic")

Row = list[str | None]


UNVERIFIED = "Unverified: a model wrote this SQL or changed it, so compare it with what you asked."
"""Where the reading does not say so itself, in more words."""

_MARK = "Unverified"


def show_answer(answer: Mapping[str, Any], screen: Console, *, quiet: bool = False) -> None:
    """A result: its reading, its SQL, its first rows, and how many there are; or the rows alone."""
    columns: list[dict[str, str]] = answer.get("columns") or []
    rows: list[Row] = answer.get("rows") or []
    if quiet:
        show_table(columns, rows, screen)
        return
    show_head(answer, screen)
    show_table(columns, rows, screen)
    _put(Text(footer(answer, len(rows)), style="dim"), screen)


def show_head(answer: Mapping[str, Any], screen: Console) -> None:
    """What was computed: in words, and as SQL."""
    _show_reading(answer, screen)
    if answer.get("sql"):
        show_sql(str(answer["sql"]), screen)
        screen.print()


def mark_of(answer: Mapping[str, Any]) -> str | None:
    """The sentences that say so where a model wrote the SQL; None where every word is explained."""
    if answer.get("confidence") != "unverified":
        return None
    reading = str(answer.get("reading") or "")
    return reading if reading.startswith(_MARK) else UNVERIFIED


def _put(text: Text, screen: Console) -> None:
    """Folded to a terminal; where there is none, nobody's lines are."""
    screen.print(text, soft_wrap=not screen.is_terminal)


def show_sql(sql: str, screen: Console) -> None:
    """The SQL, coloured where the terminal has colours."""
    text = visible_lines(sql)
    if screen.is_terminal:
        syntax = Syntax(
            text, "sql", theme="ansi_dark", background_color="default", word_wrap=True, padding=0
        )
        screen.print(Padding(syntax, (0, 0, 0, 2)))
    else:
        screen.print("\n".join(f"  {line}" for line in text.splitlines()), soft_wrap=True)


def show_refusal(refusal: Mapping[str, Any], screen: Console) -> None:
    """What was not understood, what was, and what can be asked about."""
    _put(Text(visible_lines(str(refusal.get("text", "")))), screen)


def show_question_back(back: Mapping[str, Any], screen: Console) -> None:
    """The question that came back, its choices numbered."""
    _put(Text(visible_lines(str(back.get("text", ""))), style="bold"), screen)
    for number, choice in enumerate(choices(back), start=1):
        line = Text.assemble((f"  {number}  ", "bold"), visible(choice["label"]))
        question = choice.get("question")
        if question and question != choice["label"]:
            line.append(f"\n     {visible(question)}", style="dim")
        if choice.get("confirm_cost"):
            line.append("  (--confirm-cost)", style="dim")
        _put(line, screen)


def choices(back: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The ways to go on, each with ``label`` and what to do."""
    return list(back.get("choices") or [])


def show_not_run(answer: Mapping[str, Any], screen: Console) -> None:
    """That nothing was run, and why."""
    screen.print(Text(f"Not run: {visible_lines(str(answer['not_run']))}."), soft_wrap=True)


def show_error(error: Mapping[str, Any], sql: str | None, screen: Console) -> None:
    """Why a query gave no result; where the engine gave a place, it is marked in the SQL."""
    screen.print(Text(visible_lines(str(error.get("message", ""))), style="red"), soft_wrap=True)
    for hint in error.get("hints") or ():
        screen.print(Text(visible_lines(str(hint))), soft_wrap=True)
    line, column = error.get("line"), error.get("column")
    if sql is None:
        return
    lines = sql.splitlines() or [""]
    if not isinstance(line, int) or not 1 <= line <= len(lines):
        show_sql(sql, screen)
        return
    gutter = f"  {line} | "
    screen.print(Text(gutter + visible(lines[line - 1])), soft_wrap=True)
    if isinstance(column, int) and column >= 1:
        before = cell_len(visible(lines[line - 1][: column - 1]))
        screen.print(Text(" " * (len(gutter) + before) + "^", style="bold red"), soft_wrap=True)


def show_table(columns: Sequence[Mapping[str, str]], rows: Sequence[Row], screen: Console) -> None:
    """Rows as a table that fits the terminal, or one under the other where it cannot.

    No cell is ever cut: text is folded, and numbers keep their width.
    """
    if not columns:
        return
    names = [visible(column["name"]) for column in columns]
    numeric = [is_number(column) for column in columns]
    cells = [[None if cell is None else visible(cell) for cell in row] for row in rows]
    widths = [
        max([cell_len(names[at]), *(cell_len(row[at] or "NULL") for row in cells)])
        for at in range(len(columns))
    ]
    least = [
        width if number else min(width, NARROWEST_TEXT)
        for width, number in zip(widths, numeric, strict=True)
    ]
    if screen.is_terminal and sum(least) + COLUMN_GAP * (len(least) - 1) > screen.width:
        _show_records(names, cells, screen)
        return
    if not screen.is_terminal:
        # Nobody's lines are folded: what reads this has no width.
        screen.width = max(screen.width, sum(widths) + COLUMN_GAP * len(widths))
    table = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, COLUMN_GAP - 1, 0, 0),
        header_style="bold",
        border_style="dim",
    )
    for name, number, least_width in zip(names, numeric, least, strict=True):
        table.add_column(
            Text(name),
            justify="right" if number else "left",
            no_wrap=number,
            overflow="fold",
            min_width=least_width,
        )
    for row in cells:
        table.add_row(*(NULL if cell is None else Text(cell) for cell in row))
    screen.print(table)


def _show_records(names: Sequence[str], cells: Sequence[Row], screen: Console) -> None:
    width = min(max(cell_len(name) for name in names), screen.width // 3)
    for number, row in enumerate(cells, start=1):
        screen.print(Text(f"Row {number}", style="dim"))
        record = Table.grid(padding=(0, COLUMN_GAP, 0, 0))
        record.add_column(style="bold", overflow="fold", width=width)
        record.add_column(overflow="fold")
        for name, cell in zip(names, row, strict=True):
            record.add_row(Text(name), NULL if cell is None else Text(cell))
        screen.print(record)


def _show_reading(answer: Mapping[str, Any], screen: Console) -> None:
    reading, mark = str(answer.get("reading") or ""), mark_of(answer)
    if mark is not None:
        # Marked by a word and by a colour, since it is what decides whether to believe the rest.
        told = Text.assemble((_MARK, "bold yellow"), visible_lines(mark).removeprefix(_MARK))
        _put(told, screen)
    if reading and reading != mark:
        _put(Text(visible_lines(reading)), screen)
    meanings: list[dict[str, str]] = answer.get("meanings") or []
    for one in meanings:
        words, meaning = visible(one["words"]), visible(one["meaning"])
        _put(Text(f"  {words!r}: {meaning}", style="dim"), screen)
    if reading or mark or meanings:
        screen.print()


def footer(answer: Mapping[str, Any], shown: int) -> str:
    """How many rows there are, what they are called, and where the others are."""
    total = int(answer.get("row_count") or 0)
    rows = rows_in_words(total, truncated=bool(answer.get("truncated")))
    if answer.get("truncated"):
        limit = {"rows": "row", "bytes": "byte"}.get(str(answer.get("truncated_by")), "row or byte")
        rows += f", how many is not known (the {limit} budget cut the rest)"
    seconds = answer.get("elapsed_seconds")
    took = f" in {duration(float(seconds))}" if seconds is not None else ""
    name = answer.get("result_name")
    kept = f", kept as {visible(str(name))}" if name else ""
    told = f"{rows}{took}{kept}"
    if shown < total:
        run_id = visible(str(answer.get("run_id")))
        told += f"; {shown:,} are shown here. All of them: awhile attach {run_id} --csv > rows.csv"
        return told + _asked_of(answer)
    return f"{told}.{_asked_of(answer)}"


def _asked_of(answer: Mapping[str, Any]) -> str:
    """What asking a model took, where one was asked."""
    use: Mapping[str, Any] = answer.get("model_use") or {}
    if not use:
        return ""
    tokens = int(use.get("input_tokens") or 0) + int(use.get("output_tokens") or 0)
    price = use.get("price_usd")
    cost = "" if price is None else f", ${float(price):.4f}"
    took = duration(float(use.get("seconds") or 0))
    return f"\n{visible(str(use.get('model')))} took {took} and {tokens:,} tokens{cost}."


def is_number(column: Mapping[str, str]) -> bool:
    """Whether a column is written flush right."""
    return TableColumn(column["name"], column.get("type", "")).kind in ("integer", "number")


__all__ = [
    "UNVERIFIED",
    "choices",
    "footer",
    "is_number",
    "mark_of",
    "show_answer",
    "show_error",
    "show_head",
    "show_question_back",
    "show_refusal",
    "show_sql",
    "show_table",
]
