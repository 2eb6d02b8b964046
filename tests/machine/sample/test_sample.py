"""The sample warehouse: reproducible, up to today, made whole or not at all."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import anyio
import duckdb
import psutil
import pytest

from awhile.ask.sample import ensure_sample
from awhile.errors import SettingsError

pytestmark = pytest.mark.anyio

TODAY = date(2026, 11, 29)
TABLES = ["customers", "products", "orders", "order_lines"]


def unheard(done: float, total: float | None, message: str | None) -> None:
    pass


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fingerprint(path: Path) -> list[object]:
    with duckdb.connect(path, read_only=True) as connection:
        return [
            connection.execute(f"SELECT count(*), bit_xor(hash(t)) FROM {table} AS t").fetchone()
            for table in TABLES
        ]


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    return anyio.run(ensure_sample, folder, "tiny", TODAY, unheard)


async def test_the_same_day_gives_the_same_rows(sample: Path, tmp_path: Path) -> None:
    again = await ensure_sample(tmp_path, "tiny", TODAY, unheard)
    assert fingerprint(again) == fingerprint(sample)


async def test_it_is_reused_on_its_day_and_replaced_on_the_next(tmp_path: Path) -> None:
    first = await ensure_sample(tmp_path, "tiny", TODAY, unheard)
    made = first.stat().st_mtime_ns
    assert await ensure_sample(tmp_path, "tiny", TODAY, unheard) == first
    assert first.stat().st_mtime_ns == made
    second = await ensure_sample(tmp_path, "tiny", TODAY + timedelta(days=1), unheard)
    assert names_in(tmp_path) == [second.name]


async def test_progress_counts_months(tmp_path: Path) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    def hear(done: float, total: float | None, message: str | None) -> None:
        heard.append((done, total, message))

    await ensure_sample(tmp_path, "tiny", TODAY, hear)
    assert (25, 25, "writing the file") in heard
    assert (24, 25, "orders of November 2026") in heard
    assert [done for done, _, _ in heard] == sorted(done for done, _, _ in heard)


async def test_a_cancelled_generation_leaves_nothing(tmp_path: Path) -> None:
    begun, before = anyio.Event(), set(psutil.Process().children())

    def hear(done: float, total: float | None, message: str | None) -> None:
        begun.set()

    async def make() -> None:
        await ensure_sample(tmp_path, "small", TODAY, hear)

    async with anyio.create_task_group() as group:
        group.start_soon(make)
        await begun.wait()
        group.cancel_scope.cancel()
    assert names_in(tmp_path) == []
    assert set(psutil.Process().children()) <= before


async def test_an_unknown_size_is_refused_with_the_choices(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="small, large"):
        await ensure_sample(tmp_path, "huge", TODAY, unheard)


def test_it_covers_two_years_up_to_today(sample: Path) -> None:
    [(first, last)] = rows(
        sample, "SELECT min(ordered_at)::DATE, max(ordered_at)::DATE FROM orders"
    )
    assert (first, last) == (date(2024, 11, 1), TODAY)


@pytest.mark.parametrize(
    "orphans",
    [
        "FROM orders ANTI JOIN customers USING (customer_id)",
        "FROM order_lines ANTI JOIN orders USING (order_id)",
        "FROM order_lines ANTI JOIN products USING (product_id)",
        "FROM orders ANTI JOIN order_lines USING (order_id)",
        "FROM orders JOIN customers USING (customer_id) WHERE ordered_at < joined_on",
        "FROM order_lines WHERE quantity < 1 OR unit_price <= 0",
        "SELECT order_id FROM order_lines GROUP BY order_id, line_number HAVING count(*) > 1",
        "SELECT order_id FROM order_lines GROUP BY order_id, product_id HAVING count(*) > 1",
        "SELECT order_id FROM orders GROUP BY order_id HAVING count(*) > 1",
        "FROM orders JOIN orders AS later ON later.order_id = orders.order_id + 1 "
        "WHERE later.ordered_at < orders.ordered_at",
    ],
)
def test_its_keys_and_times_hold(orphans: str, sample: Path) -> None:
    assert rows(sample, orphans) == []


def test_the_shop_grows(sample: Path) -> None:
    counted = rows(
        sample,
        "SELECT count(*) FROM orders WHERE ordered_at < '2026-11-01' "
        "GROUP BY ordered_at < '2025-11-01' ORDER BY ordered_at < '2025-11-01' DESC",
    )
    [(first,), (second,)] = counted
    assert isinstance(first, int)
    assert isinstance(second, int)
    assert second > 1.2 * first


def test_some_products_sell_far_better_than_others(sample: Path) -> None:
    [(top, middle)] = rows(
        sample,
        "SELECT max(n), median(n) FROM (SELECT count(*) AS n FROM order_lines GROUP BY product_id)",
    )
    assert isinstance(top, int)
    assert isinstance(middle, float)
    assert top > 5 * middle


async def test_its_keys_are_found_without_being_declared(sample: Path) -> None:
    from awhile.ask.engines.duckdb.engine import DuckDBEngine

    engine = DuckDBEngine(sample)
    await engine.open()
    schema = await engine.describe()
    await engine.close()
    lines, orders = schema.table("order_lines"), schema.table("orders")
    assert lines is not None
    assert orders is not None
    assert {(key.columns, key.table) for key in lines.foreign_keys} == {
        (("order_id",), "orders"),
        (("product_id",), "products"),
    }
    assert [key.table for key in orders.foreign_keys] == ["customers"]
    assert schema.notes == ()
