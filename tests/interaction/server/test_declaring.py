"""What cannot work is refused when it is declared or served, saying what would happen."""

from __future__ import annotations

import functools
import socket
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile import Run, Tasks
from awhile.errors import SettingsError
from awhile.server.http import serve, serve_http
from tests.interaction.server.conftest import App
from tests.interaction.server.peer import until

pytestmark = pytest.mark.anyio


async def coroutine() -> str:
    """A body of its own."""
    return "done"


def plain() -> str:
    """Another one."""
    return "done"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"request_key": "key"}, "needs kept='always'"),
        ({"task_support": "forbidden", "kept": "always"}, "forbids tasks but"),
        ({"inline_seconds": -1}, "inline_seconds of tool 'coroutine' is -1"),
        ({"inline_seconds": 4000}, "between 0 and 3600 seconds"),
        ({"give_up_seconds": 0}, "give_up_seconds"),
        ({"grace_seconds": -0.1}, "grace_seconds"),
        ({"keep_seconds": -1}, "keep_seconds"),
        ({"run_in": "thread"}, "use run_in='async'"),
    ],
)
def test_options_that_cannot_work_are_refused(
    app: App, options: dict[str, Any], words: str
) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match=words):
        app.tasks.tool(**options)(coroutine)


def test_a_plain_function_cannot_be_awaited(app: App) -> None:
    """Ours: it would block every other call."""
    with pytest.raises(SettingsError, match="it would block every other call"):
        app.tasks.tool(run_in="async")(plain)


def test_a_closure_cannot_run_in_a_process_of_its_own(app: App) -> None:
    """Ours: a child could not import it."""

    def local() -> str:
        return "done"

    with pytest.raises(SettingsError, match="top level of a module"):
        app.tasks.tool(run_in="process")(local)


def test_two_tools_of_one_name_are_refused(app: App) -> None:
    """Ours."""
    app.tasks.tool()(coroutine)
    with pytest.raises(SettingsError, match="Two task tools are named 'coroutine'"):
        app.tasks.tool()(coroutine)


def test_annotations_that_cannot_be_read_are_said_to_be_so(app: App) -> None:
    """Ours: otherwise the run would silently be an argument of the tool."""

    def work(run: Run) -> str:
        return "done"

    work.__annotations__["run"] = "Missing"
    with pytest.raises(SettingsError, match="outside of 'if TYPE_CHECKING'"):
        app.tasks.tool()(work)


@pytest.mark.parametrize(
    ("url", "words"),
    [("nowhere://x", "No store is installed for 'nowhere'"), ("sqlite:///:memory:", "in memory")],
)
def test_a_store_that_cannot_be_opened_is_refused_at_once(url: str, words: str) -> None:
    """Ours: not at the first call."""
    with pytest.raises(SettingsError, match=words):
        Tasks(url)


def test_the_store_is_only_there_while_the_server_is_served(app: App) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match="its lifespan opens the store"):
        _ = app.tasks.store


async def test_a_run_is_no_argument_of_the_tool(app: App) -> None:
    """Ours: the schema that a model reads has what a caller gives."""

    @app.tool()
    async def work(year: int, run: Run) -> str:
        return f"{year}"

    async with app.serving() as peer:
        tools = (await peer.ask("tools/list", {})).result["tools"]
        [tool] = [one for one in tools if one["name"] == "work"]
    assert list(tool["inputSchema"]["properties"]) == ["year"]
    assert tool["outputSchema"]["properties"]["result"]["type"] == "string"


async def test_a_functions_own_decorators_stay(app: App) -> None:
    """Ours."""

    def shouting(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def louder(*args: Any, **kwargs: Any) -> str:
            return str(await function(*args, **kwargs)).upper()

        return louder

    @app.tool(inline_seconds=30)
    @shouting
    async def greet(name: str, run: Run) -> str:
        return f"hello, {name} {run.attempt}"

    async with app.serving() as peer:
        assert (await peer.call("greet", name="ada")).text == "HELLO, ADA 1"


async def test_anonymous_callers_come_from_this_machine_alone(app: App) -> None:
    """Ours: anybody who reaches the address could read and stop every task."""
    with pytest.raises(SettingsError, match=r"'0.0.0.0' and the server has no authentication"):
        await serve_http(app.mcp, host="0.0.0.0")  # noqa: S104


async def test_a_port_that_is_taken_is_said_to_be(app: App) -> None:
    """Ours."""
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port} cannot be listened on"):
            await serve_http(app.mcp, port=port)


def test_a_program_that_cannot_serve_ends_with_few_lines_before_the_reason(app: App) -> None:
    """Ours: a taken port was told in the last of 37."""
    with closing(socket.socket()) as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(SettingsError) as refused:
            serve(app.mcp, port=port)
    lines = "".join(traceback.format_exception(refused.value)).splitlines()
    assert f"127.0.0.1:{port} cannot be listened on" in lines[-1]
    assert len(lines) < 10


async def test_polls_are_asked_for_as_rarely_as_the_work_is_long(tmp_path: Path) -> None:
    """Ours: a tenth of the task's age, between a quarter of a second and five."""
    now = 1_795_953_600_000
    clocked = App(tmp_path / "tasks.db", now_ms=lambda: now, lease_seconds=10_000)

    @clocked.tool(inline_seconds=0)
    async def work() -> str:
        await anyio.sleep_forever()
        raise AssertionError

    async with clocked.serving() as peer:
        created = (await peer.call("work")).result
        assert created["pollIntervalMs"] == 250
        assert created["createdAt"] == "2026-11-29T12:00:00.000Z"
        for age_ms, poll_ms in ((1000, 250), (10_000, 1000), (50_000, 5000), (9_000_000, 5000)):
            now = 1_795_953_600_000 + age_ms
            assert (await peer.get(created["taskId"]))["pollIntervalMs"] == poll_ms
        await peer.cancel(created["taskId"])
        await peer.ended(created["taskId"])


async def test_a_task_is_deleted_once_it_has_expired(tmp_path: Path) -> None:
    """Ours: and then it reads like any unknown one."""
    app = App(tmp_path / "tasks.db")

    @app.tool(task_support="required", keep_seconds=0)
    async def work() -> str:
        return "done"

    async with app.serving() as peer:
        task_id = await peer.start("work")
        await peer.ended(task_id)
    async with app.serving() as peer:
        gone: list[str] = []
        while not gone:
            reply = await peer.ask("tasks/get", {"taskId": task_id})
            gone += [reply.error["message"]] if "error" in reply.message else []
        await until(lambda: bool(gone), "it is gone")
    assert "may have expired" in gone[0]


@pytest.mark.parametrize("tool", [functools.partial(plain), type("Callable", (), {})()])
def test_what_is_no_function_is_no_tool(app: App, tool: Callable[..., Any]) -> None:
    """Ours: it has no name and no annotations to show to a client."""
    with pytest.raises(SettingsError, match="is no function or method"):
        app.tasks.tool(name="tool")(tool)


async def coming() -> AsyncIterator[int]:
    """A function that has no one result."""
    yield 1


def test_a_function_that_yields_is_no_tool(app: App) -> None:
    """Ours: its result would be the text "<async_generator object …>"."""
    with pytest.raises(SettingsError, match="a tool has one result"):
        app.tasks.tool()(coming)
