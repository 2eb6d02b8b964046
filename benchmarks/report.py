"""The one table, for eyes, for programs and for the page ``docs/speed.md``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.results import BARE, Figure, Results, Row
from benchmarks.subjects import COLUMNS, OURS

NOTHING = "–"


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Which columns a table has."""

    title: str
    columns: Mapping[str, str]
    """Their headings, by key, in their order."""
    ours: Sequence[str]
    """Those that targets speak of."""
    missing: Mapping[str, str]
    """Why a column is not measured."""


def of_servers(missing: Mapping[str, str]) -> Layout:
    """The table of `make bench`."""
    first, rest = dict(list(COLUMNS.items())[:2]), dict(list(COLUMNS.items())[2:])
    return Layout(
        title="Speed: medians of interleaved rounds (least-most)",
        columns={**first, BARE: "bare route", **rest},
        ours=OURS,
        missing=missing,
    )


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


def lines(results: Results, layout: Layout) -> list[list[str]]:
    """The table's cells: row, unit, each column, the targets."""
    return [_line(results, row, layout) for row in results.rows]


def _line(results: Results, row: Row, layout: Layout) -> list[str]:
    cells = [row.words, row.unit]
    for column in layout.columns:
        figure = results.figure(row, column)
        why = layout.missing.get(column)
        absent = NOTHING if why is None else f"not measured: {why}"
        cells.append(said(figure) if figure else results.said.get((row.name, column), absent))
    cells.append("; ".join(_targets(results, row, layout)))
    return cells


def _targets(results: Results, row: Row, layout: Layout) -> list[str]:
    """Each target with what every column of ours came to: a ratio where it speaks of one."""
    found: list[str] = []
    for target in row.targets:
        verdicts = [one for one in results.verdicts(row, list(layout.ours)) if one.target is target]
        each = [
            f"{layout.columns[one.column].removeprefix('ours, ')} "
            + (f"{one.value:.2f} × " if target.against else "")
            + ("met" if one.met else "MISSED")
            for one in verdicts
        ]
        if each:
            found.append(f"{target.words}: {', '.join(each)}")
    return found


def head(layout: Layout) -> list[str]:
    """The table's headings."""
    return ["", "unit", *layout.columns.values(), "target"]


def table(results: Results, layout: Layout, facts: Mapping[str, str]) -> Table:
    """For a terminal."""
    shown = Table(box=box.SIMPLE_HEAD, title=layout.title)
    for title in head(layout):
        left = title in {"", "unit", "target"}
        shown.add_column(title, justify="left" if left else "right", overflow="fold")
    for line in lines(results, layout):
        shown.add_row(*line)
    shown.caption = "\n".join(f"{name}: {value}" for name, value in facts.items())
    return shown


def markdown(results: Results, layout: Layout, facts: Mapping[str, str]) -> str:
    """For a page."""
    titles = head(layout)
    rows = [titles, ["---"] * len(titles), *lines(results, layout)]
    shown = "\n".join(
        "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows
    )
    header = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    return f"{header}\n\n{shown}\n"


def as_json(results: Results, layout: Layout, facts: Mapping[str, str]) -> Any:
    """For a program."""
    rows: list[dict[str, Any]] = []
    for row in results.rows:
        figures = {column: results.figure(row, column) for column in layout.columns}
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
                    for one in results.verdicts(row, list(layout.ours))
                ],
            }
        )
    return {"machine": dict(facts), "missing": dict(layout.missing), "rows": rows}
