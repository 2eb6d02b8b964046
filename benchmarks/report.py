"""The one table, for eyes, for programs and for the page ``docs/speed.md``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.results import BARE, Figure, Results, Row
from benchmarks.subjects import COLUMNS, OURS

SHOWN = {**dict(list(COLUMNS.items())[:2]), BARE: "bare route", **dict(list(COLUMNS.items())[2:])}
"""The columns in their order."""

NOTHING = "–"


def number(value: float) -> str:
    """Three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value < 1 else f"{value:.1f}"


def said(figure: Figure) -> str:
    """The median, and the least and the most behind it."""
    if figure.samples == 1:
        return number(figure.median)
    return f"{number(figure.median)} ({number(figure.least)}-{number(figure.most)})"


def lines(results: Results, missing: Mapping[str, str]) -> list[list[str]]:
    """The table's cells: row, unit, each column, the targets."""
    return [_line(results, row, missing) for row in results.rows]


def _line(results: Results, row: Row, missing: Mapping[str, str]) -> list[str]:
    cells = [row.words, row.unit]
    for column in SHOWN:
        figure = results.figure(row, column)
        absent = f"not measured: {missing[column]}" if column in missing else NOTHING
        cells.append(said(figure) if figure else results.said.get((row.name, column), absent))
    cells.append("; ".join(_targets(results, row)))
    return cells


def _targets(results: Results, row: Row) -> list[str]:
    """Each target with what both columns of ours came to: a ratio where it speaks of one."""
    found: list[str] = []
    for target in row.targets:
        verdicts = [one for one in results.verdicts(row, list(OURS)) if one.target is target]
        each = [
            f"{COLUMNS[one.column].removeprefix('ours, ')} "
            + (f"{one.value:.2f} × " if target.against else "")
            + ("met" if one.met else "MISSED")
            for one in verdicts
        ]
        if each:
            found.append(f"{target.words}: {', '.join(each)}")
    return found


HEAD = ["", "unit", *SHOWN.values(), "target"]


def table(results: Results, missing: Mapping[str, str], facts: Mapping[str, str]) -> Table:
    """For a terminal."""
    shown = Table(box=box.SIMPLE_HEAD, title="Speed: medians of interleaved rounds (least-most)")
    for title in HEAD:
        left = title in {"", "unit", "target"}
        shown.add_column(title, justify="left" if left else "right", overflow="fold")
    for line in lines(results, missing):
        shown.add_row(*line)
    shown.caption = "\n".join(f"{name}: {value}" for name, value in facts.items())
    return shown


def markdown(results: Results, missing: Mapping[str, str], facts: Mapping[str, str]) -> str:
    """For a page."""
    rows = [HEAD, ["---"] * len(HEAD), *lines(results, missing)]
    shown = "\n".join(
        "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows
    )
    header = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"{header}\n\n{shown}\n"


def as_json(results: Results, missing: Mapping[str, str], facts: Mapping[str, str]) -> Any:
    """For a program."""
    rows: list[dict[str, Any]] = []
    for row in results.rows:
        figures = {column: results.figure(row, column) for column in SHOWN}
        rows.append(
            {
                "name": row.name,
                "words": row.words.strip(),
                "unit": row.unit,
                "figures": {name: vars(one) for name, one in figures.items() if one},
                "said": {
                    column: words
                    for (name, column), words in results.said.items()
                    if name == row.name
                },
                "targets": [
                    {
                        "target": one.target.words,
                        "column": one.column,
                        "value": one.value,
                        "met": one.met,
                    }
                    for one in results.verdicts(row, list(OURS))
                ],
            }
        )
    return {"machine": dict(facts), "missing": dict(missing), "rows": rows}
