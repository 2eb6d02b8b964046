"""What *ask your database* asks, and how: data, since this room does not import it."""

# ruff: noqa: RUF009 - `setting` makes a dataclass field, as `dataclasses.field` does

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from awhile.cli.entries import setting
from awhile.cli.kinds import (
    NAMES,
    OPTIONAL_PATH,
    OPTIONAL_PATH_OR_URL,
    OPTIONAL_PATHS_OR_URLS,
    OPTIONAL_TEXT,
    OPTIONAL_URL,
    one_of,
    optional,
    seconds,
    whole,
)
from awhile.cli.settings.working import Working


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Working):
    """The settings of the server of *ask your database*."""

    database: tuple[str, ...] | None = setting(
        OPTIONAL_PATHS_OR_URLS,
        None,
        "The database to ask, only ever read: a DuckDB or SQLite file, a URL such as "
        "postgresql://user@host/name (put the password into the variable or a .pgpass file), or "
        "Parquet, CSV, JSON and Excel files and folders, as many as you like.",
        otherwise="there would be nothing to ask",
        words="the built-in sample",
    )
    sample: str = setting(
        one_of("small", "large", "tiny"),
        "small",
        "Which built-in sample to ask where no database is given; made once, in the data folder.",
        otherwise="there would be nothing to ask",
    )
    semantic_file: Path | None = setting(
        OPTIONAL_PATH,
        None,
        "What the words of the database mean: names, measures, dates, joins. `awhile model init` "
        "drafts one.",
        otherwise="the words of the database would not be known",
        words="none",
    )
    results: str | None = setting(
        OPTIONAL_PATH_OR_URL,
        None,
        "Where results are kept: a folder, or for several servers on one store what all of them "
        "reach, such as file:///nfs/results or s3://bucket/prefix (with its driver: pip install "
        "s3fs). Each store needs a place of its own: results without a task are deleted.",
        otherwise="no result could be kept",
        words="results in the data folder",
    )
    results_cache_mb: int = setting(
        whole(1),
        2048,
        "Megabytes (2^20 bytes) in the data folder for sorted and filtered copies, and for parts "
        "of results that are kept elsewhere.",
        otherwise="no result could be sorted",
    )
    queries_at_once: int = setting(
        whole(1),
        2,
        "How many queries the database runs at once; more wait.",
        otherwise="no query would ever run",
    )
    row_budget: int = setting(
        whole(1),
        1_000_000,
        "How many rows of a result are kept; what is cut is labelled so.",
        otherwise="no row could be kept",
    )
    byte_budget_mb: int = setting(
        whole(1),
        512,
        "How many megabytes (2^20 bytes) of a result are kept; what is cut is labelled so.",
        otherwise="no row could be kept",
    )
    query_seconds: float = setting(
        seconds(0),
        0.0,
        "How long a run may work, from understanding the question to the last row, before it is "
        "stopped; waiting for a person does not count. 0 for as long as it likes.",
        otherwise="every query would be stopped at once",
    )
    ask_above_cost: int = setting(
        whole(0),
        10_000_000,
        "Above which estimated cost, in the database's own unit (PostgreSQL: about a page of 8 kB "
        "read), a person is asked before a query runs; 0 never asks. Databases that give no "
        "estimate never ask.",
        otherwise="it is not known when to ask",
    )
    model: str | None = setting(
        OPTIONAL_TEXT,
        None,
        "The language model that writes SQL where nothing else can, as PROVIDER:NAME "
        "('anthropic:…', 'openai:…', 'google:…', 'ollama:…', 'gguf:' and the path of a file, or "
        "'compatible:…' with --model-url). Its key is read from the provider's own variable, or "
        "from the keyring.",
        otherwise="no model could be asked",
        words="none: only the built-in translator is used",
    )
    model_when: str = setting(
        one_of("abstains", "always"),
        "abstains",
        "When it is asked: where the built-in translator does not answer, or first, always.",
        otherwise="it is not known when to ask the model",
    )
    model_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "The address of a server of your own that the model runs on, up to /v1.",
        otherwise="the model could not be reached",
        words="the provider's",
    )
    model_seconds: float = setting(
        seconds(0.1),
        120.0,
        "How long the model may take for one answer.",
        otherwise="no answer could come in time",
    )
    model_sees: tuple[str, ...] = setting(
        NAMES,
        (),
        "Columns whose values the model may be told of, as TABLE.COLUMN, with * for any; of all "
        "others it is told names, types and comments.",
        otherwise="it is not known what may leave this machine",
        words="none",
    )
    unobserved_seconds: float | None = setting(
        optional(seconds(0)),
        None,
        "How long a query of the app goes on while nobody looks at it; 0 for as long as it takes.",
        otherwise="every query would be stopped at once",
        words="1800 where queries cost money (Athena, BigQuery, Databricks, Redshift, Snowflake), "
        "and else as long as it takes",
    )
    keep_days: float = setting(
        seconds(0.001, metavar="DAYS"),
        30.0,
        "How many days a run and its result are kept after its end; what is pinned, for good.",
        otherwise="a result would be gone before it was read",
    )
    memory_limit_mb: int = setting(
        whole(0),
        0,
        "Megabytes (2^20 bytes) of memory for each query, which spills to disk beyond them; "
        "0 shares six tenths of the machine's memory among them.",
        otherwise="no query could run",
    )


__all__ = ["Asking"]
