"""Every setting there is, in one table: the fields of `Settings`.

Each is a flag (``--lease-seconds``), an environment variable (``AWHILE_LEASE_SECONDS``) and a key
of the TOML file; a flag wins over a variable, that over the file, and that over the default. Only
this module reads the environment, but for the keys of models. The settings of *ask your database*
are here as data, too: this room does not import it.
"""

# ruff: noqa: RUF009 - `setting` makes a dataclass field, as `dataclasses.field` does

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
import typer

from awhile.cli.entries import PREFIX, Entry, setting
from awhile.cli.kinds import (
    HEADERS,
    KEYS,
    NAMES,
    OPTIONAL_PATH,
    OPTIONAL_PATH_OR_URL,
    OPTIONAL_PATHS_OR_URLS,
    OPTIONAL_TEXT,
    OPTIONAL_URL,
    PATH,
    SECRETS,
    TEXT,
    URL,
    YES_OR_NO,
    one_of,
    optional,
    seconds,
    whole,
)
from awhile.errors import SettingsError

T = TypeVar("T")

CONFIG_VARIABLE = "AWHILE_CONFIG"
"""Names the TOML file; it is no setting itself, since it says where settings are."""


def _data_folder(_above: Mapping[str, Any]) -> Path:
    return platformdirs.user_data_path("awhile", appauthor=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The effective value of every setting; see the table in ``docs/settings.md``."""

    data_folder: Path = setting(
        PATH,
        _data_folder,
        "Where everything is kept: tasks, results, the sample, the page's key.",
        otherwise="nothing could be kept",
        words="the platform's data folder",
    )
    store: str = setting(
        URL,
        lambda above: f"sqlite:///{above['data_folder'] / 'tasks.sqlite3'}",
        "Where tasks are kept; several servers on one store share its work.",
        otherwise="no task could be kept",
        words="tasks.sqlite3 in the data folder",
    )
    ledger: Path = setting(
        PATH,
        lambda above: above["data_folder"] / "handles.sqlite3",
        "Where this user's programs note the tasks they started, to come back to them.",
        otherwise="no task could be found again by its id",
        words="handles.sqlite3 in the data folder",
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
    host: str = setting(
        TEXT,
        "127.0.0.1",
        "The address the MCP server listens on.",
        otherwise="the server could not listen",
    )
    port: int = setting(
        whole(0, 65_535),
        8766,
        "The port of the MCP server; 0 takes a free one.",
        otherwise="the server could not listen",
    )
    page_port: int = setting(
        whole(0, 65_535),
        8765,
        "The port of the page; 0 takes a free one.",
        otherwise="the page could not be opened",
    )
    open_browser: bool = setting(
        YES_OR_NO,
        True,
        "Whether `awhile app` opens the page in a browser, where there is a display.",
        otherwise="it is not known whether to open the page",
    )
    server_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "The MCP server that ask, tasks, attach and cancel talk to.",
        otherwise="there would be nothing to talk to",
        words="one running here, else (not for tasks) a new one",
        also=("--url",),
    )
    server_token: str | None = setting(
        optional(SECRETS),
        None,
        "A bearer token for the server that --url names, or that `awhile call` is given. Never "
        "shown.",
        otherwise="the server would not know who asks",
        words="none",
    )
    server_headers: tuple[tuple[str, str], ...] | None = setting(
        optional(HEADERS),
        None,
        "Headers for that server, each as Name: value; in a variable, one on each line. Never "
        "shown.",
        otherwise="the server would not know who asks",
        words="none",
    )
    slots: int = setting(
        whole(0),
        32,
        "How many tasks a process runs at once; more wait. 0 leaves them all to `awhile worker`.",
        otherwise="no task would ever run",
    )
    queries_at_once: int = setting(
        whole(1),
        2,
        "How many queries the database runs at once; more wait.",
        otherwise="no query would ever run",
    )
    inline_seconds: float = setting(
        seconds(0),
        0.5,
        "How long a call waits for its result before it is answered with a task.",
        otherwise="no call could be answered",
    )
    lease_seconds: float = setting(
        seconds(0.1),
        6.0,
        "How long a task may go on saying that it runs after its server has vanished.",
        otherwise="every lease would be lost at once",
    )
    drain_seconds: float = setting(
        seconds(0),
        5.0,
        "How long running work may go on when SIGTERM tells a process to stop; then it is stopped.",
        otherwise="a stop could not be carried out",
    )
    gone_tool_seconds: float = setting(
        seconds(0.1),
        300.0,
        "How long a task may wait although no worker has known its tool for as long.",
        otherwise="tasks would end before their workers are there",
    )
    max_queued: int = setting(
        whole(0),
        10_000,
        "How many tasks may wait to start, on the whole store; more are refused with a hint when "
        "to try again. 0 for no bound.",
        otherwise="nothing could wait",
    )
    max_queued_per_owner: int = setting(
        whole(0),
        1_000,
        "How many tasks of one caller may wait to start; 0 for no bound.",
        otherwise="nothing could wait",
    )
    max_running_per_owner: int = setting(
        whole(0),
        0,
        "How many tasks of one caller run at once, on the whole store; more wait. 0 for no bound "
        "but three quarters of each process's slots.",
        otherwise="nothing could run",
    )
    health_host: str = setting(
        TEXT,
        "127.0.0.1",
        "The address on which a worker says whether it lives and is ready.",
        otherwise="the worker could not be asked",
    )
    health_port: int | None = setting(
        optional(whole(0, 65_535)),
        None,
        "The port for that, with /healthz and /readyz; 0 takes a free one.",
        otherwise="the worker could not be asked",
        words="none; a server has both paths on its own port",
    )
    request_state_key: str | None = setting(
        optional(KEYS),
        None,
        "The secret that all servers on a store share, so that one can take the answer to what "
        "another has asked. Never shown.",
        otherwise="answers could be forged, or not be understood",
        words="for SQLite, one kept in the data folder",
    )
    single_replica: bool = setting(
        YES_OR_NO,
        False,
        "Whether this is the only server on its store, or its module shares keys of its own.",
        otherwise="it is not known whether servers have to share a key",
    )
    seal_keys: str | None = setting(
        optional(SECRETS),
        None,
        "What seals arguments, results and all that is said about a task before it is kept: "
        "ID:BASE64, 32 bytes each; several with commas between them, the one to seal with first. "
        "Never shown.",
        otherwise="contents could be read by whoever reads the store, or by nobody",
        words="none: contents are kept as they are",
    )
    log_format: str = setting(
        one_of("text", "json"),
        "text",
        "How servers and workers log: lines of text, or one JSON object a line.",
        otherwise="nothing could be logged",
    )
    audit_file: Path | None = setting(
        OPTIONAL_PATH,
        None,
        "Where it is kept who asked, saw, answered and stopped what, one JSON object a line.",
        otherwise="the audit trail would be lost",
        words="none: it goes to the logger awhile.audit alone",
    )
    webhook_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "Where it is posted that a task has ended (no result); https, or http on this machine.",
        otherwise="nobody could be told",
        words="none",
    )
    webhook_secret: str | None = setting(
        optional(SECRETS),
        None,
        "What that is signed with, whsec_ and base64; several, with commas between them, while it "
        "is being changed. Never shown.",
        otherwise="its receiver could not tell what is ours",
        words="none",
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
        "('anthropic:…', 'openai:…', 'google:…', 'ollama:…', or 'compatible:…' with --model-url). "
        "Its key is read from the provider's own variable, or from the keyring.",
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


ENTRIES: Mapping[str, Entry] = {
    one.name: Entry(name=one.name, **one.metadata) for one in fields(Settings)
}
"""The table by name, in order."""


@dataclass(frozen=True, slots=True)
class Effective:
    """The settings as they hold, and where each came from (``"default"``, or a phrase)."""

    settings: Settings
    origins: Mapping[str, str]
    config_file: Path
    """The TOML file, whether it is there or not."""
    unused_variables: Mapping[str, str | None]
    """Variables that look like settings and are none, each with the nearest that is one."""

    def given(self, name: str) -> bool:
        """Whether somebody set it, rather than the default."""
        return self.origins[name] != "default"


def option(name: str) -> Any:
    """The Typer option of one setting, made from the table so that it cannot drift from it."""
    entry = ENTRIES[name]
    negation = f"/--no-{entry.flag[2:]}" if entry.kind is YES_OR_NO else ""
    return typer.Option(
        f"{entry.flag}{negation}",
        *entry.also,
        help=f"{entry.sentence} [{entry.variable}; default: {entry.default_words}]",
        metavar=entry.kind.metavar or None,
        show_default=False,
    )


def read_settings(
    flags: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None
) -> Effective:
    """The settings that hold, given the flags of this command (None: not given).

    Raises:
        SettingsError: a value, or the TOML file, cannot be used.
    """
    environment = os.environ if environment is None else environment
    config_file = _config_file(environment)
    from_file = _read_file(config_file, named=CONFIG_VARIABLE in environment)
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, entry in ENTRIES.items():
        raw, origin, folder = None, "default", Path.cwd()
        if flags is not None and flags.get(name) not in (None, [], ()):
            raw, origin = flags[name], f"the flag {entry.flag}"
        elif environment.get(entry.variable):
            raw, origin = environment[entry.variable], f"the variable {entry.variable}"
        elif name in from_file:
            raw, origin = from_file[name], f"the file {str(config_file)!r}"
            folder = config_file.parent
        origins[name] = origin
        values[name] = entry.default(values) if raw is None else _read(entry, raw, origin, folder)
    return Effective(Settings(**values), origins, config_file, _unused(environment))


def _read(entry: Entry, raw: object, origin: str, folder: Path) -> Any:
    try:
        return entry.kind.read(raw, folder)
    except ValueError as expected:
        shown = "set" if entry.kind.secret else repr(raw)
        raise SettingsError(
            f"{entry.name} is {shown} (from {origin}), which is not {expected}, so "
            f"{entry.otherwise}. Correct it there; `awhile config` shows every setting."
        ) from None


def _config_file(environment: Mapping[str, str]) -> Path:
    named = environment.get(CONFIG_VARIABLE)
    if named:
        return Path(named).expanduser().absolute()
    return platformdirs.user_config_path("awhile", appauthor=False) / "config.toml"


def _read_file(path: Path, *, named: bool) -> dict[str, Any]:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if not named:
            return {}
        raise SettingsError(
            f"{CONFIG_VARIABLE} names {str(path)!r}, and there is no such file, so its settings "
            "would be missed. Correct the variable, or unset it."
        ) from None
    except OSError as error:
        raise SettingsError(
            f"The settings in {str(path)!r} cannot be read ({error.strerror}), so they would be "
            "missed. Make the file readable, or name another one with AWHILE_CONFIG."
        ) from None
    except ValueError as error:  # tomllib's own error, and text that is not UTF-8
        raise SettingsError(
            f"{str(path)!r} is not a TOML file ({error}), so its settings would be missed. "
            "Correct it there."
        ) from None
    for key in found:
        if key not in ENTRIES:
            near = nearest(key)
            meant = f"did you mean {near!r}?" if near else "`awhile config` shows every setting."
            raise SettingsError(
                f"{key!r} in {str(path)!r} is no setting, so it would have no effect; {meant}"
            )
    return found


def _unused(environment: Mapping[str, str]) -> dict[str, str | None]:
    known = {entry.variable for entry in ENTRIES.values()} | {CONFIG_VARIABLE}
    found: dict[str, str | None] = {}
    for variable in sorted(environment):
        if variable.startswith(PREFIX) and variable not in known:
            near = nearest(variable.removeprefix(PREFIX).lower())
            found[variable] = ENTRIES[near].variable if near else None
    return found


def nearest(name: str) -> str | None:
    """The setting whose name is most like this one, if any is."""
    return next(iter(difflib.get_close_matches(name.replace("-", "_"), ENTRIES, n=1)), None)


__all__ = ["ENTRIES", "Effective", "Entry", "Settings", "option", "read_settings"]
