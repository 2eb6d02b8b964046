"""Any value of any type, as each engine's SQL writes it, and the text the engine has for it."""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import apsw
import duckdb
import psycopg
from hypothesis import strategies as some

from tests.contract.engines.mariadb import asked

Expressions = some.SearchStrategy[str]


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def cast(kind: str) -> Callable[[object], str]:
    return lambda value: f"CAST({quoted(str(value))} AS {kind})"


def whole(bits: int, *, signed: bool = True) -> some.SearchStrategy[int]:
    """Mostly the edges, where digits are lost."""
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    edges = [low, high, min(2**53 + 1, high), 0]
    return some.one_of(some.sampled_from(edges), some.integers(low, high))


TEXT = some.one_of(
    some.text(some.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8),
    some.sampled_from(
        ["", " ", "NULL", "nan", "=1+1", 'a"b', "a,b", "a\r\nb", "<r>x</r>", "_x0041_", "007", "☃"]
    ),
)
FLOATS = some.one_of(
    some.floats(), some.sampled_from([-0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 1e22])
)
JSON = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(-(10**30), 10**30), TEXT),
    lambda inner: some.one_of(
        some.lists(inner, max_size=2), some.dictionaries(some.sampled_from("ab"), inner)
    ),
    max_leaves=3,
).map(lambda value: json.dumps(value, ensure_ascii=False))
CLOCK = some.times().map(lambda time: time.isoformat("microseconds"))
ZONE = some.tuples(some.sampled_from("+-"), some.integers(0, 15), some.integers(0, 59)).map(
    lambda zone: f"{zone[0]}{zone[1]:02}:{zone[2]:02}"
)
TIMES = some.one_of(CLOCK, some.sampled_from(["24:00:00", "00:00:00"]))
MICROSECONDS = some.one_of(
    some.integers(-(2**55), 2**55), some.integers(-(2**61), 2**61), some.sampled_from([0, -1])
)
BITS = some.text("01", min_size=1, max_size=12)
BYTES = some.binary(max_size=6)
PARTS = some.tuples(
    some.integers(-(10**7), 10**7), some.integers(-(10**7), 10**7), some.integers(-(2**55), 2**55)
)


def _decimals(digits: int, places: int) -> some.SearchStrategy[str]:
    return some.integers(-(10**digits) + 1, 10**digits - 1).map(
        lambda unscaled: (
            f"{'-' * (unscaled < 0)}{abs(unscaled) // 10**places}."
            f"{abs(unscaled) % 10**places:0{places}}"
        )
    )


def _or_null(values: Expressions) -> Expressions:
    return some.one_of(values, some.just("NULL"))


def _listed(values: Expressions) -> Expressions:
    return some.lists(_or_null(values), max_size=3).map(lambda cells: f"[{', '.join(cells)}]")


_INT = some.integers(-5, 5).map(str)
_WORD = TEXT.map(quoted)

