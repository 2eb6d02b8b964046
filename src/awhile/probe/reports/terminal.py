"""The report for a terminal: what to fix first, then everything else in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from awhile.probe.grades import Grade
from awhile.probe.reports.wording import counted, under_way, verdict
from awhile.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

    from awhile.probe.exchanges import Json

STYLES = {
    Grade.LOSES_WORK: "bold red",
    Grade.MISLEADS: "bold magenta",
    Grade.DIFFERS: "bold yellow",
    Grade.CONFORMS: "green",
    Grade.NOT_APPLICABLE: "dim",
    Grade.NOT_TRIED: "dim",
}

SIGNS = {Grade.LOSES_WORK: "✗", Grade.MISLEADS: "≠", Grade.DIFFERS: "~", Grade.CONFORMS: "✓"}


def show(console: Console, report: Json) -> None:
    """Print a report (see `as_data`), or a comparison (see `compared`)."""
    if "reports" in report:
        _comparison(console, report)
        return
    _heading(console, report)
    faults = [one for one in report["findings"] if Grade(one["grade"]).severity]
    if faults:
        console.print(Rule("What to fix", align="left", style="dim"))
        for one in faults:
            _fault(console, one)
    for era, facts in report["eras"].items():
        _era(console, era, facts)
    _rest(console, report)
    console.print(Text(visible(under_way(report)), style="dim"))


def _heading(console: Console, report: Json) -> None:
    console.print()
    console.print(Text(visible(report["target"]), style="bold"))
    console.print(Text(verdict(report), style=STYLES[Grade(report["worst"])]))
    fine = counted(report, Grade.CONFORMS, Grade.NOT_APPLICABLE, Grade.NOT_TRIED)
    if fine:
        console.print(Text(f"Beside that: {fine}.", style="dim"))
    console.print()


def _fault(console: Console, finding: Json) -> None:
    grade = Grade(finding["grade"])
    console.print(
        Text.assemble(
            (f"{SIGNS[grade]} {grade.value}", STYLES[grade]),
            f"  {finding['check']}",
            (f"  {finding['era']}", "dim"),
        )
    )
    rows = Table.grid(padding=(0, 1))
    rows.add_column(style="dim", min_width=6)
    rows.add_column(overflow="fold")
    rows.add_row("should", Text(finding["title"]))
    rows.add_row("seen", Text(visible(finding["seen"])))
    rows.add_row("do", Text(finding["advice"]))
    rows.add_row("source", Text(finding["source"]["words"]))
    if finding["source"]["url"]:
        rows.add_row("", Text(finding["source"]["url"], style="dim"))
    if finding["exchanges"]:
        numbers = ", ".join(map(str, finding["exchanges"][:8]))
        rows.add_row("wire", Text(f"exchange {numbers} (--html and --json show it)", style="dim"))
    console.print(Padding(rows, (0, 0, 1, 2)))


def _era(console: Console, era: str, facts: Json) -> None:
    console.print(Rule(era, align="left", style="dim"))
    if not facts["served"]:
        console.print(
            Padding(Text(f"Not served: {visible(facts['why'])}", style="dim"), (0, 0, 1, 2))
        )
        return
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for label, words in facts["facts"].items():
        rows.add_row(label, Text(visible(words)))
    console.print(Padding(rows, (0, 0, 1, 2)))


def _rest(console: Console, report: Json) -> None:
    findings = report["findings"]
    fine = [one for one in findings if one["grade"] == Grade.CONFORMS]
    if fine:
        console.print(Rule("As it should be", align="left", style="dim"))
        names: dict[str, list[str]] = {}
        for one in fine:
            names.setdefault(one["check"], []).append(one["era"])
        rows = Table.grid(padding=(0, 1))
        rows.add_column(style="green", no_wrap=True)
        rows.add_column(overflow="fold")
        for name in names:
            said = [visible(one["seen"]) for one in fine if one["check"] == name]
            rows.add_row(f"✓ {name}", Text(said[0] if len(set(said)) == 1 else " / ".join(said)))
        console.print(Padding(rows, (0, 0, 1, 2)))
    quiet = [one for one in findings if one["grade"] in (Grade.NOT_TRIED, Grade.NOT_APPLICABLE)]
    if quiet:
        console.print(Rule("Not tried, and what does not apply", align="left", style="dim"))
        reasons: dict[str, dict[str, None]] = {}
        for one in quiet:
            reasons.setdefault(visible(one["seen"]), {})[one["check"]] = None
        for why, checks in reasons.items():
            line = Text.assemble((f"{why}: ", ""), (", ".join(checks), "dim"))
            console.print(Padding(line, (0, 0, 0, 2)))
        console.print()


def _comparison(console: Console, comparison: Json) -> None:
    first, second = comparison["reports"]
    for letter, report in zip("AB", (first, second), strict=True):
        console.print()
        console.print(Text.assemble((f"{letter}  ", "bold"), (visible(report["target"]), "bold")))
        console.print(Text(f"   {verdict(report)}", style=STYLES[Grade(report["worst"])]))
    console.print()
    differing = [one for one in comparison["checks"] if one["change"] != "same"]
    if not differing:
        console.print("Both came to the same in every check.")
        return
    telling = [one for one in differing if any(map(_fault_in, one["grades"]))]
    table = Table(box=None, padding=(0, 1), pad_edge=False, header_style="dim")
    table.add_column("check", overflow="fold")
    table.add_column("A", no_wrap=True)
    table.add_column("B", no_wrap=True)
    for one in telling:
        name = Text.assemble(one["check"], (f"  {one['era']}", "dim"))
        table.add_row(name, *(_graded(grade) for grade in one["grades"]))
    if telling:
        console.print(table)
    groups: dict[tuple[str, str, str], list[str]] = {}
    for one in differing:
        if one not in telling:
            first_grade, second_grade = (grade or "not served" for grade in one["grades"])
            key = (one["era"], first_grade, second_grade)
            groups.setdefault(key, []).append(one["check"])
    for (era, in_first, in_second), checks in groups.items():
        heading = f"\n{era}: A {in_first}, B {in_second}"
        console.print(Text.assemble(heading, (f"  {', '.join(checks)}", "dim")))
    same = len(comparison["checks"]) - len(differing)
    console.print(Text(f"\nThe same in {same} others.", style="dim"))
    for letter, report in zip("AB", (first, second), strict=True):
        console.print(Text(visible(f"{letter}: {under_way(report)}"), style="dim"))


def _fault_in(grade: str | None) -> bool:
    return grade is not None and Grade(grade).severity > 0


def _graded(grade: str | None) -> Text:
    if grade is None:
        return Text("not served", style="dim")
    known = Grade(grade)
    return Text(f"{SIGNS.get(known, '·')} {grade}", style=STYLES[known])


__all__ = ["show"]
