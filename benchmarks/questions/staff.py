"""The staff of a company in DuckDB: people, what they work on, and when they are away."""

from __future__ import annotations

import random
from datetime import date, timedelta

import duckdb

__all__ = ["DDL", "staff"]

DDL = """
create table departments (
    department_id integer primary key, name varchar not null, location varchar not null,
    budget decimal(12, 2) not null);
create table employees (
    employee_id integer primary key, full_name varchar not null,
    department_id integer not null references departments, job_title varchar not null,
    salary decimal(10, 2) not null, hired_on date not null, left_on date,
    is_remote boolean not null, gender varchar not null, bonus decimal(10, 2));
create table projects (
    project_id integer primary key, project_name varchar not null,
    department_id integer not null references departments, status varchar not null,
    started_on date not null, finished_on date, budget decimal(12, 2) not null);
create table assignments (
    employee_id integer not null references employees,
    project_id integer not null references projects, role varchar not null,
    hours integer not null, primary key (employee_id, project_id));
create table absences (
    absence_id integer primary key, employee_id integer not null references employees,
    kind varchar not null, first_day date not null, days integer not null);
"""


def staff() -> duckdb.DuckDBPyConnection:
    """The same rows each time; some people work on nothing, some were never away."""
    rng = random.Random(3)  # noqa: S311
    con = duckdb.connect()
    con.execute(DDL)
    places = (
        ("Engineering", "Berlin"),
        ("Sales", "London"),
        ("Marketing", "Berlin"),
        ("Finance", "Paris"),
        ("Support", "London"),
        ("Legal", "Paris"),
    )
    departments = [
        (key, name, place, rng.randrange(100, 900) * 1000)
        for key, (name, place) in enumerate(places, 1)
    ]
    employees: list[tuple[object, ...]] = []
    for key in range(1, 121):
        hired = date(2015, 1, 1) + timedelta(days=rng.randrange(4200))
        left = hired + timedelta(days=rng.randrange(100, 1500)) if rng.random() < 0.25 else None
        first = rng.choice(("Anna", "Ben", "Carla", "Dave", "Emil", "Fay"))
        employees.append(
            (
                key,
                f"{first} Meyer{key}",
                rng.randint(1, 5),
                rng.choice(("Engineer", "Manager", "Analyst", "Assistant", "Director")),
                rng.randrange(30_000, 150_000),
                hired,
                left,
                rng.random() < 0.4,
                rng.choice(("female", "male")),
                rng.choice((None, 500, 1000, 2500)),
            )
        )
    projects: list[tuple[object, ...]] = []
    for key in range(1, 41):
        began = date(2022, 1, 1) + timedelta(days=rng.randrange(1700))
        ended = began + timedelta(days=rng.randrange(30, 300)) if rng.random() < 0.6 else None
        name = f"{rng.choice(('Atlas', 'Beacon', 'Comet', 'Delta', 'Echo'))} {key}"
        state = rng.choice(("active", "finished", "on hold"))
        budget = rng.randrange(5_000, 200_000)
        projects.append((key, name, rng.randint(1, 6), state, began, ended, budget))
    pairs = sorted({(rng.randint(1, 110), rng.randint(1, 37)) for _ in range(300)})
    assignments = [
        (*pair, rng.choice(("lead", "member", "advisor")), rng.randrange(5, 400)) for pair in pairs
    ]
    absences = [
        (
            key,
            rng.randint(1, 105),
            rng.choice(("sick", "vacation", "parental leave")),
            date(2024, 1, 1) + timedelta(days=rng.randrange(1030)),
            rng.randint(1, 20),
        )
        for key in range(1, 400)
    ]
    for table, rows in (
        ("departments", departments),
        ("employees", employees),
        ("projects", projects),
        ("assignments", assignments),
        ("absences", absences),
    ):
        marks = ", ".join(f"({', '.join('?' * len(rows[0]))})" for _ in rows)
        con.execute(f"insert into {table} values {marks}", [cell for row in rows for cell in row])
    return con
