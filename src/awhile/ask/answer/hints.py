"""What to do about SQL that names what is not there: the names near it that are.

Only what the database's own error speaks of is looked at, and only the schema card is searched:
a hint never says more than `describe_database` would.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from awhile.ask.answer.earlier import is_result_name
from awhile.ask.translators.identifiers import known_table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from awhile.ask.engines.errors import QueryError
    from awhile.ask.schema import Schema, Table

__all__ = ["hints"]

_MOST_NAMES = 3
_FEW_NAMES = 12
"""So many are named all, where none is near."""
_ALIKE = 0.5
"""How alike a name has to be to be worth a mention (`difflib`'s measure)."""
_RESULT = (
    "{0} may be a result of yours: results are read by SQL of DuckDB's, which this text is not, "
    "and without tables of the database."
)
_LONGEST = 20_000
"""Characters of SQL that is still looked at."""


def hints(sql: str, error: QueryError, schema: Schema, results: Collection[str] = ()) -> list[str]:
    """Sentences about tables and columns that the SQL names and the database does not have.

    `results` are names that it read as results.
    """
    if len(sql) > _LONGEST:
        return []
    try:
        trees = sqlglot.parse(sql, read=schema.dialect)
    except (SqlglotError, RecursionError, ValueError):  # ValueError: a dialect it does not know
        return []
    said = error.message.casefold()
    found = [
        hint
        for tree in trees
        if tree is not None
        for hint in (*_tables(tree, schema, said, results), *_columns(tree, schema, said))
    ]
    return list(dict.fromkeys(found))


def _tables(tree: exp.Expr, schema: Schema, said: str, results: Collection[str]) -> Iterator[str]:
    own = {*results, *(cte.alias_or_name.casefold() for cte in tree.find_all(exp.CTE))}
    for named in tree.find_all(exp.Table):
        name = named.name
        if not name or name.casefold() in own or name.casefold() not in said:
            continue
        if _known(named, schema) is None:
            if is_result_name(name):
                yield _RESULT.format(name)
                continue
            yield _near(f"There is no table {name!r}", name, (one.name for one in schema.tables))


def _columns(tree: exp.Expr, schema: Schema, said: str) -> Iterator[str]:
    sources = {
        named.alias_or_name.casefold(): table
        for named in tree.find_all(exp.Table)
        if (table := _known(named, schema)) is not None
    }
    for column in tree.find_all(exp.Column):
        name, of = column.name, column.table.casefold()
        if not name or name.casefold() not in said or (of and of not in sources):
            continue
        tables = [sources[of]] if of else list(sources.values())
        if not tables or any(table.column(name) for table in tables):
            continue
        where = " or ".join(sorted({repr(table.name) for table in tables}))
        names = (one.name for table in tables for one in table.columns)
        yield _near(f"There is no column {name!r} in {where}", name, names)


def _known(named: exp.Table, schema: Schema) -> Table | None:
    return known_table(named, schema) or schema.table(named.name)


def _are(names: Collection[str]) -> str:
    return f"{'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def _near(what: str, name: str, names: Iterable[str]) -> str:
    by_folded = {one.casefold(): one for one in names}
    wanted = name.casefold()
    near = difflib.get_close_matches(wanted, by_folded, n=_MOST_NAMES, cutoff=_ALIKE)
    # `orders` is near `order_lines` to a person, and a long way off to a measure of letters.
    near += [one for one in by_folded if one not in near and (one in wanted or wanted in one)]
    if not near and 0 < len(by_folded) <= _FEW_NAMES:
        return f"{what}; there {_are(by_folded.values())}."
    if not near:
        return f"{what}; describe_database lists what there is."
    return f"{what}; near it: {', '.join(by_folded[one] for one in near[:_MOST_NAMES])}."
