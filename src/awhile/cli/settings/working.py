"""What servers and workers keep, run and bound, and what their operators see."""

# ruff: noqa: RUF009 - `setting` makes a dataclass field, as `dataclasses.field` does

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from awhile.cli.entries import setting
from awhile.cli.kinds import (
    KEYS,
    NAMES,
    OPTIONAL_PATH,
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


def _data_folder(_above: Mapping[str, Any]) -> Path:
    return platformdirs.user_data_path("awhile", appauthor=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """The settings of every server and worker."""

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
    token_issuer: str | None = setting(
        OPTIONAL_URL,
        None,
        "Whose bearer tokens callers have to show (OAuth 2.1, OpenID Connect), as the tokens' iss "
        "has it: https, or http on this machine. People sign in there on `awhile page`.",
        otherwise="it is not known who calls",
        words="none: callers are anonymous, and from this machine alone",
    )
    token_audience: str | None = setting(
        OPTIONAL_TEXT,
        None,
        "What those tokens have to be issued for (their aud), where that is not the server's URL.",
        otherwise="tokens for other servers would be taken",
        words="the public URL of the server; for `awhile page`, its --server-url",
    )
    token_scopes: tuple[str, ...] = setting(
        NAMES,
        (),
        "Scopes that they have to allow, and that the page asks for.",
        otherwise="it is not known what a token has to allow",
        words="none",
    )
    public_url: str | None = setting(
        OPTIONAL_URL,
        None,
        "The URL of the MCP endpoint as callers know it, such as https://mcp.example.org/mcp; "
        "with --token-issuer.",
        otherwise="callers would not know what to ask a token for",
        words="none",
    )
    slots: int = setting(
        whole(0),
        32,
        "How many tasks a process runs at once; more wait. 0 leaves them all to `awhile worker`.",
        otherwise="no task would ever run",
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


__all__ = ["Working"]
