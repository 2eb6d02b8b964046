"""Values of each engine, as its SQL writes them, and the text each has to become."""

from __future__ import annotations

DUCKDB = {
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
    # times are as DuckDB writes them
    "TIMESTAMP '2026-01-02 03:04:05'": "2026-01-02 03:04:05",
    "TIMESTAMP '2026-01-02 03:04:05.120001'": "2026-01-02 03:04:05.120001",
    "TIMESTAMP_NS '2026-01-02 03:04:05.120001001'": "2026-01-02 03:04:05.120001001",
    "TIMESTAMP_MS '2026-01-02 03:04:05.12'": "2026-01-02 03:04:05.12",
    "TIMESTAMP_S '2026-01-02 03:04:05'": "2026-01-02 03:04:05",
    "TIMESTAMPTZ '2026-01-02 03:04:05+02'": "2026-01-02 01:04:05+00",
    "'infinity'::TIMESTAMP": "infinity",
    "TIMESTAMP '0044-03-15 (BC) 10:00:00'": "0044-03-15 (BC) 10:00:00",
    "TIME '03:04:05.5'": "03:04:05.5",
    "TIME '24:00'": "24:00:00",
    "TIMETZ '24:00:00+15:59:59'": "24:00:00+15:59:59",
    "'infinity'::TIMESTAMP_S": "infinity",
    # what Arrow has no room for
    "INTERVAL '300 years' + INTERVAL '3000000 hours'": "300 years 3000000:00:00",
    "MAP {}": "{}",
    "ROW(1, 'x')": "(1, x)",
    "{'a': 1}::VARIANT": "{'a': 1}",
    "'POINT(1 2)'::GEOMETRY": "POINT (1 2)",
    "-123456789012345678901234567890123456789012345::BIGNUM": (
        "-123456789012345678901234567890123456789012345"
    ),
    "DATE '2026-01-02'": "2026-01-02",
    "'-infinity'::DATE": "-infinity",
}

SQLITE = {
    # D10: nothing is rounded
    "9007199254740993": "9007199254740993",
    "9223372036854775807": "9223372036854775807",
    "-9223372036854775807 - 1": "-9223372036854775808",
    "0.1 + 0.2": "0.30000000000000004",
    "12.0": "12.0",
    "1e22": "1e+22",
    """'{"id": 9007199254740993}'""": '{"id": 9007199254740993}',
    "json_extract('{\"id\": 9007199254740993}', '$.id')": "9007199254740993",
    # D11: what has no JSON form has a text form
    "1e999": "inf",
    "-1e999": "-inf",
    "x'dead00'": "x'dead00'",
    "x''": "x''",
    "''": "",
    "NULL": None,
    "'a' || char(10) || '\u2603'": "a\n\u2603",
    # a text that is no Unicode costs a cell, and shows what is there
    "CAST(x'ff41' AS TEXT)": "\\xffA",
    "1 = 1": "1",
    "date('2026-01-02', '+1 month')": "2026-02-02",
}

POSTGRES = {
    # D10: nothing is rounded
    "9007199254740993": "9007199254740993",
    "9223372036854775807": "9223372036854775807",
    "(-9223372036854775808)::bigint": "-9223372036854775808",
    "1e40::numeric + 1": "10000000000000000000000000000000000000001",
    "1.50::numeric(38, 10)": "1.5000000000",
    """'{"id": 9007199254740993}'::json""": '{"id": 9007199254740993}',
    """'{"id": 12345678901234567890.123}'::jsonb""": '{"id": 12345678901234567890.123}',
    "0.1::real": "0.1",
    "0.1::float8 + 0.2::float8": "0.30000000000000004",
    # D11: what has no JSON form has a text form
    "'NaN'::float8": "nan",
    "'-Infinity'::float8": "-inf",
    "'NaN'::numeric": "NaN",
    "'Infinity'::numeric": "Infinity",
    "'\\xdead00'::bytea": "dead00",
    "''::bytea": "",
    "'00000000-0000-0000-0000-00000000000a'::uuid": "00000000-0000-0000-0000-00000000000a",
    "interval '1 month 2 days 3 seconds'": "1 mon 2 days 00:00:03",
    "B'10110'": "10110",
    "ARRAY[1, NULL, 3]": "{1,NULL,3}",
    "ROW(1, 'x')": "(1,x)",
    "int4range(1, 5)": "[1,5)",
    "point(1, 2)": "(1,2)",
    "'10.0.0.1/8'::inet": "10.0.0.1/8",
    "NULL": None,
    "true": "true",
    # times have all their digits, and the years they have
    "timestamp '2026-01-02 03:04:05.120001'": "2026-01-02 03:04:05.120001",
    "timestamptz '2026-01-02 03:04:05+02'": "2026-01-02 01:04:05+00",
    "'infinity'::timestamp": "infinity",
    "timestamp '0044-03-15 10:00:00 BC'": "0044-03-15 10:00:00 BC",
    "date '12026-01-02'": "12026-01-02",
    "time '24:00'": "24:00:00",
    "timetz '03:04:05+02'": "03:04:05+02",
}

