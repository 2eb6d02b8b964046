"""A small shop in DuckDB, and its schema card: what the shop questions are asked about."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import duckdb

from awhile.ask.schema import ForeignKey, Schema, Table, TableColumn

TODAY = date(2026, 11, 5)

_CITIES = {
    "Germany": ("Berlin", "Hamburg", "Munich"),
    "France": ("Paris", "Lyon"),
    "Spain": ("Madrid", "Seville"),
    "Italy": ("Rome", "Milan"),
    "United Kingdom": ("London", "Leeds"),
    "Netherlands": ("Amsterdam",),
}
_PRODUCTS = (
    ("Wooden Train", "Toys", "34.90"),
    ("Teddy Bear", "Toys", "19.50"),
    ("Puzzle World Map", "Toys", "14.00"),
    ("Garden Hose", "Garden", "29.00"),
    ("Spade", "Garden", "24.75"),
    ("Lawn Mower", "Garden", "249.00"),
    ("Cookbook", "Books", "22.00"),
    ("Atlas", "Books", "45.00"),
    ("Crime Novel", "Books", "9.90"),
    ("Frying Pan", "Kitchen", "39.00"),
    ("Knife Set", "Kitchen", "119.00"),
    ("Headphones", "Electronics", "89.00"),
    ("Radio", "Electronics", "59.90"),
    ("Espresso Machine", "Kitchen", "329.00"),
)
_SEGMENTS = ("Consumer", "Business", "Public")
_CHANNELS = ("web", "store", "phone")
_STATUSES = ("delivered", "delivered", "delivered", "pending", "cancelled", "returned")
_FIRST = [
    "Anna",
    "Ben",
    "Clara",
    "David",
    "Emma",
    "Felix",
    "Greta",
    "Hugo",
    "Ida",
    "Jonas",
    "Karla",
    "Leo",
    "Mia",
    "Noah",
    "Olga",
]
_LAST = ["Adler", "Bauer", "Costa", "Dubois", "Evans", "Ferri", "Garcia", "Haas", "Ivers", "Jansen"]

DDL = """
create table customers (
    customer_id integer primary key, name varchar not null, country varchar not null,
    city varchar not null, segment varchar not null, joined_on date not null);
create table products (
    product_id integer primary key, name varchar not null, category varchar not null,
    unit_price decimal(10, 2) not null);
create table orders (
    order_id integer primary key, customer_id integer not null references customers,
    ordered_at timestamp not null, channel varchar not null, status varchar not null);
create table order_lines (
    order_id integer not null references orders, line_number integer not null,
    product_id integer not null references products, quantity integer not null,
    unit_price decimal(10, 2) not null, primary key (order_id, line_number));
"""


def shop() -> duckdb.DuckDBPyConnection:
    """The same few hundred rows each time; some customers never ordered, one product never sold."""
    rng = random.Random(7)
    con = duckdb.connect()
    con.execute(DDL)
    customers: list[tuple[object, ...]] = []
    for key in range(1, 61):
        country = rng.choice(tuple(_CITIES))
        customers.append(
            (
                key,
                f"{_FIRST[key % len(_FIRST)]} {_LAST[key % len(_LAST)]}-{key}",
                country,
                rng.choice(_CITIES[country]),
                rng.choices(_SEGMENTS, (6, 3, 1))[0],
                date(2024, 9, 1) + timedelta(days=rng.randrange(790)),
            )
        )
    products: list[tuple[object, ...]] = [(key, *each) for key, each in enumerate(_PRODUCTS, 1)]
    orders: list[tuple[object, ...]] = []
    lines: list[tuple[object, ...]] = []
    for key in range(1, 421):
        when = datetime(2024, 11, 6) + timedelta(minutes=rng.randrange(730 * 24 * 60))  # noqa: DTZ001
        buyer = min(int(rng.expovariate(1 / 16)) + 1, 53)
        status = rng.choice(_STATUSES)
        orders.append((key, buyer, when, rng.choices(_CHANNELS, (5, 3, 1))[0], status))
        for number in range(1, rng.randint(1, 5) + 1):
            product = rng.randint(1, 13)
            price = round(float(_PRODUCTS[product - 1][2]) * rng.choice((1, 1, 0.9)), 2)
            lines.append((key, number, product, rng.randint(1, 6), price))
    for table, rows in (
        ("customers", customers),
        ("products", products),
        ("orders", orders),
        ("order_lines", lines),
    ):
        # One statement a table: row by row it takes a second and a half.
        marks = ", ".join(f"({', '.join('?' * len(rows[0]))})" for _ in rows)
        con.execute(f"insert into {table} values {marks}", [cell for row in rows for cell in row])
    return con


def card(con: duckdb.DuckDBPyConnection) -> Schema:
    """The schema card of the shop, as an engine would give it."""
    keys: dict[str, tuple[tuple[str, ...], tuple[ForeignKey, ...]]] = {
        "customers": (("customer_id",), ()),
        "products": (("product_id",), ()),
        "orders": (
            ("order_id",),
            (ForeignKey(("customer_id",), "customers", ("customer_id",)),),
        ),
        "order_lines": (
            ("order_id", "line_number"),
            (
                ForeignKey(("order_id",), "orders", ("order_id",)),
                ForeignKey(("product_id",), "products", ("product_id",)),
            ),
        ),
    }
    return Schema(
        tuple(
            Table(name, _columns(con, name), *keys[name], _one(con, f"select count(*) from {name}"))
            for name in keys
        ),
        "shop",
    )


def _columns(con: duckdb.DuckDBPyConnection, table: str) -> tuple[TableColumn, ...]:
    found: list[TableColumn] = []
    for name, kind, *_ in con.execute(f"describe {table}").fetchall():
        values: tuple[str, ...] = ()
        if kind == "VARCHAR":
            sql = f"select distinct {name} from {table} order by 1 limit 30"
            values = tuple(row[0] for row in con.execute(sql).fetchall())
        count = _one(con, f"select count(distinct {name}) from {table}")
        found.append(TableColumn(name, kind, False, None, values, count))
    return tuple(found)


def _one(con: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = con.execute(sql).fetchone()
    assert row is not None
    return row[0]
