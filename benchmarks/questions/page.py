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

__all__ = ["PAGE", "table", "written"]

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
    before, found, rest = page.partition(_BEGIN)
    _, ended, after = rest.partition(_END)
    if not (found and ended):
        raise ValueError(f"the page needs a place for its table: {_BEGIN} … {_END}")
    rows = [HEAD, ["---"] * len(HEAD), *_lines(results)]
    taken = [("", "CPU time", "target", ""), ["---"] * 4, *speed]
    shown = "\n\n".join(
        "\n".join("| " + " | ".join(row) + " |" for row in each) for each in (rows, taken)
    )
    return f"{before}{_BEGIN}\n\n{shown}\n\n{_END}{after}"


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
