"""`Tasks`: durable, honest, stoppable long work for an MCPServer."""

from __future__ import annotations

import logging
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from awhile.errors import SettingsError
from awhile.runtime.bodies import RunIn, placed
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.server import principal as principals
from awhile.server.calls import Calls
from awhile.server.checks import check_streams, check_tools
from awhile.server.extension import TasksExtension
from awhile.server.listen import Listening
from awhile.server.middleware import TasksMiddleware
from awhile.server.options import Rerun, TaskSupport, ToolOptions
from awhile.server.program import ServerProgram
from awhile.server.publishing import StoreBus
from awhile.server.retries import remember_sealed_states
from awhile.server.v2025 import Era2025
from awhile.server.waiting import Waiting
from awhile.server.wrap import run_parameters, wrapped
from awhile.stores.open import open_store
from awhile.tasks.record import DEFAULT_KEEP_MS

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence

    from mcp.server.context import ServerMiddleware, ServerRequestContext
    from mcp.server.extension import Extension
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.subscriptions import ServerEvent, SubscriptionBus

    from awhile.stores.contract import Store, TaskStore
    from awhile.tasks import TaskRecord

    Lifespan = Callable[[MCPServer[Any]], AbstractAsyncContextManager[Any]]

logger = logging.getLogger(__name__)

Function = TypeVar("Function", bound="Callable[..., Any]")


