"""Which questions there are, on which databases, on which engines, and which are held out."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import duckdb

from benchmarks.questions import defog
from benchmarks.questions.asked import DATA, read
from benchmarks.questions.databases import on_duckdb, on_postgres, on_sqlite
from benchmarks.questions.desk import DDL as DESK
from benchmarks.questions.desk import desk
from benchmarks.questions.hotel import DDL as HOTEL
from benchmarks.questions.hotel import hotel
from benchmarks.questions.staff import DDL as STAFF
from benchmarks.questions.staff import staff
from tests.contract.translators.shop import DDL as SHOP
from tests.contract.translators.shop import shop

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from benchmarks.questions.asked import Question
    from benchmarks.questions.databases import Database
    from checks.postgres import Cluster

__all__ = ["ENGINES", "GROUPS", "Asked", "Engine", "sets"]

Engine = Literal["duckdb", "sqlite", "postgres"]
ENGINES: tuple[Engine, ...] = ("duckdb", "sqlite", "postgres")
GROUPS = ("shop", "desk", "staff", "hotel", "public")

_SHOP_VIEWS = (
    """create view line as
       select l.order_id, l.line_number, l.product_id, p.name as product, p.category,
              p.unit_price as list_price, l.quantity, l.unit_price,
              l.quantity * l.unit_price as amount, o.customer_id, c.name as customer, c.country,
              c.city, c.segment, c.joined_on, o.ordered_at, o.channel, o.status
       from order_lines l join orders o using (order_id) join products p using (product_id)
            join customers c using (customer_id)""",
    """create view value as
       select order_id, customer_id, customer, country, city, segment, ordered_at, channel,
              status, sum(amount) as amount, sum(quantity) as units, count(*) as lines
       from line group by all""",
)


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions on one database on one engine. `open` gives the database as long as it is used."""

    group: str
    name: str
    engine: Engine
    held_out: bool
    questions: tuple[Question, ...]
    open: Callable[[], AbstractContextManager[Database]]


def sets(cluster: Cluster | None) -> list[Asked]:
    """Every set; those on PostgreSQL only with a cluster to load them into."""
    engines: list[Engine] = ["duckdb", "sqlite", *(["postgres"] if cluster else [])]
    found = [
        Asked(
            group,
            f"{name}, held out" if held_out else name,
            engine,
            held_out,
            read(DATA / f"{group}_{'held_out' if held_out else 'development'}.yaml"),
            partial(_made, group, engine, cluster),
        )
        for group, name, held_out in OURS
        for engine in engines
    ]
    for base in defog.BASES:
        dialects: list[defog.Dialect] = ["sqlite", *(["postgres"] if cluster else [])]
        found += [
            Asked(
                "public",
                base,
                dialect,
                base in defog.HELD_OUT,
                defog.questions(base, dialect),
                partial(_public, base, dialect, cluster),
            )
            for dialect in dialects
        ]
    return found


@contextmanager
def _made(group: str, engine: Engine, cluster: Cluster | None) -> Generator[Database]:
    """One of our own databases; its golds are DuckDB's also where the engine is another."""
    make, ddl, views = MAKERS[group]
    with on_duckdb(make(), group, views) as gold:
        if engine == "duckdb":
            yield gold
            return
        tables = [each.name for each in gold.schema.tables]
        rows = {each: gold.rows(f"select * from {each} order by all") for each in tables}
        statements = [each for each in ddl.split(";") if each.strip()]
        if cluster and engine == "postgres":
            on = on_postgres(cluster, f"{group}_{secrets.token_hex(4)}", statements, rows, gold)
        else:
            on = on_sqlite(group, statements, rows, gold)
        with on as database:
            yield database


@contextmanager
def _public(base: str, engine: defog.Dialect, cluster: Cluster | None) -> Generator[Database]:
    made = defog.statements(base, engine)
    if cluster and engine == "postgres":
        on = on_postgres(cluster, base, made)
    else:
        on = on_sqlite(base, made)
    with on as database:
        yield database


OURS = (
    ("shop", "shop", False),
    ("shop", "shop", True),
    ("desk", "support desk", False),
    ("staff", "staff", False),
    ("hotel", "hotels", True),
)
"""Our own sets: the group, what it is called, and whether it is held out."""
MAKERS: dict[str, tuple[Callable[[], duckdb.DuckDBPyConnection], str, Sequence[str]]] = {
    "shop": (shop, SHOP, _SHOP_VIEWS),
    "desk": (desk, DESK, ()),
    "staff": (staff, STAFF, ()),
    "hotel": (hotel, HOTEL, ()),
}
