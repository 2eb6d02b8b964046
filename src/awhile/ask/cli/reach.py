"""Reaching a server: the one named, else one that runs here, else one started for the purpose."""

from __future__ import annotations

import logging
import secrets
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.to_thread

from awhile.ask.cli.child import ServerChild
from awhile.ask.cli.folder import DataFolder, model_of, semantics_of, served_by
from awhile.cli.coming_back import noted
from awhile.cli.credentials import (
    NOTHING,
    Credentials,
    NotAllowed,
    comes_by_flag,
    credentials_for,
)
from awhile.cli.screen import err, say
from awhile.cli.settings import ENTRIES
from awhile.client import Ledger, connect
from awhile.errors import (
    ProtocolFailed,
    RemoteError,
    SettingsError,
    StoreError,
    ToolFailed,
    Unreachable,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence

    from awhile.ask.cli.folder import RunningServer
    from awhile.cli.settings import Effective
    from awhile.client import Entry, Handle, RemoteServer

log = logging.getLogger(__name__)

ANSWER_SECONDS = 8.0
"""A server of this machine that has not answered by then is not used."""

RUN_TOOLS = ("ask", "run_sql")
"""Those of `awhile.ask.mcp_server.asking`, which takes a second to load; a test compares."""

RUN_KEY = "awhile-ask-"
"""What request keys of our runs begin with: other servers have tools of these names, too."""

ID_LETTERS = 32
"""How long a whole run id is (`awhile.runtime`: 128 random bits)."""
MOST_RUNS = 1000

LAST = "last"
"""In place of an id: the newest run."""


@asynccontextmanager
async def reached(
    effective: Effective,
    *,
    prefer: str | None = None,
    start: bool = True,
    answers_forms: bool = False,
    quiet: bool = False,
) -> AsyncGenerator[Reached]:
    """A server that answers. One that had to be started ends with the block, unless it works for
    another command by then.

    Args:
        effective: the settings; ``server_url`` is the only choice where it is given.
        prefer: a URL to try before those that are running here.
        start: whether to start a server if none answers.
        answers_forms: whether somebody is here who answers what the work asks.
        quiet: whether not to say that a server is started.

    Raises:
        Unreachable: none answers.
        SettingsError: what answers is no server of ours; or one is named, and how it is to be.
        ServerNotStarted: one was started and ended at once.
    """
    settings = effective.settings
    folder = DataFolder(settings.data_folder)
    async with AsyncExitStack() as stack:
        ledger = await anyio.to_thread.run_sync(Ledger, settings.ledger)
        stack.callback(ledger.close)
        connecting = _Connecting(ledger, answers_forms)
        if settings.server_url is not None:
            _must_be_as_it_is(effective)
            yield await connecting.named(effective, settings.server_url).connected(
                stack, settings.server_url
            )
            return
        if prefer is None and comes_by_flag(effective):
            raise SettingsError(
                "--token-from is for the server that --url names, and none is named. Add --url."
            )
        running = folder.running_servers()
        here = [one.url for one in running]
        fitting, lacking = _fitting(effective, running, asks=start)
        preferred = [] if prefer is None else [prefer]
        for url in dict.fromkeys([*preferred, *(one.url for one in fitting)]):
            trying = AsyncExitStack()
            # Only a server that somebody has named is shown who asks.
            how = connecting if url in here else connecting.named(effective, url)
            try:
                server = await how.connected(trying, url, ANSWER_SECONDS)
            except NotAllowed:
                await trying.aclose()
                raise
            except (RemoteError, SettingsError, TimeoutError):
                await trying.aclose()
                continue
            stack.push_async_exit(trying)
            yield server
            return
        if not start:
            raise Unreachable(
                "No server is running here, and only a server lists the runs it keeps. Start "
                "one with `awhile app` or `awhile serve`, or name one with --url."
            )
        if lacking and not quiet:
            say(
                f"No server {lacking} is running here; starting one, which ends with this "
                "command. `awhile serve` with the same flags keeps one.",
                aside=True,
            )
        elif err().is_terminal and not quiet:
            say("No server is running here; starting one.", aside=True)
        child = ServerChild(effective, port=0)
        await stack.enter_async_context(child.running())
        server = await connecting.connected(stack, child.url)
        server.own = child
        try:
            yield server
        except (Exception, anyio.get_cancelled_exc_class()):
            # What fails here, or is left, is none of the others' business. Anew: what it was
            # reached by is cut off where this command is.
            with anyio.move_on_after(ANSWER_SECONDS, shield=True):
                async with AsyncExitStack() as anew:
                    with suppress(RemoteError, SettingsError):
                        await _let_go_for_others(child, await connecting.connected(anew, child.url))
            raise
        await _let_go_for_others(child, server)


async def _let_go_for_others(child: ServerChild, there: Reached) -> None:
    """Let the server go if another command has found it, and something of that still runs."""
    try:
        runs = (await there.call("list_runs", {"limit": MOST_RUNS}))["runs"]
    except RemoteError:
        return
    if any(run["status"] == "working" and run["cancel_asked_at"] is None for run in runs):
        await child.let_go()


class Reached:
    """A server, what it serves, and whether it ends with this command."""

    def __init__(
        self,
        server: RemoteServer,
        url: str,
        database: str,
        ledger: Ledger,
        headers: Mapping[str, str],
    ) -> None:
        self.server = server
        self.url = url
        self.database = database
        self.ledger = ledger
        self.headers = headers
        """What shows it who asks."""
        self.own: ServerChild | None = None
        """Where it was started for this command, and ends with it unless it is let go."""

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The structured result of a tool that answers at once.

        Raises:
            RemoteError: it refused, or did not answer.
        """
        return await _call(self.server, tool, arguments)

    async def keep(self, run_id: str, handle: Handle, arguments: Mapping[str, Any]) -> None:
        """Note a run down that was answered at once: it never was a handle, and is kept as one."""
        answered = handle.work.known.task
        if answered is None:
            return
        run, tool, server = replace(answered, task_id=run_id), handle.tool, self.server.name

        def note() -> None:
            self.ledger.add(server, run, tool=tool, arguments=arguments)
            self.ledger.note(server, run)

        try:
            await anyio.to_thread.run_sync(note)
        except StoreError as broken:  # the answer is here, and is what was asked for
            log.warning("Run %r is not noted down: %s", run_id, broken)


@asynccontextmanager
async def found(
    effective: Effective, run_id: str, *, answers_forms: bool = False, quiet: bool = False
) -> AsyncGenerator[tuple[Reached, Handle]]:
    """A run by its id, or by a beginning that only one run has, at a server that answers.

    Raises:
        SettingsError: no run's id begins so, or several do.
        the errors of `reached`.
    """
    last = await _last_seen_at(effective, run_id)
    async with reached(effective, prefer=last, answers_forms=answers_forms, quiet=quiet) as there:
        whole = await whole_id(there, run_id)
        yield there, await there.server.resume(whole)


def run_key() -> str:
    """A request key for a new run, by which its handle is known as that of one."""
    return f"{RUN_KEY}{secrets.token_hex(16)}"


def none_of_our_runs(effective: Effective, entries: Sequence[Entry]) -> list[Entry]:
    """Those of the handles that are not known to be of runs: neither were they begun with a key of
    ours, nor at a server that runs here."""
    ours = {one.url for one in DataFolder(effective.settings.data_folder).running_servers()}

    def is_run(entry: Entry) -> bool:
        begun_by_us = str(entry.arguments.get("request_key")).startswith(RUN_KEY)
        return entry.tool in RUN_TOOLS and (begun_by_us or entry.server in ours)

    return [one for one in entries if not is_run(one)]


def of_another_kind(effective: Effective, run_id: str) -> Entry | None:
    """The handle of this id, or of one that begins so, if what it is about is no run: `awhile call`
    began it, at any server."""
    found = noted(effective, run_id)
    others = [one for one in none_of_our_runs(effective, found) if one.tool is not None]
    return others[0] if len(found) == len(others) == 1 else None


async def _last_seen_at(effective: Effective, run_id: str) -> str | None:
    """The server the ledger has a run noted for."""
    entries = await anyio.to_thread.run_sync(noted, effective, run_id)
    servers = [one.server for one in entries]
    return servers[0] if servers and servers[0].startswith("http") else None


async def whole_id(there: Reached, beginning: str) -> str:
    """The id of the one run whose id begins so; of the newest for ``last``.

    Raises:
        SettingsError: no run's id begins so, or several do.
        RemoteError: the server does not tell.
    """
    if len(beginning) == ID_LETTERS:
        return beginning
    runs = (await there.call("list_runs", {"limit": MOST_RUNS}))["runs"]
    ids = [str(run["run_id"]) for run in runs]
    if beginning == LAST and ids:
        return ids[0]
    matching = [each for each in ids if beginning and each.startswith(beginning)]
    if len(matching) == 1:
        return matching[0]
    what = f"{len(matching)} runs have" if matching else "No run has"
    raise SettingsError(
        f"{what} an id that begins with {beginning!r}. `awhile tasks` lists them; give enough of "
        "the id."
    )


def _must_be_as_it_is(effective: Effective) -> None:
    for name in ("database", "sample", "semantic_file", "model", "model_url"):
        if effective.by_flag(name):
            flag = ENTRIES[name].flag
            raise SettingsError(
                f"{flag} is for a server that this command starts, and the one that "
                f"{effective.origins['server_url']} names is asked as it is. Give {flag} to "
                "`awhile serve` there, or leave one of the two out."
            )


def _fitting(
    effective: Effective, running: Sequence[RunningServer], *, asks: bool
) -> tuple[Sequence[RunningServer], str]:
    """Those that may be asked; and where some run and none may, what none of them is."""
    wishes = list(_wishes(effective, asks=asks))
    fitting = [one for one in running if all(fits(one) for _, fits in wishes)]
    lacking = " and ".join(what for what, _ in wishes) if running and not fitting else ""
    return fitting, lacking


def _wishes(
    effective: Effective, *, asks: bool
) -> Generator[tuple[str, Callable[[RunningServer], bool]]]:
    # A database somebody chose must be the one that is asked; else whatever is being served.
    if effective.given("database") or effective.given("sample"):
        wanted = served_by(effective.settings)
        yield "of that database", lambda one: one.serves == wanted
    if asks and effective.given("semantic_file"):  # so must be what the words mean
        meant = semantics_of(effective.settings)
        yield "with that semantic file", lambda one: one.semantics == meant
    # A model that variables or the file name is for servers: the one that is there has its own.
    if asks and (effective.by_flag("model") or effective.by_flag("model_url")):
        model = model_of(effective.settings)
        yield f"with the model {model!r}", lambda one: one.model == model


@dataclass(frozen=True, slots=True)
class _Connecting:
    """How to connect to a server."""

    ledger: Ledger
    answers_forms: bool
    credentials: Credentials = NOTHING

    def named(self, effective: Effective, url: str) -> _Connecting:
        """The same, for a server that somebody has named: it is shown who asks."""
        return replace(self, credentials=credentials_for(effective, url))

    async def connected(
        self, stack: AsyncExitStack, url: str, seconds: float | None = None
    ) -> Reached:
        """The server, if it is one to ask a database; it is let go of with the stack."""
        stack.enter_context(self.credentials.explained())
        server = await stack.enter_async_context(
            connect(
                url,
                ledger=self.ledger,
                answers_forms=self.answers_forms,
                headers=self.credentials.headers or None,
            )
        )
        with self.credentials.explained(), anyio.fail_after(seconds):
            described = await _described(server, url)
        name = str(described.get("name", ""))
        return Reached(server, url, name, self.ledger, self.credentials.headers)


async def _described(server: RemoteServer, url: str) -> dict[str, Any]:
    try:
        return await _call(server, "describe_database", {})
    except (ProtocolFailed, ToolFailed) as no:
        names = {tool.name for tool in await server.list_tools()}
        if "describe_database" in names:
            raise
        raise SettingsError(
            f"The server at {url!r} is not one to ask a database: its tools are "
            f"{sorted(names)!r}. Give the URL that `awhile serve` printed."
        ) from no


async def _call(server: RemoteServer, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    result = await server.call(tool, dict(arguments))
    return cast("dict[str, Any]", result.structured_content or {})


__all__ = [
    "MOST_RUNS",
    "RUN_TOOLS",
    "Reached",
    "found",
    "none_of_our_runs",
    "of_another_kind",
    "reached",
    "run_key",
    "whole_id",
]
