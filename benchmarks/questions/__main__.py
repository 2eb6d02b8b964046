"""Measure translators by questions whose answers are known, print a table, and write the page.

::

    python -m benchmarks.questions                     # everything, and docs/questions.md
    python -m benchmarks.questions --only shop --show wrong
    python -m benchmarks.questions --model gguf:coder.gguf --every 5 --engines duckdb
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import anyio
from rich.console import Console

from awhile.ask.translators.contract import QuestionBack, Sql
from benchmarks.questions.databases import Database
from benchmarks.questions.evaluate import Made, Outcome, counts, evaluate, translators
from benchmarks.questions.page import PAGE, table, with_model, written
from benchmarks.questions.sets import ENGINES, GROUPS, Asked, sets
from benchmarks.questions.speed import measured
from checks.postgres import Cluster, binaries

SCORES = ("right", "wrong", "asked back", "refused")


def main() -> None:
    """Run what the arguments say."""
    asked = _arguments()
    made_by_name = translators(asked.model, asked.model_url, asked.model_sees)
    console = Console(soft_wrap=True)  # a table is as wide as its cells
    results: dict[str, list[tuple[Asked, list[Outcome]]]] = {}
    with ExitStack() as stack:
        cluster: Cluster | None = None
        if asked.postgres and binaries():
            cluster = stack.enter_context(Cluster())
        chosen = [
            replace(each, questions=each.questions[:: asked.every])
            for each in sets(cluster)
            if each.group in asked.only
            and each.engine in asked.engines
            and (asked.held_out if each.held_out else asked.development)
        ]
        for one in chosen:
            with one.open() as database:
                for name, made in made_by_name.items():
                    outcomes = anyio.run(_evaluated, one, database, made)
                    results.setdefault(name, []).append((one, outcomes))
                    if asked.model:  # which may take hours, and be broken off
                        console.print(f"{name}: {one.name}, {one.engine}: {dict(counts(outcomes))}")
                    _show(console, one, outcomes, asked.show)
    console.print(table(results))
    if asked.model:
        if asked.page:
            PAGE.write_text(with_model(PAGE.read_text(encoding="utf-8"), results), "utf-8")
        return
    speed = measured()
    for line in speed:
        console.print(": ".join(line[:2]), f"({line[3]}, target {line[2]})")
    if asked.page:
        page = written(PAGE.read_text(encoding="utf-8"), results, speed)
        PAGE.write_text(page, encoding="utf-8")
        console.print(f"written to {PAGE.relative_to(Path.cwd())}")


async def _evaluated(one: Asked, database: Database, made: Made) -> list[Outcome]:
    async with made() as translator:
        return await evaluate(one, database, translator)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions")
    parser.add_argument("--only", nargs="+", choices=GROUPS, default=GROUPS)
    parser.add_argument("--model", help="measure it, too, alone and behind the built-in one")
    parser.add_argument("--model-url", help="where it is, for compatible:…")
    parser.add_argument(
        "--model-sees",
        nargs="+",
        default=(),
        help="columns whose values it is told of: '*' for all",
    )
    parser.add_argument("--every", type=int, default=1, help="every such question of a set alone")
    parser.add_argument("--show", nargs="+", choices=SCORES, default=(), help="each such question")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--no-postgres", dest="postgres", action="store_false")
    parser.add_argument(
        "--no-held-out", dest="held_out", action="store_false", help="what one develops with alone"
    )
    parser.add_argument(
        "--no-development", dest="development", action="store_false", help="what is held out alone"
    )
    parser.add_argument("--page", action="store_true", help="write the table to docs/questions.md")
    return parser.parse_args()


def _show(console: Console, one: Asked, outcomes: list[Outcome], scores: list[str]) -> None:
    for each in outcomes:
        if each.scored.score not in scores:
            continue
        console.print(
            f"\n[{one.name}, {one.engine}] {each.scored.score} {each.scored.kind}", markup=False
        )
        console.print(f"  {each.question.said}", markup=False)
        found = each.found
        if isinstance(found, Sql):
            console.print(f"  = {found.reading}\n  {found.sql}", markup=False)
            console.print(f"  gold: {each.question.gold}", markup=False)
        elif isinstance(found, QuestionBack):
            console.print(f"  ? {found.text} {[c.question for c in found.choices]}", markup=False)
        else:
            console.print(f"  ! {found.text[:300]}", markup=False)


if __name__ == "__main__":
    main()
