"""A question as tokens, and names taken apart."""

from __future__ import annotations

import pytest

from awhile.ask.schema import Table, TableColumn
from awhile.ask.translators.marks import ValueSense
from awhile.ask.translators.names import hidden_words
from awhile.ask.translators.values import Values
from awhile.ask.translators.words import distance_within, split_name, stem, tokenise


@pytest.mark.parametrize(
    ("text", "norms"),
    [
        ("What's the total?", ["what", "is", "the", "total"]),
        ("customers who haven't ordered", ["customers", "who", "have", "not", "ordered"]),
        ("customer's best-selling", ["customer", "best", "selling"]),
        ("over $1,250.50 or 2k", ["over", "1250.50", "or", "2k"]),
        ("order_lines", ["order", "lines"]),
        ("Coffee & Tea", ["coffee", "and", "tea"]),
        ("price >= 10", ["price", ">=", "10"]),
        ("on 2025-03-04", ["on", "2025-03-04"]),
    ],
)
def test_a_question_becomes_lower_case_words(text: str, norms: list[str]) -> None:
    assert [token.norm for token in tokenise(text)] == norms


def test_quotes_keep_their_text_in_one_piece() -> None:
    tokens = tokenise('customers named "O\'Neil; DROP"')
    assert tokens[-1].quoted
    assert tokens[-1].text == "O'Neil; DROP"


def test_places_point_into_the_question() -> None:
    question = "Top\t10  products, please"
    assert [question[each.start : each.end] for each in tokenise(question)] == [
        "Top",
        "10",
        "products",
        ",",
        "please",
    ]


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("orders", "order"),
        ("categories", "category"),
        ("boxes", "box"),
        ("status", "status"),
        ("people", "person"),
        ("prices", "price"),
        ("business", "business"),
    ],
)
def test_plural_and_singular_share_a_stem(plural: str, one: str) -> None:
    assert stem(plural) == stem(one) == one


def test_identifiers_split_at_underscores_and_capitals() -> None:
    assert split_name("orderLines_v2") == ("order", "lines", "v2")
    assert split_name("HTTPStatus") == ("http", "status")


def test_a_swapped_pair_of_letters_is_one_mistake() -> None:
    assert distance_within("germnay", "germany", 1) == 1
    assert distance_within("germany", "germany", 1) == 0
    assert distance_within("france", "germany", 2) is None


def test_run_together_names_are_taken_apart_into_known_words() -> None:
    table = Table(
        "sbCustomer",
        tuple(TableColumn(name, "VARCHAR") for name in ("sbCustId", "sbcustcountry", "sbCustName")),
    )
    assert hidden_words(table) == {
        "sbCustId": ("id",),
        "sbcustcountry": ("country",),
        "sbCustName": ("name",),
    }


def test_a_name_that_is_not_all_known_words_stays_whole() -> None:
    table = Table("t", (TableColumn("qtyzzz", "INTEGER"),))
    assert hidden_words(table) == {}


@pytest.mark.parametrize(
    "value",
    [
        "Germany",
        "Joe’s Pizza",
        "Joe's Pizza Place",
        "5.5 inch pipes",
        "1,000 Islands",
        "x; DROP TABLE y",
        "don't know",
        "CX-5",
        "(unknown)",
        "E-Class 2",
        "series A",
        "Müller & Söhne",
        "first line",
        "A.B. Corp",
    ],
)
def test_every_value_is_found_by_its_own_words(value: str) -> None:
    values = Values()
    values.add_all("t", "c", [value, "other thing"])
    phrase = tuple(token.stem for token in tokenise(value))
    assert values.get(phrase) == (ValueSense("t", "c", value),)
