"""Which questions there are, on which databases, on which engines, and which are held out."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from benchmarks.questions import defog
from benchmarks.questions.asked import DATA, read
from benchmarks.questions.databases import on_duckdb, on_postgres, on_sqlite
from benchmarks.questions.desk import desk
from benchmarks.questions.hotel import hotel
from tests.contract.translators.shop import shop

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    from benchmarks.questions.asked import Question
    from benchmarks.questions.databases import Database
    from checks.postgres import Cluster

__all__ = ["GROUPS", "Asked", "Engine", "sets"]

Engine = Literal["duckdb", "sqlite", "postgres"]
GROUPS = ("shop", "desk", "hotel", "public")

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
    found = [
        Asked("shop", "shop", "duckdb", False, read(DATA / "shop_development.yaml"), _shop),
        Asked("shop", "shop, held out", "duckdb", True, read(DATA / "shop_held_out.yaml"), _shop),
        Asked("desk", "support desk", "duckdb", False, read(DATA / "desk_development.yaml"), _desk),
        Asked(
            "hotel", "hotels, held out", "duckdb", True, read(DATA / "hotel_held_out.yaml"), _hotel
        ),
    ]
    for base in defog.BASES:
        engines: list[defog.Dialect] = ["sqlite", *(["postgres"] if cluster else [])]
        for engine in engines:
            found.append(
                Asked(
                    "public",
                    base,
                    engine,
                    base in defog.HELD_OUT,
                    defog.questions(base, engine),
                    _public(base, engine, cluster),
                )
            )
    return found


@contextmanager
def _shop() -> Generator[Database]:
    with on_duckdb(shop(), "shop", _SHOP_VIEWS) as database:
        yield database


@contextmanager
def _desk() -> Generator[Database]:
    with on_duckdb(desk(), "desk") as database:
        yield database


@contextmanager
def _hotel() -> Generator[Database]:
    with on_duckdb(hotel(), "hotel") as database:
        yield database


def _public(
    base: str, engine: defog.Dialect, cluster: Cluster | None
) -> Callable[[], AbstractContextManager[Database]]:
    @contextmanager
    def opened() -> Generator[Database]:
        made = defog.statements(base, engine)
        on = (
            on_postgres(cluster, base, made)
            if cluster and engine == "postgres"
            else on_sqlite(base, made)
        )
        with on as database:
            yield database

    return opened
