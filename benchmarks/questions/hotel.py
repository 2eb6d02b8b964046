"""A chain of hotels in DuckDB: the schema that is held out. Names run together, as in C#."""

from __future__ import annotations

import random
from datetime import date, timedelta

import duckdb

__all__ = ["DDL", "hotel"]

DDL = """
create table Hotel (
    HotelId integer primary key, HotelName varchar not null, City varchar not null,
    Country varchar not null, Stars integer not null);
create table Room (
    RoomId integer primary key, HotelId integer not null references Hotel,
    RoomType varchar not null, NightlyRate decimal(8, 2) not null, Beds integer not null);
create table Guest (
    GuestId integer primary key, FullName varchar not null, Nationality varchar not null,
    BirthDate date, LoyaltyLevel varchar);
create table Booking (
    BookingId integer primary key, GuestId integer not null references Guest,
    RoomId integer not null references Room, BookedOn date not null, CheckIn date not null,
    CheckOut date not null, Nights integer not null, TotalPrice decimal(10, 2) not null,
    Source varchar not null, Status varchar not null);
create table Review (
    ReviewId integer primary key, BookingId integer not null references Booking,
    Score integer not null, Posted date not null);
"""
_PLACES = (
    ("Lisbon", "Portugal"),
    ("Porto", "Portugal"),
    ("Madrid", "Spain"),
    ("Vienna", "Austria"),
    ("Ghent", "Belgium"),
    ("Bruges", "Belgium"),
    ("Salzburg", "Austria"),
)
_NAMES = ("Astoria", "Bristol", "Central", "Dom", "Europa", "Flora", "Garden Palace", "Imperial")
_NATIONS = ("Germany", "France", "Belgium", "Spain", "Austria", "Denmark", "Ireland")


def hotel() -> duckdb.DuckDBPyConnection:
    """The same rows each time; some guests never booked, one hotel has no booking in 2026."""
    rng = random.Random(11)  # noqa: S311
    con = duckdb.connect()
    con.execute(DDL)
    hotels = [
        (key, f"Hotel {name}", *_PLACES[(key * 3) % len(_PLACES)], 2 + key % 4)
        for key, name in enumerate(_NAMES, 1)
    ]
    rooms: list[tuple[object, ...]] = []
    for key in range(1, 91):
        kind, rate, beds = rng.choice(
            (("Single", 80, 1), ("Double", 120, 2), ("Double", 130, 2), ("Suite", 240, 3))
        )
        rooms.append((key, 1 + key % len(hotels), kind, rate + rng.randrange(4000) / 100, beds))
    guests = [
        (
            key,
            f"{rng.choice(('Ada', 'Bo', 'Cleo', 'Dirk', 'Elin', 'Finn'))} Guest{key}",
            rng.choice(_NATIONS),
            date(1950, 1, 1) + timedelta(days=rng.randrange(18000)),
            rng.choice(("none", "silver", "gold", "platinum")),
        )
        for key in range(1, 121)
    ]
    bookings: list[tuple[object, ...]] = []
    reviews: list[tuple[object, ...]] = []
    for key in range(1, 501):
        room = rng.randint(1, 90)
        booked = date(2024, 11, 6) + timedelta(days=rng.randrange(730))
        if room % len(hotels) == 4 and booked.year == 2026:
            booked = booked.replace(year=2025)
        nights = rng.randint(1, 9)
        arrives = booked + timedelta(days=rng.randint(1, 60))
        bookings.append(
            (
                key,
                min(int(rng.expovariate(1 / 35)) + 1, 112),
                room,
                booked,
                arrives,
                arrives + timedelta(days=nights),
                nights,
                nights * rng.randrange(7000, 30000) / 100,
                rng.choice(("website", "agency", "agency", "phone")),
                rng.choice(("confirmed", "confirmed", "confirmed", "cancelled", "no show")),
            )
        )
        if rng.random() < 0.5:
            posted = arrives + timedelta(days=nights + rng.randint(0, 20))
            reviews.append((len(reviews) + 1, key, rng.randint(1, 5), posted))
    for table, rows in (
        ("Hotel", hotels),
        ("Room", rooms),
        ("Guest", guests),
        ("Booking", bookings),
        ("Review", reviews),
    ):
        marks = ", ".join(f"({', '.join('?' * len(rows[0]))})" for _ in rows)
        con.execute(f"insert into {table} values {marks}", [cell for row in rows for cell in row])
    return con