DUCKDB: Mapping[str, Expressions] = {
    "BOOLEAN": some.sampled_from(["true", "false"]),
    **{
        name: whole(bits, signed=name[0] != "U").map(cast(name))
        for name, bits in {
            "TINYINT": 8, "USMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "UBIGINT": 64,
            "HUGEINT": 128, "UHUGEINT": 128,
        }.items()
    },
    "BIGNUM": some.integers(-(10**60), 10**60).map(cast("BIGNUM")),
    "DECIMAL(38,10)": _decimals(38, 10).map(cast("DECIMAL(38, 10)")),
    "DECIMAL(4,2)": _decimals(4, 2).map(cast("DECIMAL(4, 2)")),
    "DOUBLE": FLOATS.map(repr).map(cast("DOUBLE")),
    "FLOAT": some.floats(width=32).map(repr).map(cast("FLOAT")),
    "VARCHAR": some.one_of(_WORD, some.just("'a' || chr(0) || 'b'")),
    "BLOB": BYTES.map(lambda b: "'" + "".join(f"\\x{one:02X}" for one in b) + "'::BLOB"),
    "DATE": some.one_of(
        some.integers(-2_000_000_000, 2_000_000_000).map(lambda n: f"DATE '1970-01-01' + ({n})"),
        some.sampled_from(["'infinity'::DATE", "'-infinity'::DATE", "DATE '0001-01-01 (BC)'"]),
    ),
    "TIME": TIMES.map(cast("TIME")),
    "TIME_NS": CLOCK.map(lambda clock: cast("TIME_NS")(f"{clock}789")),
    "TIME WITH TIME ZONE": some.tuples(TIMES, ZONE).map("".join).map(cast("TIMETZ")),
    **{
        kind: some.one_of(
            MICROSECONDS.map(lambda n, kind=kind: f"make_timestamp({n})::{kind}"),
            some.sampled_from([f"'infinity'::{kind}", f"'-infinity'::{kind}"]),
        )
        for kind in ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS")
    },
    "TIMESTAMP_NS": some.one_of(
        some.integers(-(2**62), 2**62).map(lambda n: f"make_timestamp_ns({n})"),
        some.just("'infinity'::TIMESTAMP_NS"),
    ),
    "TIMESTAMP WITH TIME ZONE": MICROSECONDS.map(lambda n: f"make_timestamptz({n})"),
    "INTERVAL": PARTS.map(
        lambda part: f"to_months({part[0]}) + to_days({part[1]}) + to_microseconds({part[2]})"
    ),
    "UUID": some.uuids().map(cast("UUID")),
    "BIT": BITS.map(cast("BIT")),
    "JSON": JSON.map(cast("JSON")),
    "ENUM('a', 'b c')": some.sampled_from(["a", "b c"]).map(cast("ENUM('a', 'b c')")),
    "INTEGER[]": _listed(_INT).map(lambda cells: f"{cells}::INTEGER[]"),
    "VARCHAR[]": _listed(_WORD).map(lambda cells: f"{cells}::VARCHAR[]"),
    "INTEGER[][]": _listed(_listed(_INT)).map(lambda cells: f"{cells}::INTEGER[][]"),
    "INTEGER[2]": some.tuples(_INT, _or_null(_INT)).map(lambda p: f"[{p[0]}, {p[1]}]::INTEGER[2]"),
    "STRUCT(a DOUBLE, b VARCHAR[])": some.tuples(
        FLOATS.map(repr).map(cast("DOUBLE")), _listed(_WORD)
    ).map(lambda part: f"{{'a': {part[0]}, 'b': {part[1]}::VARCHAR[]}}"),
    "STRUCT(h HUGEINT)": whole(128).map(lambda n: f"{{'h': {cast('HUGEINT')(n)}}}"),
    "MAP(VARCHAR, INTEGER)": some.tuples(_WORD, _or_null(_INT)).map(
        lambda entry: f"MAP {{{entry[0]}: {entry[1]}::INTEGER}}"
    ),
    "UNION(n INTEGER, s VARCHAR)": _WORD.map(lambda word: f"{word}::UNION(n INTEGER, s VARCHAR)"),
    "INTERVAL[]": PARTS.map(lambda part: f"[to_months({part[0]}) + to_days({part[1]})]"),
}  # fmt: skip

