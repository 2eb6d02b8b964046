"""The wire: what came is kept as it came, over HTTP and stdio, and no secret with it."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from textwrap import dedent

import anyio
import pytest
from starlette.types import Receive, Scope, Send

from awhile.errors import Unreachable
from awhile.probe import Target, Trial, probe
from awhile.probe.dialects import Modern, header_value
from awhile.probe.exchanges import (
    HIDDEN,
    Clock,
    Exchange,
    Json,
    Secrets,
    as_json,
    frame_of,
    short,
)
from awhile.probe.http import LONGEST_BYTES
from awhile.probe.limits import Budget, Limits
from awhile.probe.reports import as_data
from awhile.probe.sessions import Log, Session
from tests.interaction.server.peer import serving_app

pytestmark = pytest.mark.anyio

TOKEN = "a-secret-of-forty-letters-or-so"  # noqa: S105


class Scripted:
    """An endpoint that answers every POST with the same bytes, in parts."""

    def __init__(self, parts: list[bytes], *, status: int = 200, kind: str = "application/json"):
        self.parts = parts
        self.status = status
        self.kind = kind

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for word in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{word}.complete"})
            return
        headers = [(b"content-type", self.kind.encode()), (b"x-else", b"1")]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        for part in self.parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def session_at(app: Scripted, token: str = TOKEN) -> AsyncGenerator[Session]:
    """A caller of a scripted endpoint."""
    headers = {"authorization": f"Bearer {token}"}
    async with serving_app(app, "/mcp") as peer:
        target = Target(url=peer.url, headers=headers)
        log = Log(Clock(), Budget(Limits(answer_seconds=5)), Secrets(target.hidden))
        async with target.session("2026-07-28", log) as session:
            yield session


async def asked(app: Scripted) -> Exchange:
    async with session_at(app) as session:
        return await session.ask("tools/list", {}, "to see")


async def test_an_answer_keeps_its_status_its_headers_and_its_bytes() -> None:
    """Ours: also what is odd about it."""
    odd = '{"jsonrpc":"2.0" , "id":1,"result":{"b":1,"a":2}}'
    exchange = await asked(Scripted([odd.encode()], status=201))
    assert (exchange.status, exchange.frames[0].text) == (201, odd)
    assert set(exchange.reply_headers) == {"content-type", "date"}
    assert exchange.result == {"b": 1, "a": 2}
    assert exchange.took_ms is not None
    assert exchange.took_ms >= 0


async def test_a_stream_is_kept_event_by_event_with_its_comments() -> None:
    """Ours: cut anywhere between its bytes."""
    note = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}
    answer: Json = {"jsonrpc": "2.0", "id": 1, "result": {}}
    text = f": hello\n\nevent: message\ndata: {json.dumps(note)}\n\ndata: {json.dumps(answer)}\n\n"
    parts = [text[at : at + 7].encode() for at in range(0, len(text), 7)]
    exchange = await asked(Scripted(parts, kind="text/event-stream"))
    assert [frame.kind for frame in exchange.frames] == ["comment", "message", "message"]
    assert exchange.frames[0].text == ": hello"
    assert [frame.method for frame in exchange.frames][1] == "notifications/progress"
    assert exchange.answer_frame is exchange.frames[2]
    times = [frame.at_ms for frame in exchange.frames]
    assert times == sorted(times)


@pytest.mark.parametrize("body", [b"<h1>502</h1>", b"[1]", b"null", b"", b"\xff\xfe"])
async def test_what_is_no_answer_is_kept_and_is_none(body: bytes) -> None:
    """Ours."""
    exchange = await asked(Scripted([body], status=502))
    assert exchange.answer == {}
    assert exchange.result is None
    assert "no answer" in exchange.seen


async def test_no_secret_is_kept_even_if_the_server_repeats_it() -> None:
    """Ours."""
    echo = {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": f"not you, {TOKEN}"}}
    async with session_at(Scripted([json.dumps(echo).encode()])) as session:
        exchange = await session.ask("tools/list", {}, "to see")
        assert exchange.headers["authorization"] == HIDDEN
        kept = json.dumps(as_json(exchange, session.log.secrets))
    assert TOKEN not in kept
    assert HIDDEN in kept


async def test_a_server_that_stays_silent_is_waited_for_only_so_long() -> None:
    """Ours."""

    class Silent(Scripted):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await super().__call__(scope, receive, send)
                return
            while (await receive())["type"] != "http.disconnect":
                pass

    async with session_at(Silent([])) as session:
        exchange = await session.ask("tools/list", {}, "to see", seconds=0.2)
    assert (exchange.ending, exchange.status) == ("timed out", None)


def test_a_request_carries_version_client_and_capabilities() -> None:
    """Ours."""
    dialect = Modern()
    meta = dialect.params({"taskId": "t"}, declared=False, token=None)["_meta"]
    assert "extensions" not in meta["io.modelcontextprotocol/clientCapabilities"]
    assert dialect.headers("tasks/get", {"taskId": "t"})["mcp-name"] == "t"
    assert "mcp-name" not in dialect.headers("tools/list", {})


@pytest.mark.parametrize(
    ("name", "value"),
    [("plain", "plain"), ("größe", "=?base64?Z3LDtsOfZQ==?="), (" a", "=?base64?IGE=?=")],
)
def test_a_name_that_a_header_cannot_hold_is_encoded(name: str, value: str) -> None:
    """Ours: as the page on Streamable HTTP has it."""
    assert header_value(name) == value


STDIO = dedent(
    """
    import anyio, sys
    from mcp.server.mcpserver import MCPServer
    from awhile import Run, Tasks

    tasks = Tasks(f"sqlite:///{sys.argv[1]}")
    mcp = MCPServer("child", log_level="ERROR", **tasks.install())

    @mcp.tool()
    @tasks.tool(inline_seconds=0.02)
    async def steps(run: Run) -> str:
        for step in range(3):
            run.report(step + 1, 3, f"step {step + 1}/3")
            await anyio.sleep(0.3)
        return "done"

    mcp.run("stdio")
    """
)


async def test_a_server_over_stdio_is_probed_in_both_eras_and_ends_with_the_probe(
    tmp_path: Path,
) -> None:
    """Ours: what only HTTP has does not apply there."""
    script = tmp_path / "child.py"
    script.write_text(STDIO)
    command = (sys.executable, str(script), str(tmp_path / "t.db"))
    limits = Limits(run_seconds=8, linger_seconds=0.2, stop_seconds=3)
    report = await probe(Target(command=command), Trial(tool="steps"), limits, eras=("2026-07-28",))
    assert list(report.eras) == ["2026-07-28"]
    assert [(one.check, one.era, one.seen) for one in report.faults] == []
    older = await probe(Target(command=command), eras=("2025-11-25",))
    assert list(older.eras) == ["2025-11-25"]
    assert older.faults == []
    found = {one.check: one.seen for one in report.findings if one.era == "2026-07-28"}
    assert found["mcp-name-required"] == "there are no headers over stdio"
    assert found["listen-tells-the-end"].startswith("Pushed ")
    assert report.left_running == []


async def test_a_command_that_is_none_is_unreachable() -> None:
    """Ours."""
    with anyio.fail_after(20), pytest.raises(Unreachable, match="cannot be started"):
        await probe(Target(command=("/nowhere/at-all",)))


async def test_a_child_that_ends_at_once_is_unreachable() -> None:
    """Ours."""
    with anyio.fail_after(40), pytest.raises(Unreachable):
        await probe(Target(command=(sys.executable, "-c", "pass")))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        "[" * 100_000,
        '{"a":' * 500 + "1" + "}" * 500,
    ],
)
def test_what_is_no_json_or_deeper_than_any_message_is_kept_as_text(text: str) -> None:
    """Ours: it is there to break whoever reads on."""
    frame = frame_of(text, 0)
    assert (frame.kind, frame.message, frame.text) == ("text", None, text)


async def test_a_line_separator_inside_a_text_does_not_end_an_event() -> None:
    """Source: the HTML standard: CR LF, LF and CR end a line, and nothing else."""
    result = {"text": "one\u2028two\u0085three\x0cfour"}
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}, ensure_ascii=False)
    for end in ("\n", "\r\n", "\r"):
        stream = f"data: {answer}{end}{end}".encode() + b": and on\n"
        parts = [stream[at : at + 5] for at in range(0, len(stream), 5)]
        exchange = await asked(Scripted(parts, kind="text/event-stream"))
        assert exchange.result == result


class Flood(Scripted):
    """Sends more than anybody wants, and never ends."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await super().__call__(scope, receive, send)
            return
        headers = [(b"content-type", self.kind.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for _ in range(3 * LONGEST_BYTES // 2**20):
            await send({"type": "http.response.body", "body": b"x" * 2**20, "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            pass


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
async def test_a_body_without_end_is_read_up_to_a_bound(kind: str) -> None:
    """Ours: also one without a line end."""
    exchange = await asked(Flood([], kind=kind))
    assert exchange.answer == {}
    assert exchange.ending in ("closed", "answered")  # and not "timed out"
    assert sum(len(frame.text) for frame in exchange.frames) <= 2 * LONGEST_BYTES


async def test_the_answer_to_a_notification_is_not_read() -> None:
    """Ours: nothing is awaited in it, and it need not end."""
    async with session_at(Flood([], kind="text/event-stream")) as session:
        with anyio.fail_after(20):
            assert await session.tell({"jsonrpc": "2.0", "method": "notifications/x"}) == 200


async def test_a_redirect_is_named_and_not_followed() -> None:
    """Ours: the headers go to the address that was given, and to no other."""

    class Elsewhere(Scripted):
        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await super().__call__(scope, receive, send)
                return
            to = [(b"location", b"http://elsewhere.example/mcp")]
            await send({"type": "http.response.start", "status": 307, "headers": to})
            await send({"type": "http.response.body", "body": b""})

    async with serving_app(Elsewhere([]), "/mcp") as peer:
        report = await probe(Target(url=peer.url, headers={"authorization": f"Bearer {TOKEN}"}))
    assert report.findings == []
    for why in report.unserved.values():
        assert "HTTP 307, a redirect to http://elsewhere.example/mcp, which was not followed" in why
        assert "Give the address it redirects to" in why


@pytest.mark.parametrize(("status", "words"), [(401, "--token"), (404, "often it is /mcp")])
async def test_where_the_address_or_the_caller_is_wrong_it_says_what_to_try(
    status: int, words: str
) -> None:
    """Ours."""
    async with serving_app(Scripted([b"no"], status=status), "/mcp") as peer:
        report = await probe(Target(url=peer.url))
    assert all(words in why for why in report.unserved.values())


SLASHED = "ab/cd+a-secret=="


@pytest.mark.parametrize(
    "echo",
    [
        f"{SLASHED}",
        json.dumps(SLASHED).replace("/", "\\/"),
        "Basic " + SLASHED,
        short("x" * 120 + " " + SLASHED + " and more words", 130),
        "tiny-key",
        "in-the-query",
        "in-the-url",
    ],
)
def test_a_secret_is_hidden_however_it_is_written(echo: str) -> None:
    """Ours: escaped as JSON may, cut in the middle, or given in the address."""
    target = Target(
        url="http://ada:in-the-url@127.0.0.1/mcp?key=in-the-query",
        headers={"authorization": f"Bearer {SLASHED}", "x-key": "tiny-key"},
    )
    hidden = Secrets(target.hidden).out_of(echo)
    for part in ("ab/cd", "ab\\/cd", "tiny", "in-the"):
        assert part not in hidden
    assert HIDDEN in hidden


async def test_a_secret_may_be_a_word_of_the_report(tmp_path: Path) -> None:
    """Ours: only what a server says is searched."""
    words = {"x-one": "conforms", "x-two": "findings", "x-three": "http_status"}
    async with serving_app(Scripted([b'"findings"']), "/mcp") as peer:
        data = as_data(await probe(Target(url=peer.url, headers=words)))
    assert data["worst"] == "conforms"
    assert HIDDEN in str(data["eras"])


async def test_what_a_command_has_started_ends_with_the_probe(tmp_path: Path) -> None:
    """Ours: a wrapper passes no signals on, and may be gone before its server."""
    script = tmp_path / "wrapper.sh"
    script.write_text(f"sleep 600 > /dev/null & echo $! > {tmp_path}/pid\nexit 0\n")
    with pytest.raises(Unreachable):
        await probe(Target(command=("/bin/sh", str(script))), eras=("2026-07-28",))
    pid = int((tmp_path / "pid").read_text())
    with anyio.fail_after(20):
        while running(pid):  # noqa: ASYNC110 - it is another process
            await anyio.sleep(0.05)


def running(pid: int) -> bool:
    """Whether a process works; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