MARIADB = {
    # D10: nothing is rounded
    "9007199254740993": "9007199254740993",
    "9223372036854775807": "9223372036854775807",
    "-9223372036854775807 - 1": "-9223372036854775808",
    "cast(18446744073709551615 AS unsigned)": "18446744073709551615",
    "99999999999999999999999999999999999.123456789012345678901234567890": (
        "99999999999999999999999999999999999.123456789012345678901234567890"
    ),
    "1.50": "1.50",
    """'{"id": 9007199254740993}'""": '{"id": 9007199254740993}',
    """json_extract('{"id": 9007199254740993}', '$.id')""": "9007199254740993",
    "0.1e0 + 0.2e0": "0.30000000000000004",
    # D11: what has no JSON form has a text form
    "x'dead00'": "dead00",
    "_binary ''": "",
    "b'10110' + 0": "22",
    "cast('00000000-0000-0000-0000-00000000000a' AS uuid)": "00000000-0000-0000-0000-00000000000a",
    "NULL": None,
    "true": "1",
    "concat('a', char(10 USING utf8mb4), '\u2603')": "a\n\u2603",
    "point(1, 2.5)": "POINT(1 2.5)",
    "st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))', 4326)": "SRID=4326;POLYGON((0 0,1 0,1 1,0 0))",
    "st_geomfromtext('GEOMETRYCOLLECTION(MULTIPOINT(1 2,3 4),LINESTRING(0 0,9 9))')": (
        "GEOMETRYCOLLECTION(MULTIPOINT((1 2),(3 4)),LINESTRING(0 0,9 9))"
    ),
    # times have all their digits, and whatever the server can hold
    "cast('-838:59:59.999999' AS time(6))": "-838:59:59.999999",
    "timestamp '2026-01-02 03:04:05.120001'": "2026-01-02 03:04:05.120001",
    "date '0001-01-01'": "0001-01-01",
    "date '9999-12-31'": "9999-12-31",
    "cast('0000-00-00' AS date)": "0000-00-00",
}
"""On MariaDB; `test_mariadb_values` has what only a column can hold."""

SQLALCHEMY = {
    **{sql: text for sql, text in SQLITE.items() if sql not in ("1e999", "-1e999")},
    "1e999": "inf",
}
"""SQLite, through SQLAlchemy and Python's own driver."""

VALUES = {
    "duckdb": DUCKDB,
    "sqlite": SQLITE,
    "postgres": POSTGRES,
    "mariadb": MARIADB,
    "sqlalchemy": SQLALCHEMY,
}

TYPES = {
    "duckdb": (
        "SELECT 1::HUGEINT, 1.5::DECIMAL(38, 10), [1], NULL, 'a'::ENUM('a')",
        ["HUGEINT", "DECIMAL(38,10)", "INTEGER[]", "NULL", "ENUM('a')"],
    ),
    "sqlite": (
        "SELECT amount, ordered_at, order_id + 1, amount * 1.5, 'a', NULL, x'00', "
        "iif(order_id % 2, order_id, 'odd') FROM orders LIMIT 9",
        ["DECIMAL(10,2)", "TIMESTAMP", "INTEGER", "REAL", "TEXT", "NULL", "BLOB", "ANY"],
    ),
    "postgres": (
        "SELECT amount, ordered_at, order_id, 1, 1.5, 'a', NULL, ARRAY[1], 'x'::varchar(9) "
        "FROM orders LIMIT 9",
        [
            *("NUMERIC(10,2)", "TIMESTAMP WITHOUT TIME ZONE", "BIGINT", "INTEGER", "NUMERIC"),
            *("TEXT", "TEXT", "INTEGER[]", "CHARACTER VARYING(9)"),
        ],
    ),
    "mariadb": (
        "SELECT amount, ordered_at, order_id, 1, 1.5, 1e0, 'a', NULL, channel, x'00', "
        "cast(1 AS unsigned), date '2026-01-02', customer_id FROM orders LIMIT 9",
        [
            *("DECIMAL(10,2)", "DATETIME", "BIGINT", "INT", "DECIMAL(2,1)", "DOUBLE"),
            *("VARCHAR(1)", "NULL", "VARCHAR(99)", "VARBINARY(1)", "INT UNSIGNED", "DATE", "INT"),
        ],
    ),
    "sqlalchemy": (
        "SELECT order_id, amount * 1.5, channel, NULL, x'00' FROM orders LIMIT 9",
        ["INTEGER", "DOUBLE", "TEXT", "NULL", "BLOB"],
    ),
}
"""Typed columns of each engine, and what their types are called."""
