"""The answers a model may give, as a grammar that llama.cpp's sampler keeps it to (GBNF).

Source: ours; the notation is ggml-org/llama.cpp's, `grammars/README.md`. It knows the schema and is
still broad. What it says of names: a table is one of the card; so is a column, unless the FROM of
the same SELECT has a subquery or the statement begins with WITH, which give names of their own; a
function is one of a list. Keywords are in capitals. Which column belongs to which table, and what a
name after a dot belongs to, it does not say: that is `mending`'s.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from awhile.ask.schema import Table

__all__ = ["FUNCTIONS", "answer_grammar", "functions_of", "only_sql"]

_MODES = (("-s", "query-any"), ("-e", "query-e"), ("-c", "query-c"))
"""What each way of taking names is called, and what a SELECT inside of one is."""

_ASKS = ' | "ASK: " line ("\\n- " line){2,5}'
"""The way of answering in the rule `root` that asks back."""

_COMMON = """
abs avg ceil ceiling coalesce concat count cume_dist dense_rank exp first_value floor lag last_value
lead length ln log lower ltrim max min mod nth_value ntile nullif percent_rank power rank replace
round row_number rtrim sign sqrt substr substring sum trim upper
"""

FUNCTIONS = {
    "duckdb": """
        age any_value arg_max arg_min array_agg bool_and bool_or contains corr count_if
        covar_pop covar_samp date_add date_diff date_part date_sub date_trunc datediff day
        dayname dayofweek dayofyear ends_with epoch first greatest hour if ifnull isodow
        last last_day least left list listagg lpad make_date max_by median min_by minute
        mode month monthname now quantile_cont quantile_disc quarter regexp_extract
        regexp_matches regexp_replace reverse right rpad second split_part starts_with
        stddev stddev_pop stddev_samp strftime string_agg strlen strpos strptime
        to_timestamp today trunc var_pop var_samp variance week weekday year
    """,
    "sqlite": """
        date datetime group_concat ifnull iif instr julianday printf strftime time total
        typeof unicode unixepoch
    """,
    "postgres": """
        age array_agg bool_and bool_or char_length corr covar_pop covar_samp date_part
        date_trunc every generate_series greatest initcap justify_days least left lpad
        make_date mode now percentile_cont percentile_disc regexp_replace regr_slope reverse
        right rpad split_part stddev stddev_pop stddev_samp string_agg strpos to_char
        to_date to_number to_timestamp trunc var_pop var_samp variance
    """,
    "mysql": """
        char_length concat_ws curdate date date_add date_format date_sub datediff day
        dayname dayofmonth dayofweek dayofyear greatest group_concat hour if ifnull instr
        last_day least left locate lpad minute month monthname now quarter reverse right
        rpad second std stddev stddev_pop stddev_samp str_to_date time timestampdiff
        truncate var_pop var_samp variance week weekday year yearweek
    """,
}
"""The dialects there is a grammar for, with their functions beside those that all of them have."""


def answer_grammar(tables: Sequence[Table], dialect: str) -> str | None:
    """What a model may answer about these tables, a SELECT being the rule `statement`; None for a
    dialect without a grammar."""
    if dialect not in FUNCTIONS or not tables:
        return None
    columns = {way for table in tables for one in table.columns for way in _ways(one.name, dialect)}
    named = {way for one in tables for way in _table_ways(one.name, dialect)}
    functions = functions_of(dialect)
    names = [
        f"table ::= {_one_of(named)}",
        f"table-odd ::= {_one_of(filter(_odd, named))}",
        f"column ::= {_one_of(columns)}",
        f"column-odd ::= {_one_of(filter(_odd, columns))}",
        f"function ::= {_one_of([*functions, *map(str.upper, functions)])}",
    ]
    return "\n".join([*_rules(), *names]) + "\n"


def only_sql(grammar: str) -> str:
    """The same without a question back: what has been asked once is not asked back afterwards."""
    return grammar.replace(_ASKS, "", 1)


def functions_of(dialect: str) -> set[str]:
    """The functions that the grammar of a dialect has. Raises `KeyError` where there is none."""
    return {*_COMMON.split(), *FUNCTIONS[dialect].split()}


@cache
def _rules() -> tuple[str, ...]:
    """The rules of the file, one line each, those with `@` once for each mode."""
    text = (files("awhile.ask.translators.models") / "answer.gbnf").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    rules = re.sub(r"\n\s+", " ", "\n".join(lines)).splitlines()
    found: list[str] = []
    for rule in rules:
        if "@" in rule.partition("::=")[0]:
            found += [rule.replace("query@@", inner).replace("@", mode) for mode, inner in _MODES]
        else:
            found.append(rule)
    return tuple(found)


def _table_ways(name: str, dialect: str) -> Iterable[str]:
    """How a table may be written: also its parts by themselves quoted, where it is in a schema."""
    spot, dot, own = name.partition(".")
    if not dot or "." in own:
        return _ways(name, dialect)
    return [f"{one}.{two}" for one in _ways(spot, dialect) for two in _ways(own, dialect)]


def _ways(name: str, dialect: str) -> list[str]:
    """A name quoted, and bare where the dialect then takes it as it is."""
    quoted = exp.to_identifier(name, quoted=True).sql(dialect=dialect)
    bare = _PLAIN.fullmatch(name) and not Dialect.get_or_raise(dialect).case_sensitive(name)
    return [name, quoted] if bare else [quoted]


def _odd(way: str) -> bool:
    """Whether a name is not written as `ident` is."""
    return _IDENT.fullmatch(way) is None


def _one_of(words: Iterable[str]) -> str:
    """The words as a tree of what they begin with: a sampler tries as few as there are letters."""
    return _tree(sorted(set(words)))


def _tree(words: Sequence[str]) -> str:
    ends = "" in words
    by_first: dict[str, list[str]] = defaultdict(list)
    for word in filter(None, words):
        by_first[word[0]].append(word)
    branches: list[str] = []
    for group in by_first.values():
        shared = _shared_start(group)
        below = [word[len(shared) :] for word in group]
        branches.append(_literal(shared) + (f" {_tree(below)}" if any(below) else ""))
    tree = f"({' | '.join(branches)})"
    return f"{tree}?" if ends else tree


def _shared_start(words: Sequence[str]) -> str:
    first, last = min(words), max(words)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same]


def _literal(text: str) -> str:
    """A text between quotes, with nothing in it that could end them."""
    return '"' + "".join(one if _SAFE.fullmatch(one) else _escaped(one) for one in text) + '"'


def _escaped(one: str) -> str:
    if one in '"\\':
        return f"\\{one}"
    return f"\\U{ord(one):08X}" if ord(one) > 0xFFFF else f"\\u{ord(one):04X}"


_IDENT = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SAFE = re.compile(r"[A-Za-z0-9_ .`$-]")
