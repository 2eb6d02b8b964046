"""What a terminal is shown: every cell as it is, nothing that drives the terminal, honest words."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from awhile.ask.cli import shown
from awhile.cli.attend import Attended, seconds_words, stop_words
from awhile.cli.screen import visible
from awhile.client import CancelOutcome, Now, State
from awhile.tasks import StoppedHow


def screen(width: int) -> Console:
    """A terminal of that width whose output can be read."""
    return Console(
        file=io.StringIO(), width=width, force_terminal=True, color_system=None, markup=False
    )


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def column(name: str, kind: str = "VARCHAR") -> dict[str, str]:
    return {"name": name, "type": kind}


def table(columns: list[dict[str, str]], rows: list[list[str | None]], width: int) -> str:
    console = screen(width)
    shown.show_table(columns, rows, console)
    return text_of(console)


def test_a_number_is_never_folded_nor_cut() -> None:
    """D9's sibling in the terminal (ours): 38 digits stay together beside a long text."""
    number = "12345678901234567890123456789012345678"
    said = table(
        [column("amount", "DECIMAL(38,0)"), column("note")], [[number, "word " * 40]], width=80
    )
    assert number in said
    assert said.count("word") == 40


def test_a_table_never_is_wider_than_the_terminal() -> None:
    """Ours."""
    columns = [column(f"column {number}", "BIGINT") for number in range(20)]
    said = table(columns, [["9007199254740993"] * 20], width=80)
    assert max(len(line) for line in said.splitlines()) <= 80
    assert said.count("9007199254740993") == 20


def test_rows_that_cannot_stand_side_by_side_are_shown_one_under_the_other() -> None:
    """Ours."""
    columns = [column(f"c{number}", "BIGINT") for number in range(20)]
    lines = table(columns, [["9007199254740993"] * 20] * 2, width=80).splitlines()
    assert lines[0].strip() == "Row 1"
    assert lines[1].split() == ["c0", "9007199254740993"]
    assert lines[21].strip() == "Row 2"


def test_a_long_text_is_folded_and_whole() -> None:
    """Ours."""
    text = "x" * 300
    said = table([column("t"), column("n", "INTEGER")], [[text, "1"]], width=80)
    assert said.count("x") == 300


def test_columns_may_share_a_name_or_have_none() -> None:
    """D12's sibling in the terminal (ours)."""
    lines = table([column("a"), column("a"), column("")], [["1", "2", "3"]], 80).splitlines()
    assert lines[0].split() == ["a", "a"]
    assert lines[2].split() == ["1", "2", "3"]


def test_null_is_not_an_empty_text() -> None:
    """Ours."""
    assert "NULL" in table([column("a")], [[None]], 80)
    assert "NULL" not in table([column("a")], [[""]], 80)


def test_zero_rows_are_a_result() -> None:
    """Ours."""
    console = screen(80)
    answer = {"columns": [column("a")], "rows": [], "row_count": 0, "elapsed_seconds": 0.1}
    shown.show_answer(answer, console)
    assert "0 rows in 0.10 s." in text_of(console)


@pytest.mark.parametrize(
    ("hostile", "written"),
    [
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb", "a\\nb"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\x07", "\\x07"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("naïve – 東京", "naïve – 東京"),
    ],
)
def test_what_would_drive_the_terminal_is_written_out(hostile: str, written: str) -> None:
    """Ours: cells and names are data of a database, which may be anybody's."""
    assert visible(hostile) == written
    said = table([column(hostile)], [[hostile]], 80)
    assert said.count(written) == 2
    assert "\x1b[31m" not in said


def test_a_part_of_the_rows_is_never_called_the_whole() -> None:
    """Ours."""
    console = screen(200)
    answer: dict[str, Any] = {
        "run_id": "abc",
        "columns": [column("a")],
        "rows": [["1"]],
        "row_count": 1000,
        "truncated": True,
    }
    shown.show_answer(answer, console)
    said = text_of(console)
    assert "The first 1,000 rows of more" in said
    assert "1 are shown here" in said
    assert "awhile attach abc --csv" in said


def test_an_error_is_marked_at_its_place_in_the_sql() -> None:
    """Ours: lines and columns count from 1."""
    console = screen(80)
    error = {"message": "Parser Error", "line": 2, "column": 6}
    shown.show_error(error, "select *\nform orders", console)
    lines = text_of(console).splitlines()
    assert lines[1].rstrip() == "  2 | form orders"
    assert lines[2].rstrip().index("^") == lines[1].index("orders")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.034, "0.03 s"),
        (3.21, "3.2 s"),
        (42.9, "42 s"),
        (61, "1 min 01 s"),
        (3_700, "1 h 01 min"),
    ],
)
def test_durations_are_as_exact_as_they_are_worth(seconds: float, words: str) -> None:
    """Ours."""
    assert seconds_words(seconds) == words


NOW = Now(state=State.WORKING, words="Working", inputs={})
ENDED = replace(NOW, state=State.CANCELLED, ended=True)


def attended(now: Now, *, left: bool = False, **facts: Any) -> Attended:
    return Attended(now=now, stop_asked=True, left=left, **facts)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (
            attended(
                replace(ENDED, how_stopped=StoppedHow.ENGINE_CONFIRMED, stopped_after_seconds=0.034)
            ),
            "Cancelled: confirmed by the engine after 0.03 s.",
        ),
        (
            attended(replace(ENDED, how_stopped=StoppedHow.NEVER_STARTED)),
            "Cancelled: it had not started.",
        ),
        (
            attended(replace(ENDED, how_stopped=StoppedHow.WORKER_LOST)),
            "Cancelled: the server that ran it is gone.",
        ),
        (attended(ENDED), "Cancelled: the server says that it has stopped."),
        (
            attended(replace(ENDED, state=State.FINISHED_ANYWAY)),
            "It had already finished before it could be stopped.",
        ),
        (
            attended(replace(ENDED, state=State.FAILED_AFTER_CANCEL)),
            "It failed after you asked it to stop.",
        ),
        (
            attended(NOW, left=True, outcome=CancelOutcome.NOT_STOPPED_YET),
            "Not stopped yet; it may still be running (id 1f).",
        ),
        (
            attended(NOW, left=True),
            "Left without waiting for the stop to be confirmed; it may still run (id 1f).",
        ),
        (
            attended(NOW, left=True, not_sent="no route"),
            "Left; the request to stop did not get through, so it may run on (id 1f).",
        ),
    ],
)
def test_what_came_of_a_stop_is_said_in_a_past_tense_only_with_proof(
    what: Attended, words: str
) -> None:
    """Ours."""
    assert stop_words(what, "1f") == words


def test_work_nobody_asked_to_stop_ends_without_such_words() -> None:
    """Ours."""
    finished = replace(NOW, state=State.FINISHED, ended=True)
    assert stop_words(Attended(now=finished, stop_asked=False, left=False), "1f") is None
