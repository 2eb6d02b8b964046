"""Names of a schema in SQL.

Source: ours.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

if TYPE_CHECKING:
    from awhile.ask.schema import Schema, Table

__all__ = ["identifier", "known_table", "named_table"]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*\Z")


def identifier(name: str, dialect: str) -> exp.Identifier:
    """A name as it is, in quotes where it would otherwise be a keyword or another name."""
    plain = bool(_PLAIN.match(name)) and name.upper() not in _reserved(dialect)
    return exp.to_identifier(name, quoted=not plain)


def named_table(name: str, dialect: str, alias: str | None = None) -> exp.Table:
    """A table of a schema card, whose name may begin with that of the schema it is in."""
    home, _, own = name.rpartition(".")
    db = identifier(home, dialect) if home else None
    table = exp.Table(this=identifier(own, dialect), db=db)
    if alias:
        table.set("alias", exp.TableAlias(this=identifier(alias, dialect)))
    return table


def known_table(named: exp.Table, schema: Schema) -> Table | None:
    """The table of a schema card that a name in SQL is that of, or None; see `named_table`."""
    return schema.table(f"{named.db}.{named.name}" if named.db else named.name)


@cache
def _reserved(dialect: str) -> frozenset[str]:
    keywords = Dialect.get_or_raise(dialect).tokenizer_class.KEYWORDS
    # "GROUP BY" is one keyword there, and "group" a word that has to be quoted.
    return frozenset(part for word in keywords for part in word.split() if part.isalpha())
