"""Every value, name and type survives the way to a page of text."""

from __future__ import annotations

import json

import pytest

from awhile.ask.results import page
from tests.contract.engines.conftest import Runner

pytestmark = pytest.mark.anyio

VALUES = {
    # D10: nothing is rounded
    "9007199254740993": "9007199254740993",
    "-9007199254740993::BIGINT": "-9007199254740993",
    "9223372036854775807": "9223372036854775807",
    "18446744073709551615::UBIGINT": "18446744073709551615",
    "170141183460469231731687303715884105727::HUGEINT": "170141183460469231731687303715884105727",
    "(-170141183460469231731687303715884105728)::HUGEINT": (
        "-170141183460469231731687303715884105728"
    ),
    "340282366920938463463374607431768211455::UHUGEINT": "340282366920938463463374607431768211455",
    "1234567890123456789012345678.0123456789::DECIMAL(38, 10)": (
        "1234567890123456789012345678.0123456789"
    ),
    "1.5::DECIMAL(38, 10)": "1.5000000000",
    """'{"id": 9007199254740993}'::JSON""": '{"id": 9007199254740993}',
    "[170141183460469231731687303715884105727::HUGEINT]": (
        "[170141183460469231731687303715884105727]"
    ),
    "0.1::FLOAT": "0.1",
    "0.1::DOUBLE + 0.2::DOUBLE": "0.30000000000000004",
    # D11: what has no JSON form has a text form
    "'nan'::DOUBLE": "nan",
    "'inf'::DOUBLE": "inf",
    "'-inf'::DOUBLE": "-inf",
    "'\\xDE\\xAD\\x00'::BLOB": "dead00",
    "UUID '00000000-0000-0000-0000-00000000000a'": "00000000-0000-0000-0000-00000000000a",
    "INTERVAL '1 month 2 days 3 seconds'": "1 month 2 days 00:00:03",
    "'10110'::BIT": "10110",
    "{'a': 1, 'b': ['x', NULL]}": "{'a': 1, 'b': [x, NULL]}",
    "MAP {'k': 1}": "{k=1}",
    "[1, 2]::INTEGER[2]": "[1, 2]",
    "union_value(k := 1)": "1",
    "'b'::ENUM('a', 'b')": "b",
    "NULL": None,
    "true": "true",
    # times have all the digits of their type
    "TIMESTAMP '2026-01-02 03:04:05'": "2026-01-02 03:04:05.000000",
    "TIMESTAMP '2026-01-02 03:04:05.120001'": "2026-01-02 03:04:05.120001",
    "TIMESTAMP_NS '2026-01-02 03:04:05.120001001'": "2026-01-02 03:04:05.120001001",
    "TIMESTAMP_MS '2026-01-02 03:04:05.12'": "2026-01-02 03:04:05.120",
    "TIMESTAMP_S '2026-01-02 03:04:05'": "2026-01-02 03:04:05",
    "TIMESTAMPTZ '2026-01-02 03:04:05+02'": "2026-01-02 01:04:05.000000+00",
    "'infinity'::TIMESTAMP": "infinity",
    "TIMESTAMP '0044-03-15 (BC) 10:00:00'": "0044-03-15 (BC) 10:00:00.000000",
    "TIME '03:04:05.5'": "03:04:05.500000",
    "DATE '2026-01-02'": "2026-01-02",
    "'-infinity'::DATE": "-infinity",
}


async def test_d10_d11_every_value_has_an_exact_text(runner: Runner) -> None:
    result = await runner.run("SELECT " + ", ".join(VALUES))
    got = page(result.path, 0, 1)
    assert dict(zip(VALUES, got.rows[0], strict=True)) == VALUES
    assert json.loads(json.dumps(got.rows, allow_nan=False)) == got.rows


async def test_the_declared_types_are_kept(runner: Runner) -> None:
    result = await runner.run("SELECT 1::HUGEINT, 1.5::DECIMAL(38, 10), [1], NULL, 'a'::ENUM('a')")
    types = ["HUGEINT", "DECIMAL(38,10)", "INTEGER[]", "NULL", "ENUM('a')"]
    assert [column.type for column in result.columns] == types
    assert page(result.path, 0, 1).columns == result.columns


@pytest.mark.parametrize(
    ("sql", "names", "row"),
    [
        ("SELECT 1 n, 2 n, 3 n_2", ["n", "n", "n_2"], ["1", "2", "3"]),
        ("SELECT 1 n, 2 N, 3 n", ["n", "N", "n"], ["1", "2", "3"]),
        ("SELECT 1 AS \"a b\", 2 AS \"'\", 3 AS \"\"\"\"", ["a b", "'", '"'], ["1", "2", "3"]),
        ("SELECT 1 AS file_row_number, 2 AS filename", ["file_row_number", "filename"], ["1", "2"]),
    ],
)  # fmt: skip
async def test_d12_columns_are_positional_and_keep_their_names(
    sql: str, names: list[str], row: list[str], runner: Runner
) -> None:
    result = await runner.run(sql)
    got = page(result.path, 0, 1)
    assert ([column.name for column in got.columns], got.rows) == (names, [row])
    assert page(result.path, 0, 1, (0, True)).rows == [row]


async def test_d9_a_truncated_result_says_so_on_every_page(runner: Runner) -> None:
    from awhile.ask.engines.contract import Budget

    result = await runner.run("SELECT order_id FROM orders", Budget(rows=500))
    got = page(result.path, 490, 100)
    assert (got.row_count, got.truncated, len(got.rows)) == (500, True, 10)
    assert page(result.path, 0, 1, (0, True)).truncated
