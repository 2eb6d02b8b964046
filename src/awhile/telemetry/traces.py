"""The trace a task belongs to: its caller's, kept with the task for whoever runs it.

MCP carries the W3C trace context in a request's ``params._meta`` (``traceparent``, ``tracestate``),
and the official SDK makes it current while it answers. Here it is written down with the task, so
that a worker in another process, or after a crash, goes on with the same trace.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from opentelemetry import trace
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Span

    from awhile.tasks import TaskRecord

TRACE = "trace"
"""The key, in a record's context, of the trace context of its call."""

TASK_ID, TOOL, STATUS = "awhile.task.id", "gen_ai.tool.name", "awhile.task.status"

_tracer = trace.get_tracer("awhile")
# Not the program's own propagator: a record is read by processes that may be set up otherwise, and
# baggage may hold what should not be kept for days.
_w3c = TraceContextTextMapPropagator()


def carried() -> dict[str, Any]:
    """What to keep of the current trace with a task; empty where there is none."""
    carrier: dict[str, str] = {}
    _w3c.inject(carrier)
    return {TRACE: carrier} if carrier else {}


def trace_of(record: TaskRecord) -> Context | None:
    """The context whose children belong to the trace of the task's call; None: it has none."""
    carrier = record.context.get(TRACE)
    if not isinstance(carrier, dict):
        return None
    found = _w3c.extract(carrier)  # pyright: ignore[reportUnknownArgumentType]
    return found if trace.get_current_span(found).get_span_context().is_valid else None


def attributes_of(record: TaskRecord) -> dict[str, str | int]:
    """What every span about a task says of it."""
    return {
        "gen_ai.operation.name": "execute_tool",
        TOOL: record.tool,
        TASK_ID: record.task_id,
        "awhile.task.attempt": record.attempt,
        "awhile.task.generation": record.generation,
    }


@contextmanager
def attempt(tool: str, record: TaskRecord | None, **more: str) -> Generator[Span]:
    """The span of one run of a body, current while the block runs.

    A body whose task was claimed goes on with the trace kept in its record; one that a call of this
    process has started is a child of that call.
    """
    kept = None if record is None else trace_of(record)
    if kept is None and not provided():
        yield trace.get_current_span()
        return
    with _tracer.start_as_current_span(
        f"execute_tool {tool}",
        context=kept,
        kind=SpanKind.INTERNAL if record is None else SpanKind.CONSUMER,
        attributes={
            **({TOOL: tool} if record is None else attributes_of(record)),
            "gen_ai.operation.name": "execute_tool",
            **{name.replace("_", "."): value for name, value in more.items()},
        },
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        yield span


@contextmanager
def submission(record: TaskRecord) -> Generator[Span]:
    """The span of keeping a new task; only where tracing is `provided`."""
    with _tracer.start_as_current_span(
        f"submit {record.tool}", kind=SpanKind.PRODUCER, attributes=attributes_of(record)
    ) as span:
        yield span


def provided() -> bool:
    """Whether this program has set up tracing. Without it, even spans that go nowhere take a tenth
    of what a task takes (measured)."""
    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def recording() -> bool:
    """Whether this code is part of something that is being traced."""
    return trace.get_current_span().is_recording()


@contextmanager
def store_operation(said: Mapping[str, str]) -> Generator[None]:
    """The span of one operation of the store; only where something is being traced (`recording`).

    What workers do of themselves, every second, would be traces of nothing.
    """
    name = f"{said['db.operation.name']} tasks"
    with _tracer.start_as_current_span(name, kind=SpanKind.CLIENT, attributes=said):
        yield


def past(name: str, record: TaskRecord, *, from_ms: int, to_ms: int, **more: str) -> None:
    """A span of something about a task that is over: its time in the queue, its stopping."""
    parent = trace_of(record)
    if parent is None and not recording():
        return  # nobody traces it: a span of its own would tell nothing that the metrics do not
    span = _tracer.start_span(
        f"{name} {record.tool}",
        context=parent,
        attributes={
            **attributes_of(record),
            **{key.replace("_", "."): value for key, value in more.items()},
        },
        start_time=from_ms * 1_000_000,
    )
    span.end(max(from_ms, to_ms) * 1_000_000)


def failed(span: Span, error_type: str, words: str = "") -> None:
    """Mark a span as ended in an error, in the SDK's own terms for tools."""
    span.set_attribute("error.type", error_type)
    span.set_status(StatusCode.ERROR, words or None)


def about(span: Span, facts: Mapping[str, str | int]) -> None:
    """Say more of a span."""
    if span.is_recording():
        span.set_attributes(facts)


__all__ = [
    "STATUS",
    "TASK_ID",
    "TOOL",
    "TRACE",
    "about",
    "attempt",
    "attributes_of",
    "carried",
    "failed",
    "past",
    "recording",
    "store_operation",
    "submission",
    "trace_of",
]