POSTGRES: Mapping[str, Expressions] = {
    "boolean": some.sampled_from(["true", "false"]),
    "smallint": whole(16).map(cast("smallint")),
    "integer": whole(32).map(cast("integer")),
    "bigint": whole(64).map(cast("bigint")),
    "numeric": some.one_of(
        some.decimals(allow_nan=False, allow_infinity=False).map(str),
        some.integers(-(10**60), 10**60).map(str),
        some.sampled_from(["NaN", "Infinity", "-Infinity", "1e-50", "0.000"]),
    ).map(cast("numeric")),
    "numeric(12,2)": _decimals(12, 2).map(cast("numeric(12, 2)")),
    "real": some.floats(width=32, allow_subnormal=False).map(repr).map(cast("real")),
    "double precision": FLOATS.map(repr).map(cast("double precision")),
    "text": _WORD.map(lambda word: f"{word}::text"),
    "bytea": BYTES.map(lambda b: f"'\\x{b.hex()}'::bytea"),
    "date": some.one_of(
        some.integers(-2_440_000, 2_145_000_000).map(lambda n: f"date '1970-01-01' + ({n})"),
        some.sampled_from(["'infinity'::date", "'-infinity'::date", "date '0001-01-01 BC'"]),
    ),
    "time without time zone": TIMES.map(cast("time")),
    "time with time zone": some.tuples(TIMES, ZONE).map("".join).map(cast("timetz")),
    **{
        kind: some.one_of(
            some.integers(-(2**57), 2**62).map(
                lambda us, kind=kind: (
                    f"'1970-01-01 00:00:00'::{kind} + '{us} microseconds'::interval"
                )
            ),
            some.sampled_from([f"'infinity'::{kind}", f"'-infinity'::{kind}"]),
        )
        for kind in ("timestamp", "timestamptz")
    },
    "interval": PARTS.map(
        lambda part: f"'{part[0]} months {part[1]} days {part[2]} microseconds'::interval"
    ),
    "uuid": some.uuids().map(cast("uuid")),
    "jsonb": JSON.filter(lambda text: "\\u0000" not in text).map(cast("jsonb")),
    "json": JSON.map(cast("json")),
    "integer[]": some.lists(_or_null(_INT), max_size=3).map(
        lambda cells: f"ARRAY[{', '.join(cells)}]::integer[]"
    ),
    "text[]": some.lists(_or_null(_WORD), max_size=3).map(
        lambda cells: f"ARRAY[{', '.join(cells)}]::text[]"
    ),
    "bit varying": BITS.map(cast("bit varying")),
    "numrange": some.tuples(_INT, some.integers(0, 5)).map(
        lambda part: f"numrange({part[0]}, {part[0]} + {part[1]})"
    ),
    "record": some.tuples(_INT, _WORD).map(lambda part: f"ROW({part[0]}, {part[1]}::text, NULL)"),
    "point": some.tuples(_INT, _INT).map(lambda at: f"point({at[0]}, {at[1]})"),
    "inet": some.ip_addresses().map(cast("inet")),
}

_SQLITE = {
    "integer": whole(64).map(lambda n: "-9223372036854775807 - 1" if n == -(2**63) else str(n)),
    # Written as a text by SQLite, -0.0 is 0.0.
    "real": some.floats(allow_nan=False)
    .filter(lambda x: repr(x) != "-0.0")
    .map(lambda x: repr(x) if x - x == 0 else ("-9e999" if x < 0 else "9e999")),
    "text": some.one_of(_WORD, some.just("'a' || char(0) || 'b'")),
    "no unicode": BYTES.map(lambda b: f"CAST(x'{b.hex()}' AS TEXT)"),
    "blob": BYTES.map(lambda b: f"x'{b.hex()}'"),
}
SQLITE: Mapping[str, Expressions] = {**_SQLITE, "any": some.one_of(*_SQLITE.values())}

MARIADB: Mapping[str, Expressions] = {
    "bigint": whole(64).map(cast("signed")),
    "bigint unsigned": whole(64, signed=False).map(cast("unsigned")),
    "decimal(65,30)": _decimals(65, 30).map(cast("decimal(65, 30)")),
    "double": FLOATS.filter(lambda x: x - x == 0).map(repr).map(cast("double")),
    "text": TEXT.map(lambda text: quoted(text.replace("\\", "\\\\"))),
    "binary": BYTES.map(lambda b: f"x'{b.hex()}'"),
    "date": some.dates().map(cast("date")),
    "datetime(6)": some.datetimes().map(cast("datetime(6)")),
    "time(6)": some.tuples(some.sampled_from(["", "-"]), some.integers(0, 838), CLOCK).map(
        lambda part: cast("time(6)")(f"{part[0]}{part[1]}{part[2][2:]}")
    ),
    "uuid": some.uuids().map(cast("uuid")),
}

