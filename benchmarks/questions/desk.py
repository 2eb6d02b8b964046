"""A support desk in DuckDB, whose tables and columns are named tersely and run together."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta

import duckdb

__all__ = ["DDL", "desk"]

DDL = """
create table cust (
    custid integer primary key, custname varchar not null, custcountry varchar not null,
    custtier varchar not null, signupdate date not null);
create table agt (
    agtid integer primary key, agtname varchar not null, agtteam varchar not null,
    hiredate date not null);
create table tkt (
    tktid integer primary key, custid integer not null references cust,
    agtid integer references agt, openedat timestamp not null, closedat timestamp,
    tktprty varchar not null, tktstat varchar not null, tktchannel varchar not null,
    satscore integer);
create table tktmsg (
    msgid integer primary key, tktid integer not null references tkt, sentat timestamp not null,
    msgfrom varchar not null, wordcnt integer not null);
"""
_BEGAN = datetime(2025, 1, 1)  # noqa: DTZ001 - a database's own time without a zone


def desk() -> duckdb.DuckDBPyConnection:
    """The same rows each time; some customers have no ticket, some tickets no agent."""
    rng = random.Random(5)  # noqa: S311
    con = duckdb.connect()
    con.execute(DDL)
    countries = ("Sweden", "Norway", "Denmark", "Finland", "Iceland")
    customers = [
        (
            key,
            f"Firma {key}",
            rng.choice(countries),
            rng.choice(("gold", "silver", "basic", "basic")),
            date(2025, 1, 1) + timedelta(days=rng.randrange(670)),
        )
        for key in range(1, 71)
    ]
    agents = [
        (
            key,
            f"{name} Berg",
            rng.choice(("first line", "second line", "billing")),
            date(2024, 6, 1) + timedelta(days=rng.randrange(800)),
        )
        for key, name in enumerate(("Alva", "Björn", "Carin", "Dag", "Ebba", "Frej", "Gun"), 1)
    ]
    tickets: list[tuple[object, ...]] = []
    messages: list[tuple[object, ...]] = []
    for key in range(1, 201):
        opened = _BEGAN + timedelta(minutes=rng.randrange(670 * 24 * 60))
        closed = opened + timedelta(hours=rng.randrange(1, 300)) if rng.random() < 0.8 else None
        agent = rng.randint(1, 7) if rng.random() < 0.93 else None
        score = rng.randint(1, 5) if closed and rng.random() < 0.7 else None
        tickets.append(
            (
                key,
                rng.randint(1, 62),
                agent,
                opened,
                closed,
                rng.choice(("low", "normal", "normal", "high")),
                "closed" if closed else rng.choice(("open", "waiting")),
                rng.choice(("email", "phone", "chat")),
                score,
            )
        )
        for _ in range(rng.randint(1, 5)):
            sent = opened + timedelta(minutes=rng.randrange(9000))
            sender = rng.choice(("agent", "customer"))
            messages.append((len(messages) + 1, key, sent, sender, rng.randint(3, 250)))
    for table, rows in (
        ("cust", customers),
        ("agt", agents),
        ("tkt", tickets),
        ("tktmsg", messages),
    ):
        marks = ", ".join(f"({', '.join('?' * len(rows[0]))})" for _ in rows)
        con.execute(f"insert into {table} values {marks}", [cell for row in rows for cell in row])
    return con
