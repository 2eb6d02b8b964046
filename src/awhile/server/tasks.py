"""`Tasks`: durable, honest, stoppable long work for an MCPServer."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from awhile.errors import SettingsError
from awhile.runtime.bodies import RunIn, placed
from awhile.runtime.roster import Roster
from awhile.runtime.run import current_run
from awhile.runtime.worker import Worker, wall_clock_ms
from awhile.server import principal as principals
from awhile.server import starting
from awhile.server.beside import owned
from awhile.server.calls import Calls
from awhile.server.checks import check_kept_headers, check_streams, check_tools
from awhile.server.deployment import Deployment
from awhile.server.direct import Direct
from awhile.server.extension import TasksExtension
from awhile.server.listen import Listening
from awhile.server.middleware import TasksMiddleware
from awhile.server.operating import Operating, operated
from awhile.server.options import Rerun, TaskSupport, ToolOptions
from awhile.server.pace import Pace
from awhile.server.program import ServerProgram
from awhile.server.publishing import StoreBus
from awhile.server.reach import Reach
from awhile.server.retries import remember_sealed_states
from awhile.server.signals import before_ending
from awhile.server.subscribers import Subscribers
from awhile.server.unwrapped import keep_alive
from awhile.server.v2025 import Era2025
from awhile.server.waiting import Waiting
from awhile.server.wrap import run_parameters, wrapped
from awhile.tasks.record import DEFAULT_KEEP_MS
from awhile.telemetry.observed import observed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence

    from mcp.server.context import ServerMiddleware, ServerRequestContext
    from mcp.server.extension import Extension
    from mcp.server.mcpserver import Context, MCPServer
    from mcp.server.subscriptions import ServerEvent, SubscriptionBus
    from starlette.types import ASGIApp

    from awhile.runtime.outside import Stop
    from awhile.server.closing import Underway
    from awhile.stores.contract import Detail, Store, TaskStore
    from awhile.tasks import TaskRecord

    Lifespan = Callable[[MCPServer[Any]], AbstractAsyncContextManager[Any]]

Function = TypeVar("Function", bound="Callable[..., Any]")

INLINE_SLOTS = 32
"""How many calls that are never tasks run at once in a process that leaves tasks to workers."""


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
            or a store of your own (`awhile.stores.contract.Store`). None: whoever serves the module
            says it (``awhile serve module:mcp --store …``).
        slots: how many bodies run at once in this process; more wait as tasks. 0 runs none here
            (workers on the same store do), but for those of tools that are never tasks.
        lease_seconds: how long a task may say ``working`` after its process vanished.
        drain_seconds: how long bodies get to end when the server is stopped.
        gone_tool_seconds: how long a task may wait for a worker although none has said for as long
            that it knows the task's tool; then it ends ``failed`` (reason ``tool_gone``).
        max_queued: how many tasks may wait to start, over every process on the store; a call
            beyond is refused, with a hint when to try again (error -32010, ``retryAfterSeconds``).
            None: no bound.
        max_queued_per_owner: how many of one caller.
        max_running_per_owner: how many tasks of one caller run at once, over every process on the
            store; more wait. None: no bound but that, in each process, one caller gets three
            quarters of the slots at most.
        keep_headers: the HTTP request headers that a task keeps, for bodies that read them by
            ``ctx.headers``: one that runs in another process, or again, sees these alone.
        inline_limit_seconds: how long a call of a client that takes no tasks waits for its answer;
            then it says that the work goes on, and under which id. Many hosts wait 60 s at most.
        abandoned_seconds: how long such a call's work goes on after its client has left, where
            leaving does not mean cancelling (2025-11-25).
        companion_tools: offer ``task_result``, ``task_answer``, ``task_cancel`` and ``task_list``
            beside the task tools, for hosts without task support. Without them, those wait for as
            long as it takes, and can be asked nothing.
        listen_seconds: how long a listen stream lives; its client then opens another.
        listen_streams: how many listen streams are served at once, to one caller (by their token,
            or else their address behind a proxy) a quarter of them at most; 0 serves none.
        principal: who is calling; the default is the verified bearer token, else anonymous.
        now_ms: the clock, Unix milliseconds.

    Raises:
        SettingsError: a value that cannot work.
    """

    def __init__(
        self,
        store: str | Store | None = None,
        *,
        slots: int = 32,
        lease_seconds: float = 6.0,
        drain_seconds: float = 5.0,
        gone_tool_seconds: float = 300.0,
        max_queued: int | None = 10_000,
        max_queued_per_owner: int | None = 1_000,
        max_running_per_owner: int | None = None,
        keep_headers: Collection[str] = (),
        inline_limit_seconds: float = 45.0,
        abandoned_seconds: float = 60.0,
        companion_tools: bool = True,
        listen_seconds: float = 3600.0,
        listen_streams: int = 1024,
        principal: Callable[[ServerRequestContext[Any, Any]], str] = principals.principal,
        now_ms: Callable[[], int] = wall_clock_ms,
    ) -> None:
        check_kept_headers(keep_headers)
        self._deployment = Deployment(
            store=store,
            slots=slots,
            lease_seconds=lease_seconds,
            drain_seconds=drain_seconds,
            gone_tool_seconds=gone_tool_seconds,
            max_queued=max_queued,
            max_queued_per_owner=max_queued_per_owner,
            max_running_per_owner=max_running_per_owner,
            operating=Operating(),
        )
        self.draining = False
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
        self._listening: Listening | None = None
        self._subscribers = Subscribers(None)
        self._calls = Calls(self._tools, principal, now_ms, waiting, keep_headers)
        self._legacy = Era2025(self._calls)
        self._pace = Pace()
        self._reach = Reach()

    @classmethod
    def of(cls, server: MCPServer[Any]) -> Tasks | None:
        """What `install` was called on for this server; None if it has no tasks."""
        for one in server.middleware:
            if isinstance(one, TasksMiddleware):
                return one.tasks
        return None

    def direct(self, app: ASGIApp, server: MCPServer[Any]) -> ASGIApp:
        """The server's endpoint with plain looks at tasks answered before it."""
        return Direct(app, server, self._calls, self._pace)

    @property
    def deployment(self) -> Deployment:
        """Where tasks are kept, and how this process works."""
        return self._deployment

    def deploy(self, **decided: Any) -> None:
        """Decide what the module has left open, or otherwise than it has: fields of `Deployment`.

        Raises:
            SettingsError: a value cannot work, or the server is running already.
        """
        if self._calls.is_open:
            raise SettingsError("The server is running already; decide where before it does.")
        self._deployment = replace(self._deployment, **decided)

    async def drain(self) -> None:
        """Get ready to end: take no more work, and let what runs end within ``drain_seconds``.

        From here on the server is not `ready`, its listen streams end, and calls that would become
        tasks are left to others on the store. Everything else is still answered. What goes on
        after that is stopped and handed back when the lifespan ends.
        """
        self.draining = True
        self._calls.works_here = False
        self.close_streams()
        if self._calls.is_open:
            await self._calls.worker.finish(self._deployment.drain_seconds)

    async def conclude(self) -> None:
        """Stop what runs here, and answer every open call: with its task's handle, with how its
        task stands, or with the error that the server has stopped. To be awaited before the HTTP
        server closes its connections, which takes four seconds at most; again, it does nothing."""
        self.draining = True
        self.close_streams()
        await self._calls.conclude()

    @property
    def answering(self) -> Underway:
        """Counts the HTTP requests that have no whole answer yet."""
        return self._calls.answering

    def close_streams(self) -> None:
        """End every open listen stream with its result, because the process is about to end."""
        if self._listening is not None:
            self._listening.close()

    @property
    def listeners(self) -> int:
        """How many listen streams are open."""
        return 0 if self._listening is None else self._listening.count

    async def ready(self) -> bool:
        """Whether this process does what it is for: it is not ending, and its store answers."""
        if self.draining or not self._calls.is_open:
            return False
        return await self._reach.answers(self._calls.store)

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
        detail: Detail = "whole",
    ) -> Sequence[TaskRecord]:
        """The calling principal's own tasks, newest first: the 2026-07-28 era has no listing.

        Args:
            ctx: the call this is done for; its principal is whose tasks are found.
            tools: only tasks of these tools.
            after_rev: only tasks that changed after this revision of the store.
            limit: how many at most.
            detail: "brief" leaves the results out, "outline" also what the tasks were given, asked
                and noted; what is left out is not read.
        """
        owner = self.owner(ctx)
        return await self.store.find(
            owner=owner, tools=tools, after_rev=after_rev, limit=limit, detail=detail
        )

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
        return await owned(self, self.owner(ctx), task_id)

    async def start(
        self, ctx: Context[Any, Any], tool: str, arguments: Mapping[str, Any]
    ) -> TaskRecord:
        """Start a call of one of the task tools for the calling principal; nobody waits for it.

        It is a task at once, for whichever worker is free, and outlives this call. Its arguments
        are checked when it begins. It can ask its caller what this call's client declared, where
        that takes tasks of 2026-07-28.

        Args:
            ctx: the call this is done for.
            tool: the tool.
            arguments: its arguments, without those filled in by us.

        Raises:
            QueueFull: too many tasks wait already.
            SettingsError: there is no such task tool.
            MCPError: the arguments' request key was used before, for another call.
        """
        return await starting.start(self._calls, ctx.request_context, tool, arguments)

    def owner(self, ctx: Context[Any, Any]) -> str:
        """The principal that a call is served for: whose tasks are `mine`."""
        run = current_run.get(None)  # a body may run where its caller is known by the task alone
        return self._calls.principal(ctx.request_context) if run is None else run.owner

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
                carries them to the listeners of every process on the store, and to sessions of
                the eras before 2026-07-28 there; a bus of yours wherever it does. Without, only
                tasks can be listened to, and only that is advertised.
        """
        bus: SubscriptionBus | None = self._bus if subscriptions == "store" else subscriptions
        if not self._calls.waiting.listen_streams:
            bus = None
        self._published = bus
        self._listening = listening = Listening(self._calls, bus)
        self._subscribers = subscribers = Subscribers(bus)
        return {
            "extensions": [TasksExtension(self._calls, self._legacy, self._pace), *extensions],
            "middleware": [*middleware, TasksMiddleware(self._calls, listening, subscribers, self)],
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
        unobserved_seconds: float | None = None,
        asks_by_answer: bool = True,
        stop: Stop | None = None,
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
            unobserved_seconds: how long the work goes on while its caller does not look (no get, no
                open stream, no waiting call); then it is stopped and its task ends ``failed``
                (reason ``unobserved``). For queries that cost money, 1800 is a good bound. A call
                may say otherwise for itself, in its ``_meta`` under ``awhile/unobservedSeconds``:
                a number, or null to let it go on. None: as long as it takes.
            asks_by_answer: whether a host that takes no tasks and declares no forms is asked by the
                call's answer, for its model to pass on by ``task_answer``. False: the body gets
                `CannotAsk` at once, and can say in its result how to go on.
            stop: stops what a body has started elsewhere through `Run.once`: called with the
                journal (each key's `Entry`) when a stop is asked, also when the body is long gone
                with its process. Returns a `StoppedHow` as proof; without one the task says that
                the work may still be having effects. A plain function runs in a thread. It is not
                called when a process stops whose task another one goes on with (``rerun="safe"``).

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
                unobserved_seconds=unobserved_seconds,
                asks_by_answer=asks_by_answer,
                stop=stop,
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
        keep_alive(server)
        if self._calls.is_open:
            raise SettingsError(
                f"{server.name!r} is being served already: its tasks have one worker in a process. "
                "Serve it once (several HTTP clients may connect), or build a second server."
            )
        where = self._deployment
        self.draining = False
        self._calls.lifespan_state = state
        async with AsyncExitStack() as stack:
            store = await stack.enter_async_context(observed(where.unopened()))
            worker = Worker(
                store,
                ServerProgram(server, self._tools, state),
                slots=where.slots or INLINE_SLOTS,
                lease_seconds=where.lease_seconds,
                drain_seconds=where.drain_seconds,
                claims=where.slots > 0,
                bounds=where.bounds,
                now_ms=self._now_ms,
            )
            await stack.enter_async_context(worker.running())
            if where.slots > 0:
                roster = Roster(
                    store, self._tools, gone_seconds=where.gone_tool_seconds, now_ms=self._now_ms
                )
                await stack.enter_async_context(roster.running())
            if self._published is self._bus:
                await stack.enter_async_context(self._bus.running(store))
            await stack.enter_async_context(self._subscribers.running())
            await stack.enter_async_context(self._legacy.followers.running(store))
            await stack.enter_async_context(self._calls.looking.running(store))
            structured = [one.name for one in tools if one.output_schema]
            self._calls.open(
                store,
                worker,
                structured,
                list_tools=server.list_tools,
                works_here=where.slots > 0,
            )
            stack.callback(self._calls.close)
            await stack.enter_async_context(operated(self, store, worker, self._tools))
            stack.enter_context(before_ending(self.close_streams))
            yield
