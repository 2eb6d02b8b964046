"""Which SQL each of SQLAlchemy's dialects speaks, by SQLGlot's name, and who brings its driver."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.engine import URL
from sqlalchemy.exc import NoSuchModuleError

__all__ = ["check_driver", "sqlglot_name"]

_SPOKEN: Mapping[str, str] = {
    "awsathena": "athena",
    "bigquery": "bigquery",
    "clickhouse": "clickhouse",
    "clickhousedb": "clickhouse",
    "cockroachdb": "postgres",
    "databricks": "databricks",
    "doris": "doris",
    "dremio": "dremio",
    "drill": "drill",
    "druid": "druid",
    "exa": "exasol",
    "hive": "hive",
    "mariadb": "mysql",
    "mssql": "tsql",
    "mysql": "mysql",
    "oracle": "oracle",
    "presto": "presto",
    "redshift": "redshift",
    "risingwave": "risingwave",
    "snowflake": "snowflake",
    "spark": "spark",
    "sqlite": "sqlite",
    "starrocks": "starrocks",
    "teradatasql": "teradata",
    "trino": "trino",
}
_DIALECTS: Mapping[str, str] = {
    "awsathena": "'PyAthena[SQLAlchemy]'",
    "bigquery": "sqlalchemy-bigquery",
    "clickhouse": "clickhouse-sqlalchemy",
    "clickhousedb": "clickhouse-connect",
    "cockroachdb": "sqlalchemy-cockroachdb",
    "databricks": "databricks-sqlalchemy",
    "doris": "pydoris",
    "dremio": "sqlalchemy-dremio",
    "drill": "sqlalchemy-drill",
    "druid": "'pydruid[sqlalchemy]'",
    "exa": "sqlalchemy-exasol",
    "hive": "'PyHive[hive]'",
    "presto": "'PyHive[presto]'",
    "redshift": "sqlalchemy-redshift",
    "risingwave": "sqlalchemy-risingwave",
    "snowflake": "snowflake-sqlalchemy",
    "spark": "'PyHive[hive]'",
    "starrocks": "starrocks",
    "teradatasql": "teradatasqlalchemy",
    "trino": "'trino[sqlalchemy]'",
}
"""The packages that bring the dialects SQLAlchemy has not of its own."""


def sqlglot_name(url: URL) -> str:
    """Raises `ValueError` where no parser is known that could guard the database."""
    backend = url.get_backend_name()
    if backend not in _SPOKEN:
        raise ValueError(
            f"no engine takes {backend!r} URLs: PostgreSQL's begin with postgresql://, and those "
            f"through SQLAlchemy with {', '.join(sorted(_SPOKEN))}; the SQL of others is not known "
            "to SQLGlot, so a query could not be checked before it runs"
        )
    return _SPOKEN[backend]


def check_driver(url: URL) -> None:
    """Raise `ValueError` that names the package to install, if one is missing."""
    backend = url.get_backend_name()
    try:
        dialect = url.get_dialect()
    except NoSuchModuleError:
        raise ValueError(
            f"SQLAlchemy speaks with {url.drivername!r} databases once their package is installed: "
            f"pip install {_DIALECTS.get(backend, backend)}"
        ) from None
    try:
        dialect.import_dbapi()
    except ImportError as missing:
        module = (missing.name or dialect.driver).partition(".")[0]
        raise ValueError(
            f"the driver for {backend!r} databases is missing ({module}): pip install {module}"
        ) from None
