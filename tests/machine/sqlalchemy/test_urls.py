"""Which engine takes a URL, what is missing for it, and that nothing secret of it is shown."""

from __future__ import annotations

import pytest

from awhile.ask.engines.errors import DatabaseNotOpened
from awhile.ask.engines.open import name_of, open_engine, without_password
from awhile.ask.engines.sqlalchemy.engine import SQLAlchemyEngine
from awhile.ask.engines.sqlalchemy.urls import address_of


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("mysql://u:hunter2@h/shop", "MySQL"),
        ("mariadb://u:hunter2@h/shop", "MariaDB"),
        ("mysql+pymysql://u:hunter2@h/shop", "MySQL"),
        ("mysql+mysqldb://u:hunter2@h/shop", "MySQL"),
    ],
)
def test_mysql_and_mariadb_are_read_through_one_driver_whatever_the_url_names(
    url: str, name: str
) -> None:
    engine = open_engine(url)
    assert isinstance(engine, SQLAlchemyEngine)
    assert (engine.capabilities.name, engine.capabilities.dialect) == (name, "mysql")


def test_an_engine_of_its_own_takes_the_urls_that_name_a_driver() -> None:
    assert open_engine("postgresql+psycopg://u@h/shop").capabilities.name == "PostgreSQL"


@pytest.mark.parametrize(
    ("url", "package"),
    [
        ("snowflake://u:hunter2@account/db", "pip install snowflake-sqlalchemy"),
        ("trino://u:hunter2@h/catalog", "pip install 'trino[sqlalchemy]'"),
        ("oracle://u:hunter2@h/x", "pip install oracledb"),
        ("mssql+pymssql://u:hunter2@h/db", "pip install pymssql"),
    ],
)
def test_what_is_missing_is_named_with_its_package(url: str, package: str) -> None:
    with pytest.raises(DatabaseNotOpened) as error:
        open_engine(url)
    assert package in str(error.value)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("url", ["ibm_db_sa://u:hunter2@h/db", "postgress://u:hunter2@h/db"])
def test_a_url_that_no_engine_takes_is_told_what_others_begin_with(url: str) -> None:
    with pytest.raises(DatabaseNotOpened, match=r"PostgreSQL's begin with postgresql://") as error:
        open_engine(url)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize("url", ["mysql://u:hunter2@h", "mysql://u:hunter2@h:port/db"])
def test_a_url_that_cannot_be_used_is_told_what_is_wrong_without_its_password(url: str) -> None:
    with pytest.raises(DatabaseNotOpened, match="URL") as error:
        open_engine(url)
    assert "hunter2" not in str(error.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("mysql://u:hunter2@h:3306/shop?ssl_ca=x", "mysql://u@h:3306/shop"),
        ("mysql://u:hun/ter2@h/shop", "mysql://u@h/shop"),
        ("mysql://u:hun?ter2@h/shop", "mysql://u@h/shop"),
        ("mysql://u:hun@ter2@h/shop", "mysql://u@h/shop"),
        ("ibm_db_sa://u:hunter2@h/shop", "ibm_db_sa://u@h/shop"),
        ("mssql+pyodbc:///?odbc_connect=PWD%3Dhunter2", "mssql+pyodbc:///"),
    ],
)
def test_a_url_is_shown_without_its_password_however_that_is_written(url: str, shown: str) -> None:
    assert without_password(url) == shown
    assert "ter2" not in name_of(url)


def test_a_drivers_words_are_shown_without_what_is_secret_in_the_url() -> None:
    address = address_of("mysql://u:hun%40ter2@h/shop?ssl_key_password=s3cret&ssl_ca=ca.pem")
    said = "cannot log in with 'hun@ter2' (hun%40ter2), s3cret and ca.pem"
    assert address.hidden(said) == "cannot log in with '***' (***), *** and ca.pem"
    assert "hun" not in address.name
