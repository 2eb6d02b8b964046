"""What a terminal is shown: every cell as it is, nothing that drives the terminal, honest words."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from awhile.ask.cli import shown
from awhile.cli.attend import Attended, Manner, stop_words
from awhile.cli.screen import complain, visible
from awhile.cli.words import QUERY, StopRequest
from awhile.client import CancelOutcome, Known
from awhile.errors import SettingsError, ToolFailed
from awhile.tasks import Status, StoppedHow
from awhile.wire.snapshot import Snapshot

NOT_STOPPED_YET = CancelOutcome.NOT_STOPPED_YET


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
    assert "First 1,000 rows of more" in said
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


ASKED_AT_MS = 1_000_000

WORKING = Snapshot(
    task_id="1f",
    status=Status.WORKING,
    created_at_ms=0,
    last_updated_at_ms=0,
    cancel_asked_at_ms=ASKED_AT_MS,
)
STOPPED = replace(WORKING, status=Status.CANCELLED)
FINISHED = replace(WORKING, status=Status.COMPLETED, result={"content": []})


def stopped(how: StoppedHow, after_ms: int = 0) -> Snapshot:
    return replace(STOPPED, stopped_how=how, stopped_at_ms=ASKED_AT_MS + after_ms)


def attended(
    task: Snapshot, *, left: bool = False, stop_asked: bool = True, **facts: Any
) -> Attended:
    return Attended(known=Known(task=task), stop_asked=stop_asked, left=left, **facts)


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (
            attended(stopped(StoppedHow.ENGINE_CONFIRMED, 34)),
            "Stopped: confirmed by the database after 0.03 s.",
        ),
        (attended(stopped(StoppedHow.NEVER_STARTED)), "Stopped: it had not started."),
        (
            attended(stopped(StoppedHow.WORKER_LOST)),
            "Stopped: the process that ran it was already gone.",
        ),
        (attended(STOPPED), "Stopped: the server says so."),
        (attended(FINISHED), "Finished anyway: result kept."),
        (attended(replace(FINISHED, cancel_asked_at_ms=None)), "It had already finished."),
        (
            attended(replace(FINISHED, result={"isError": True})),
            "Failed after you asked to stop.",
        ),
        (
            attended(stopped(StoppedHow.NOT_STOPPED), left=True, outcome=NOT_STOPPED_YET),
            "Not stopped yet: it could not be stopped and may still be having effects (id 1f).",
        ),
        (
            attended(WORKING, left=True),
            "Left without waiting for the stop to be confirmed; it may still run (id 1f).",
        ),
        (
            attended(WORKING, left=True, request=StopRequest.NOT_SENT),
            "Left; the request to stop was not sent, so the query is unaffected (id 1f).",
        ),
        (
            attended(WORKING, left=True, request=StopRequest.UNKNOWN),
            "Left; it is not known whether the request to stop arrived (id 1f).",
        ),
        (
            attended(replace(WORKING, cancel_asked_at_ms=None), left=True, stop_asked=False),
            "Left; it keeps running (id 1f).",
        ),
        (attended(replace(FINISHED, cancel_asked_at_ms=None), stop_asked=False), None),
    ],
)
def test_what_came_of_a_stop_is_said_in_a_past_tense_only_with_proof(
    what: Attended, words: str | None
) -> None:
    """Ours."""
    assert stop_words(what, Manner(of=QUERY), "1f") == words


def test_what_a_model_wrote_is_marked_before_everything_else() -> None:
    """Ours: in the words of the reading, or, where it has none of them, in our own."""
    told = "Unverified: the model tiny wrote this, so compare it with what you asked. Orders."
    for reading, mark in ((told, told), ("Orders.", shown.UNVERIFIED), (None, shown.UNVERIFIED)):
        console = screen(200)
        answer: dict[str, Any] = {
            "reading": reading,
            "confidence": "unverified",
            "columns": [],
            "row_count": 0,
        }
        shown.show_answer(answer, console)
        assert text_of(console).splitlines()[0].strip() == mark
        assert shown.mark_of(answer) == mark
    assert shown.mark_of({"reading": "Orders.", "confidence": "grounded"}) is None


def test_a_result_is_called_by_the_name_it_is_kept_under() -> None:
    """Ours."""
    answer = {"row_count": 2, "elapsed_seconds": 0.1, "result_name": "result_3"}
    assert shown.footer(answer, 2) == "2 rows in 0.10 s, kept as result_3."


@pytest.mark.parametrize(("price", "cost"), [(None, "."), (0.00123, ", $0.0012.")])
def test_what_asking_a_model_took_stands_below_the_rows(price: float | None, cost: str) -> None:
    use = {"model": "ollama:qwen3", "input_tokens": 1200, "output_tokens": 34, "seconds": 2.5}
    told = shown.footer({"row_count": 1, "model_use": {**use, "price_usd": price}}, 1)
    assert told.splitlines()[-1] == f"ollama:qwen3 took 2.5 s and 1,234 tokens{cost}"


def test_each_mistake_in_a_file_has_its_line_and_an_error_of_others_has_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ours: the semantic file's mistakes are told all at once."""
    complain(SettingsError("The file cannot be used:\n  shop.yaml:4: no such key\x1b[2J"))
    complain(ToolFailed("no\nStopped.", result={}))
    assert capsys.readouterr().err.splitlines() == [
        "awhile: The file cannot be used:",
        "  shop.yaml:4: no such key\\x1b[2J",
        "awhile: no\\nStopped.",
    ]
