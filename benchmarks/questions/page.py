"""The table of results, for a terminal and for the page `docs/questions.md`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from benchmarks.questions.evaluate import counts, kinds, quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.questions.evaluate import Outcome
    from benchmarks.questions.sets import Asked
    from benchmarks.questions.speed import Took

    Results = Mapping[str, Sequence[tuple[Asked, Sequence[Outcome]]]]

__all__ = ["PAGE", "table", "with_model", "written"]

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
HEAD = (
    "translator",
    "questions",
    "engine",
    "asked",
    "right",
    "wrong",
    "asked back",
    "refused",
    "wrong by kind",
    "median / 95 % ms",
)
_WITH_MODEL = "<!-- written by make eval with a model -->"
_BEGIN, _END = "<!-- written by make eval -->", "<!-- end -->"


def table(results: Results) -> Table:
    """For a terminal."""
    shown = Table(box=box.SIMPLE_HEAD, width=170)
    for place, title in enumerate(HEAD):
        shown.add_column(title, justify="right" if 2 < place < 8 else "left")
    for line in _lines(results):
        shown.add_row(*line)
    return shown


def written(page: str, results: Results, speed: Sequence[Took]) -> str:
    """The page with its tables made anew. Raises `ValueError` where it has no place for them."""
    taken = [("", "CPU time", "target", ""), ["---"] * 4, *speed]
    return _replaced(page, _BEGIN, [_head_and(_lines(results)), taken])


def with_model(page: str, results: Results) -> str:
    """The page with its table of a model made anew. Raises as `written` does."""
    return _replaced(page, _WITH_MODEL, [_head_and(_lines(results))])


def _head_and(lines: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    return [HEAD, ["---"] * len(HEAD), *lines]


def _replaced(page: str, begin: str, tables: Sequence[Sequence[Sequence[str]]]) -> str:
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(_END)
    if not (found and ended):
        raise ValueError(f"the page needs a place for its table: {begin} … {_END}")
    shown = "\n\n".join("\n".join("| " + " | ".join(row) + " |" for row in each) for each in tables)
    return f"{before}{begin}\n\n{shown}\n\n{_END}{after}"


def _lines(results: Results) -> list[list[str]]:
    lines: list[list[str]] = []
    for translator, found in results.items():
        groups: dict[tuple[str, str], list[Outcome]] = {}
        for asked, outcomes in found:
            name = asked.name
            if asked.group == "public":
                name = "public, held out" if asked.held_out else "public"
            groups.setdefault((name, asked.engine), []).extend(outcomes)
        lines += [_line(translator, *key, outcomes) for key, outcomes in groups.items()]
    return lines


def _line(translator: str, name: str, engine: str, outcomes: Sequence[Outcome]) -> list[str]:
    found, total = counts(outcomes), len(outcomes)
    scores = [
        f"{found[score]} ({found[score] / total:.0%})"
        for score in ("right", "wrong", "asked back", "refused")
    ]
    why = ", ".join(f"{kind} {count}" for kind, count in kinds(outcomes).most_common()) or "–"
    took = f"{quantile(outcomes, 0.5):.1f} / {quantile(outcomes, 0.95):.1f}"
    return [translator, name, engine, str(total), *scores, why, took]
