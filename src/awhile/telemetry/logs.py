"""Which task a log line is about, as attributes of the line: ``task_id``, and the trace.

A line written while a body runs is about its task, whoever writes it: the runtime, the tool, or a
library the tool uses, in a thread or out of it. `TaskContext` puts that on every line that passes a
handler it is added to; ``awhile serve`` and ``awhile worker`` add it to theirs. Lines of the
runtime that are about a task outside of its body name it themselves (`about_task`).
"""

from __future__ import annotations

import contextvars
import json
import logging
import time
from typing import TYPE_CHECKING, Any, Protocol

from opentelemetry import trace

from awhile.visible import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Subject(Protocol):
    """What a line can be about: a run, which has an id once its call is a task."""

    id: str | None


subject: contextvars.ContextVar[Subject] = contextvars.ContextVar("awhile_subject")
"""The run that this code is part of, if any."""

TASK_ID = "task_id"

OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every line of `logging` has; everything else was given as ``extra``."""


def about_task(task_id: str) -> dict[str, str]:
    """The ``extra`` of a line about this task."""
    return {TASK_ID: task_id}


def task_logger(name: str) -> logging.Logger:
    """A logger of ours whose lines bear their task also where no handler adds it."""
    logger = logging.getLogger(name)
    logger.addFilter(TaskContext())
    return logger


class TaskContext(logging.Filter):
    """Adds ``task_id``, ``trace_id`` and ``span_id`` to lines where they are known.

    Args:
        redact: rewrites the text of every line and of its traceback, for secrets that must not
            reach a log; what it cannot rewrite (raises) is left out.
    """

    def __init__(self, redact: Callable[[str], str] | None = None) -> None:
        super().__init__()
        self._redact = redact

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every line through."""
        about = subject.get(None)
        if about is not None and about.id is not None and not hasattr(record, TASK_ID):
            setattr(record, TASK_ID, about.id)
        span = trace.get_current_span().get_span_context()
        if span.is_valid:
            record.__dict__["trace_id"] = trace.format_trace_id(span.trace_id)
            record.__dict__["span_id"] = trace.format_span_id(span.span_id)
        if self._redact is not None:
            _redacted(record, self._redact)
        return True


def _redacted(record: logging.LogRecord, redact: Callable[[str], str]) -> None:
    try:
        if record.exc_info:
            record.exc_text = redact(logging.Formatter().formatException(record.exc_info))
        record.msg, record.args = redact(record.getMessage()), None
    except Exception as error:  # noqa: BLE001 - a line that may hold a secret is worse than none
        record.msg, record.args = f"(a line that {redact!r} could not redact: {error!r})", None
        record.exc_text = None
    record.exc_info = None


class TextLines(logging.Formatter):
    """For people: time, level, logger and words, with the task at the end."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base's name
        """The line, with its task."""
        task_id = getattr(record, TASK_ID, None)
        line = super().formatMessage(record)
        # One line, whatever ids and names of others are in it: they would write lines of their own.
        return visible(line if task_id is None else f"{line} [task {task_id}]")


class JsonLines(logging.Formatter):
    """For programs: one JSON object a line, with every ``extra`` as a member of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        said: dict[str, Any] = {
            "time": _instant(record.created),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        extra: Mapping[str, Any] = vars(record)
        said |= {name: extra[name] for name in extra if name not in OWN and name not in said}
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            said["exception"] = record.exc_text
        return json.dumps(said, default=str, ensure_ascii=False)


def _instant(seconds: float) -> str:
    """RFC 3339, in UTC, to the millisecond."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"


__all__ = [
    "TASK_ID",
    "JsonLines",
    "Subject",
    "TaskContext",
    "TextLines",
    "about_task",
    "subject",
    "task_logger",
]
