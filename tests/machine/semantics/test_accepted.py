"""Answers a person accepted, and examples of the semantic file, are reused for the same words."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from awhile.ask.results.storage import Folder
from awhile.ask.schema import Example, Schema, Table, TableColumn
from awhile.ask.semantics.accepted import AcceptedAnswers
from awhile.ask.translators.builtin import BuiltInTranslator
from awhile.ask.translators.contract import Sql, Turn

TODAY = date(2026, 11, 5)
ORDERS = Table("orders", (TableColumn("order_id", "INTEGER", False),), ("order_id",), (), 3)
SCHEMA = Schema((ORDERS,), "shop", examples=(Example("How is business?", "SELECT 42 AS answer"),))


@pytest.mark.parametrize(
    "asked", ["how is business", "How is the business?", "  how was business!"]
)
def test_the_same_words_get_the_sql_of_the_example_and_say_so(asked: str) -> None:
    found = BuiltInTranslator().translate_now(asked, SCHEMA, TODAY)
    assert isinstance(found, Sql)
    assert found.sql == "SELECT 42 AS answer"
    assert found.confidence == "accepted"
    assert "As in the example 'How is business?'" in found.reading


@pytest.mark.parametrize("asked", ["how is business this year", "business how", "how many orders"])
def test_other_words_do_not(asked: str) -> None:
    found = BuiltInTranslator().translate_now(asked, SCHEMA, TODAY)
    assert not (isinstance(found, Sql) and found.confidence == "accepted")


def test_an_example_does_not_take_what_goes_on_from_another_question() -> None:
    schema = replace(SCHEMA, examples=(Example("only 2025", "SELECT 1"),))
    turn = Turn("how many orders", "SELECT 2", edited=True)
    found = BuiltInTranslator().translate_now("only 2025", schema, TODAY, [turn])
    assert not isinstance(found, Sql)


def test_what_one_person_accepted_is_only_theirs(tmp_path: Path) -> None:
    kept = AcceptedAnswers(Folder(tmp_path / "accepted"))
    assert kept.find("revenue by country", owner="ann", today=TODAY) is None
    kept.accept("Revenue by country?", "SELECT 1", owner="ann", today=TODAY)
    found = kept.find("the revenue by country", owner="ann", today=TODAY)
    assert found is not None
    assert (found.sql, found.confidence) == ("SELECT 1", "accepted")
    assert kept.find("revenue by country", owner="bob", today=TODAY) is None
    assert kept.find("revenue by country", owner="", today=TODAY) is None
    assert kept.forget("revenue by countries", owner="ann")
    assert not kept.forget("revenue by country", owner="ann")


def test_an_accepted_answer_to_the_same_words_replaces_the_one_before(tmp_path: Path) -> None:
    kept = AcceptedAnswers(Folder(tmp_path))
    kept.accept("revenue", "SELECT 1", owner="", today=TODAY)
    kept.accept("revenue", "SELECT 2", owner="", today=TODAY)
    found = kept.find("revenue", owner="", today=TODAY)
    assert found is not None
    assert found.sql == "SELECT 2"


def test_words_that_mean_other_dates_tomorrow_are_only_reused_today(tmp_path: Path) -> None:
    """Ours: "last month" was accepted in October; in November its SQL is of the wrong month."""
    kept = AcceptedAnswers(Folder(tmp_path))
    for question in ("revenue last month", "revenue in 2025"):
        kept.accept(question, "SELECT 1", owner="", today=TODAY)
    later = date(2026, 12, 1)
    assert kept.find("revenue last month", owner="", today=TODAY) is not None
    assert kept.find("revenue last month", owner="", today=later) is None
    assert kept.find("revenue in 2025", owner="", today=later) is not None


def test_a_model_may_go_by_what_the_same_person_accepted_and_still_means_the_same(
    tmp_path: Path,
) -> None:
    kept = AcceptedAnswers(Folder(tmp_path))
    for owner, question in (("ann", "revenue in 2025"), ("ann", "last month"), ("bob", "mine")):
        kept.accept(question, "SELECT 1", owner=owner, today=TODAY)
    later = date(2026, 12, 1)
    assert len(kept.examples(owner="ann", today=TODAY)) == 2
    assert kept.examples(owner="ann", today=later) == [Example("revenue in 2025", "SELECT 1")]
    assert kept.examples(owner="", today=later) == []


def test_a_damaged_file_is_as_if_there_was_none(tmp_path: Path) -> None:
    kept = AcceptedAnswers(Folder(tmp_path))
    kept.accept("revenue", "SELECT 1", owner="", today=TODAY)
    for path in tmp_path.glob("*.accepted"):
        path.write_text("{")
    assert kept.find("revenue", owner="", today=TODAY) is None
    assert kept.examples(owner="", today=TODAY) == []
