"""What ``awhile probe`` does with its command line: whom to probe, and where the report goes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, cast

import anyio
from jsonschema import Draft202012Validator
from rich.text import Text

from awhile.cli import ends
from awhile.cli.interrupts import Interrupts
from awhile.cli.probe import Asked, FailOn
from awhile.cli.screen import err, out, say, visible
from awhile.cli.typed import arguments_typed, command_typed, headers_typed
from awhile.concealed import shown_command
from awhile.errors import SettingsError
from awhile.probe import Grade, Limits, Target, Trial, probe
from awhile.probe.reports import as_data, as_html, as_junit, compared, schema, show

BY_SEVERITY = {1: 10, 2: 11, 3: 12}
"""The exit code of the worst fault, by its severity."""

LEAST = {FailOn.DIFFERS: 1, FailOn.MISLEADS: 2, FailOn.LOSES_WORK: 3, FailOn.NEVER: 4}
"""The least severity that is a failure."""

CALLS = 5
"""The calls of the tool in one era, at the most."""

WITNESS_SECONDS = 10.0


def run(asked: Asked) -> int:
    """Probe, report, and return the exit code.

    Raises:
        SettingsError: something on the command line cannot be used.
        Unreachable: nothing answers there.
    """
    _writable(asked.html, asked.junit)
    trial = _trial(asked)
    limits = Limits(seconds=asked.seconds, requests=asked.requests)
    headers = _headers(asked.headers, asked.token)
    second = _second(headers, asked.second_token)
    given = list(asked.servers)
    if asked.compare:
        if len(given) != 2 or asked.stdio is not None:
            raise SettingsError(
                f"--compare takes two servers, and got {given!r}. Give two URLs, or the files of "
                "two --json reports."
            )
        sources = [_saved(one) or _target(one, None, headers, second) for one in given]
        return anyio.run(_compare, sources, trial, limits, asked)
    if len(given) > 1:
        raise SettingsError(
            f"{given!r} are {len(given)} servers, and one is probed at a time. Give one, or say "
            "--compare."
        )
    target = _target(given[0] if given else None, asked.stdio, headers, second)
    return anyio.run(_probe, target, trial, limits, asked)


def _trial(asked: Asked) -> Trial | None:
    tool = asked.tool
    if tool is None:
        if asked.safe_to_run or asked.witness is not None or asked.args != "{}":
            raise SettingsError(
                "--args, --safe-to-run and --witness are about a tool, and none is named. Add "
                "--tool NAME."
            )
        return None
    if not asked.safe_to_run:
        raise SettingsError(
            f"--tool {tool!r} is given without --safe-to-run, so nothing was called. In each "
            f"protocol revision the probe calls the tool up to {CALLS} times with the same "
            "arguments, cancels some of these calls half-way, and drops the connection of others: "
            "harmless for a report, not for a payment. If that may happen to this tool with these "
            "arguments, add --safe-to-run."
        )
    seen_by = None if asked.witness is None else _witness(asked.witness)
    return Trial(tool=tool, arguments=arguments_typed(asked.args), witness=seen_by)


def _witness(command: str) -> Callable[[], Awaitable[str]]:
    words = command_typed("--witness", command)

    async def look() -> str:
        try:
            with anyio.fail_after(WITNESS_SECONDS):
                done = await anyio.run_process(words, check=False)
        except TimeoutError:
            raise SettingsError(
                f"The witness {shown_command(words)!r} took more than {WITNESS_SECONDS:g} s. Give "
                "a quicker one."
            ) from None
        except OSError as error:
            raise SettingsError(
                f"The witness {shown_command(words)!r} cannot be run: {error.strerror}. Correct "
                "--witness."
            ) from None
        return done.stdout.decode(errors="replace").strip()

    return look


def _headers(given: tuple[str, ...], token: str | None) -> dict[str, str]:
    headers = headers_typed(given)
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    return headers


def _second(headers: Mapping[str, str], token: str | None) -> dict[str, str] | None:
    if token is None:
        return None
    second = {**headers, "authorization": f"Bearer {token}"}
    if second == headers:
        raise SettingsError(
            "--second-token is the first caller's own, who of course sees their tasks. Give "
            "somebody else's."
        )
    return second


def _target(
    url: str | None, stdio: str | None, headers: dict[str, str], second: dict[str, str] | None
) -> Target:
    command = command_typed("--stdio", stdio) if stdio else ()
    if command and (headers or second):
        raise SettingsError(
            "--header, --token and --second-token are about HTTP, and a server over --stdio gets "
            "no headers. Leave them out, or give a URL."
        )
    return Target(url=url, command=command, headers=headers, second_headers=second)


def _saved(name: str) -> dict[str, Any] | None:
    """A report saved before, if that is what is named."""
    path = Path(name)
    if not path.is_file():
        return None
    try:
        found: Any = json.loads(path.read_text("utf-8"))
    except ValueError:
        found = None
    described: Any = Draft202012Validator(schema())
    if not described.is_valid(found) or "findings" not in found:
        raise SettingsError(
            f"{name!r} is no report of `awhile probe URL --json`, so there is nothing to compare. "
            "Give such a file, or a URL."
        )
    return cast("dict[str, Any]", found)


async def _probe(target: Target, trial: Trial | None, limits: Limits, outputs: Asked) -> int:
    data, stopped = await _measured(target, trial, limits, outputs.eras)
    return _deliver(data, [data], outputs, stopped)


async def _compare(
    sources: list[dict[str, Any] | Target], trial: Trial | None, limits: Limits, outputs: Asked
) -> int:
    reports: list[dict[str, Any]] = []
    stopped = False
    for one in sources:
        if isinstance(one, Target):
            data, stopped = await _measured(one, trial, limits, outputs.eras)
            reports.append(data)
            if stopped:
                break
        else:
            reports.append(one)
    whole = compared(*reports) if len(reports) == len(sources) else reports[0]
    return _deliver(whole, reports, outputs, stopped)


async def _measured(
    target: Target, trial: Trial | None, limits: Limits, eras: tuple[str, ...]
) -> tuple[dict[str, Any], bool]:
    """The report as data, and whether Ctrl-C ended it."""
    stop = anyio.Event()
    data: dict[str, Any] = {}
    # SIGTERM too: what stops a job in CI leaves no task of it running either.
    listening = Interrupts.listening(signal.SIGTERM)
    async with listening as interrupts, anyio.create_task_group() as beside:

        async def when_pressed() -> None:
            await interrupts.wait(1)
            say("Ending what is running; that may take some seconds.")
            stop.set()

        beside.start_soon(when_pressed)
        say(f"Probing {target.name}")
        with err().status("") as status:

            def tell(line: str) -> None:
                status.update(Text(visible(line)))

            data = as_data(await probe(target, trial, limits, eras=eras, say=tell, stop=stop))
        beside.cancel_scope.cancel()
    return data, stop.is_set()


def _deliver(
    whole: dict[str, Any], reports: list[dict[str, Any]], outputs: Asked, stopped: bool
) -> int:
    if outputs.html is not None:
        _write(outputs.html, as_html(whole))
    if outputs.junit is not None:
        _write(outputs.junit, as_junit(reports[-1], LEAST[outputs.fail_on]))
    if outputs.as_json:
        # In ASCII, so that no letter of a server drives a terminal, or cannot be encoded.
        out().print(json.dumps(whole, indent=2), soft_wrap=True)
    elif stopped:
        # One by one: beside half a report nothing differs for sure.
        for one in reports:
            show(out(), one)
    else:
        show(out(), whole)
    for path in (outputs.html, outputs.junit):
        if path is not None:
            say(f"Written: {path}")
    if stopped:
        return ends.CANCELLED
    if not reports[-1]["findings"]:
        return ends.FAILED  # neither revision is served to this caller
    # Of a comparison the second one counts: the new version.
    severity = Grade(reports[-1]["worst"]).severity
    if severity >= LEAST[outputs.fail_on]:
        return BY_SEVERITY[severity]
    left = any(one["left_running"] for one in reports)
    return ends.NOT_STOPPED if left else ends.RESULT


def _writable(*paths: Path | None) -> None:
    """Refuse at once what could not be written after a minute of probing."""
    for path in paths:
        if path is not None and not os.access(path if path.is_file() else path.parent, os.W_OK):
            raise SettingsError(
                f"{str(path)!r} cannot be written, so nothing was probed. Choose another file."
            )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, "utf-8")
    except OSError as error:
        raise SettingsError(
            f"{str(path)!r} cannot be written: {error.strerror}. Choose another file."
        ) from error


__all__ = ["BY_SEVERITY", "CALLS", "LEAST", "run"]