TYPES = {"duckdb": DUCKDB, "mariadb": MARIADB, "postgres": POSTGRES, "sqlite": SQLITE}

Rows = list[tuple[str | None, ...]]


def selected(rows: Sequence[Sequence[str]]) -> str:
    """The rows of these expressions, in their order."""
    return " UNION ALL ".join(f"SELECT {', '.join(row)}" for row in rows)


def texts_of(engine: str, database: str, rows: Sequence[Sequence[str]]) -> Rows:
    """What the engine itself writes for the values, asked without ours."""
    match engine:
        case "duckdb":
            return _by_duckdb(rows)
        case "mariadb":
            return _by_mariadb(database, rows)
        case "postgres":
            return _by_postgres(database, rows)
        case _:
            return _by_sqlite(rows)


def _by_duckdb(rows: Sequence[Sequence[str]]) -> Rows:
    cells = [
        [f"lower(hex({one}))" if kind == "BLOB" else f"({one})::VARCHAR" for one, kind in pairs]
        for pairs in (zip(row, DUCKDB, strict=True) for row in rows)
    ]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.sql(selected(cells)).fetchall()


def _by_mariadb(database: str, rows: Sequence[Sequence[str]]) -> Rows:
    # Cast to a text, a double loses the end of its exponent (10.11): '...7e-3' for '...7e-308'.
    written = {"binary": "lower(hex({}))", "double": "{}"}
    cells = [
        [written.get(kind, "CAST({} AS char)").format(one) for one, kind in pairs]
        for pairs in (zip(row, MARIADB, strict=True) for row in rows)
    ]
    return [
        tuple(repr(cell) if isinstance(cell, float) else cell for cell in row)
        for row in asked(database, selected(cells))
    ]


def _by_postgres(database: str, rows: Sequence[Sequence[str]]) -> Rows:
    # format() writes what a client would be sent, which a cast to text does not for all types.
    written = {"boolean": "({})::text", "bytea": "encode({}, 'hex')"}
    other = "CASE WHEN ({}) IS DISTINCT FROM NULL THEN format('%s', {}) END"
    cells = [
        [
            written.get(kind, other).replace("{}", one)
            for one, kind in zip(row, POSTGRES, strict=True)
        ]
        for row in rows
    ]
    with psycopg.connect(database) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET extra_float_digits = 1")
        return connection.execute(selected(cells).encode()).fetchall()


def _by_sqlite(rows: Sequence[Sequence[str]]) -> Rows:
    def text(kind: str, written: str | None, content: bytes) -> str | None:
        match kind:
            case "null":
                return None
            case "text":
                return content.decode(errors="backslashreplace")
            case "blob":
                return f"x'{content.hex()}'"
            case _:
                return written

    # quote() writes all digits of a number, which a cast to text does not.
    number = "CASE WHEN typeof({}) IN ('integer', 'real') THEN quote({}) END"
    cells = [
        [
            part
            for one in row
            for part in (
                f"typeof({one})",
                number.replace("{}", one),
                f"CAST({one} AS BLOB)",
            )
        ]
        for row in rows
    ]
    connection: Any = apsw.Connection(":memory:")
    found = [
        tuple(text(*row[at : at + 3]) for at in range(0, len(row), 3))
        for row in connection.execute(selected(cells))
    ]
    connection.close()
    return found


def is_float(engine: str, kind: str, text: str | None) -> bool:
    """Whether a text is of binary floating point: engines write the same value differently."""
    if text is None or engine == "duckdb":
        return False
    if engine in ("mariadb", "postgres"):
        return kind in ("double", "double precision", "real")
    return any(letter in text for letter in ".eEIN") and not set(text) - set(string.printable)