class Tasks:
    """Gives the tools of one MCPServer durable tasks.

    ::

        tasks = Tasks("sqlite:///reports.db")
        mcp = MCPServer("reports", **tasks.install())

        @mcp.tool()
        @tasks.tool(inline_seconds=3)
        async def yearly(year: int, run: Run) -> list[str]: ...

    Args:
        store: where tasks are kept: a URL (``sqlite:///relative.db``, ``sqlite:////absolute.db``)
            or a store of your own (`awhile.stores.contract.Store`).
        slots: how many bodies run at once in this process; more wait as tasks.
        lease_seconds: how long a task may say ``working`` after its process vanished.
        drain_seconds: how long bodies get to end when the server is stopped.
        inline_limit_seconds: how long a call of a client that takes no tasks waits for its answer;
            then it says that the work goes on, and under which id. Many hosts wait 60 s at most.
        abandoned_seconds: how long such a call's work goes on after its client has left, where
            leaving does not mean cancelling (2025-11-25).
        companion_tools: offer ``task_result``, ``task_cancel`` and ``task_list`` beside the task
            tools, for hosts without task support; without them, those wait for as long as it takes.
        listen_seconds: how long a listen stream lives; its client then opens another.
        listen_streams: how many listen streams are served at once; 0 serves none.
        principal: who is calling; the default is the verified bearer token, else anonymous.
        now_ms: the clock, Unix milliseconds.

    Raises:
        SettingsError: a value that cannot work.
    """

    def __init__(
        self,
        store: str | Store,
        *,
        slots: int = 32,
        lease_seconds: float = 6.0,
        drain_seconds: float = 5.0,
        inline_limit_seconds: float = 45.0,
        abandoned_seconds: float = 60.0,
        companion_tools: bool = True,
        listen_seconds: float = 3600.0,
        listen_streams: int = 1024,
        principal: Callable[[ServerRequestContext[Any, Any]], str] = principals.principal,
        now_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        if isinstance(store, str):
            open_store(store)  # opens nothing yet, but refuses a bad URL here and now
        self._store = store
        self._slots = slots
        self._lease_seconds = lease_seconds
        self._drain_seconds = drain_seconds
        self._now_ms = now_ms
        self._tools: dict[str, ToolOptions] = {}
        waiting = Waiting(
            inline_limit_seconds=inline_limit_seconds,
            abandoned_seconds=abandoned_seconds,
            companion_tools=companion_tools,
            listen_seconds=listen_seconds,
            listen_streams=listen_streams,
        )
        self._bus = StoreBus(now_ms)
        self._published: SubscriptionBus | None = None
        self._calls = Calls(self._tools, principal, now_ms, waiting)
        self._legacy = Era2025(self._calls)

    @property
    def store(self) -> TaskStore:
        """The open store, for tools that list or look at tasks themselves.

        Raises:
            SettingsError: the server's lifespan is not running.
        """
        return self._calls.store

    async def find(
        self,
        ctx: Context[Any, Any],
        *,
        tools: Collection[str] | None = None,
        after_rev: int = 0,
        limit: int = 100,
    ) -> Sequence[TaskRecord]:
        """The calling principal's own tasks, newest first: the 2026-07-28 era has no listing.

        Args:
            ctx: the call this is done for; its principal is whose tasks are found.
            tools: only tasks of these tools.
            after_rev: only tasks that changed after this revision of the store.
            limit: how many at most.
        """
        owner = self._calls.principal(ctx.request_context)
        return await self.store.find(owner=owner, tools=tools, after_rev=after_rev, limit=limit)

    async def publish(self, event: ServerEvent) -> None:
        """Tell listeners that a list or a resource has changed; also from outside of a call.

        Args:
            event: ``ToolsListChanged()``, ``PromptsListChanged()``, ``ResourcesListChanged()`` or
                ``ResourceUpdated(uri)``, of ``mcp.server.subscriptions``.

        Raises:
            SettingsError: `install` was not given ``subscriptions``, or the server is not running.
        """
        if self._published is None:
            raise SettingsError(
                "Nobody can listen for this: give install() subscriptions='store' (or a bus of "
                "yours), so that it is advertised and carried."
            )
        await self._published.publish(event)

    async def mine(self, ctx: Context[Any, Any], task_id: str) -> TaskRecord | None:
        """The task, if it is the calling principal's own; None otherwise."""
        record = await self.store.get(task_id)
        if record is None or record.owner != self._calls.principal(ctx.request_context):
            return None
        return record

    def install(
        self,
        *,
        extensions: Sequence[Extension] = (),
        middleware: Sequence[ServerMiddleware[Any]] = (),
        lifespan: Lifespan | None = None,
        subscriptions: Literal["store"] | SubscriptionBus | None = None,
    ) -> dict[str, Any]:
        """The keyword arguments that make an MCPServer serve tasks.

        Args:
            extensions: other extensions of yours, kept beside ours.
            middleware: your own middleware, kept outside ours.
            lifespan: your own lifespan; what it yields stays the lifespan context.
            subscriptions: give it if your server publishes changes of its lists or resources
                (``ctx.notify_tools_changed()``, ``tasks.publish(…)`` and their like): "store"
                carries them to the listeners of every process on the store, a bus of yours
                wherever it does. Without, only tasks can be listened to, and only that is
                advertised.
        """
        bus: SubscriptionBus | None = self._bus if subscriptions == "store" else subscriptions
        if not self._calls.waiting.listen_streams:
            bus = None
        self._published = bus
        listening = Listening(self._calls, bus)
        return {
            "extensions": [TasksExtension(self._calls, self._legacy), *extensions],
            "middleware": [*middleware, TasksMiddleware(self._calls, listening)],
            "lifespan": self._lifespan(lifespan),
            # The SDK advertises what its own handler of listen requests could deliver.
            "subscriptions": bus or False,
        }

    def tool(
        self,
        *,
        name: str | None = None,
        run_in: RunIn | None = None,
        task_support: TaskSupport = "optional",
        inline_seconds: float = 2.0,
        rerun: Rerun = "never",
        kept: Literal["when_slow", "always"] = "when_slow",
        request_key: str | None = None,
        keep_seconds: float | None = DEFAULT_KEEP_MS / 1000,
        give_up_seconds: float = 60.0,
        grace_seconds: float = 2.0,
        work_seconds: float | None = None,
        answer_seconds: float | None = None,
    ) -> Callable[[Function], Function]:
        """Declare a tool's calls as possibly long. Goes under ``@mcp.tool()``.

        Args:
            name: the tool's name, if ``@mcp.tool(name=…)`` gives it another than the function's.
            run_in: ``"async"`` (coroutine functions), ``"thread"`` (the default for plain ones) or
                ``"process"``: a child process of its own, which can always be stopped.
            task_support: ``"optional"``; ``"required"``: clients that cannot take tasks are refused
                before the body starts; ``"forbidden"``: never a task.
            inline_seconds: a body that ends within this is answered at once, without a task.
            rerun: ``"safe"`` allows running the body again, at most three times in all, after the
                process that ran it was lost; by default such a task ends ``failed``, saying so.
            kept: ``"always"`` keeps every call as a task, also the quick ones.
            request_key: the name of an argument that makes retries safe: the same key from the same
                caller finds the same task. Needs ``kept="always"``.
            keep_seconds: how long a result lives after the end; None for ever.
            give_up_seconds: how long after a stop was asked the task is ended as *not stopped*.
            grace_seconds: how long a child process gets to end by itself before it is killed.
            work_seconds: how long a body may work before it is stopped and its task ends
                ``failed`` (reason ``work_deadline``). Time spent waiting for an answer does not
                count. None: for as long as it takes.
            answer_seconds: how long a question of the body waits for its answer; then its task ends
                ``failed`` (reason ``answer_deadline``), unless the body goes on by itself. None:
                until somebody answers or stops it.

        Raises:
            SettingsError: the combination cannot work.
        """

        def declare(function: Function) -> Function:
            place = placed(function, run_in)
            tool_name = name or function.__name__
            if tool_name in self._tools:
                raise SettingsError(f"Two task tools are named {tool_name!r}; rename one of them.")
            if request_key is not None and kept != "always":
                raise SettingsError(
                    f"request_key of tool {tool_name!r} needs kept='always': a retry can only find "
                    "a call that was kept from the start."
                )
            options = ToolOptions(
                name=tool_name,
                run_parameters=run_parameters(function),
                run_in=place,
                task_support=task_support,
                inline_seconds=inline_seconds,
                rerun=rerun,
                kept=kept,
                request_key=request_key,
                keep_seconds=keep_seconds,
                give_up_seconds=give_up_seconds,
                grace_seconds=grace_seconds,
                work_seconds=work_seconds,
                answer_seconds=answer_seconds,
            )
            self._tools[tool_name] = options
            return wrapped(function, options)  # type: ignore[return-value]

        return declare

    def _lifespan(self, inner: Lifespan | None) -> Lifespan:
        @asynccontextmanager
        async def lifespan(server: MCPServer[Any]) -> AsyncGenerator[Any]:
            async with AsyncExitStack() as stack:
                state: Any = {}
                if inner is not None:
                    state = await stack.enter_async_context(inner(server))
                await stack.enter_async_context(self._serving(server, state))
                yield state

        return lifespan

    @asynccontextmanager
    async def _serving(self, server: MCPServer[Any], state: Any) -> AsyncGenerator[None]:
        tools = await server.list_tools()
        check_tools(server, [tool.name for tool in tools], self._tools)
        check_streams(server, self._tools)
        remember_sealed_states(server)
        if self._calls.is_open:
            raise SettingsError(
                f"{server.name!r} is being served already: its tasks have one worker in a process. "
                "Serve it once (several HTTP clients may connect), or build a second server."
            )
        async with AsyncExitStack() as stack:
            unopened = open_store(self._store) if isinstance(self._store, str) else self._store
            store = await stack.enter_async_context(unopened)
            worker = Worker(
                store,
                ServerProgram(server, self._tools, state),
                slots=self._slots,
                lease_seconds=self._lease_seconds,
                drain_seconds=self._drain_seconds,
                now_ms=self._now_ms,
            )
            await stack.enter_async_context(worker.running())
            if self._published is self._bus:
                await stack.enter_async_context(self._bus.running(store))
            await stack.enter_async_context(self._legacy.followers.running(store))
            self._calls.open(store, worker, [one.name for one in tools if one.output_schema])
            stack.callback(self._calls.close)
            yield
