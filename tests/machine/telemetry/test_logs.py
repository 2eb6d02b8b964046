"""What a log line says beside its words: the task, as an attribute, in text and in JSON."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import pytest

from awhile.telemetry.logs import (
    JsonLines,
    TaskContext,
    TextLines,
    about_task,
    subject,
    task_logger,
)


class Body:
    """A run, as far as a log knows it."""

    def __init__(self, task_id: str | None) -> None:
        self.id = task_id


@contextmanager
def about(body: Body) -> Generator[None]:
    """Run the block as that body."""
    token = subject.set(body)
    try:
        yield
    finally:
        subject.reset(token)


class Written:
    """What a logger of its own has written."""

    def __init__(self, formatter: logging.Formatter, context: TaskContext) -> None:
        self.stream = io.StringIO()
        handler = logging.StreamHandler(self.stream)
        handler.setFormatter(formatter)
        handler.addFilter(context)
        self.logger = logging.Logger("tool", logging.INFO)
        self.logger.addHandler(handler)

    @property
    def objects(self) -> list[dict[str, Any]]:
        """The lines as JSON objects."""
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


def as_json(redact: Callable[[str], str] | None = None) -> Written:
    return Written(JsonLines(), TaskContext(redact))


def test_a_line_within_a_run_is_about_its_task_once_it_is_one() -> None:
    """Ours."""
    body, written = Body(None), as_json()
    with about(body):
        written.logger.info("not a task yet")
        body.id = "t1"
        written.logger.info("a task by now")
    written.logger.info("about nothing")
    assert [one.get("task_id") for one in written.objects] == [None, "t1", None]


def test_a_line_of_a_thread_within_a_run_is_about_its_task() -> None:
    """Ours; anyio's threads run in a copy of their starter's context."""
    written = as_json()
    with about(Body("t1")):
        run = copy_context().run
        thread = threading.Thread(target=lambda: run(written.logger.info, "in a thread"))
        thread.start()
        thread.join()
    assert written.objects[0]["task_id"] == "t1"


def test_a_line_that_names_its_task_is_about_that_one() -> None:
    """Ours: the runtime writes about one task while it runs another."""
    written = as_json()
    with about(Body("t1")):
        written.logger.info("another", extra=about_task("t2"))
    assert written.objects[0]["task_id"] == "t2"


def test_a_json_line_has_time_level_logger_words_extras_and_exception() -> None:
    """Ours: one object a line, whatever is in it."""
    written = as_json()
    try:
        raise ValueError("no\nway")
    except ValueError:
        written.logger.exception("it %s", "broke", extra={"rows": 7, "what": object})
    [said] = written.objects
    assert (said["level"], said["logger"], said["message"]) == ("ERROR", "tool", "it broke")
    assert said["time"].endswith("Z")
    assert len(said["time"]) == len("2026-01-01T00:00:00.000Z")
    assert said["rows"] == 7
    assert said["what"] == str(object)
    assert "ValueError: no\nway" in said["exception"]


def test_a_text_line_ends_with_its_task() -> None:
    """Ours."""
    written = Written(TextLines(), TaskContext())
    with about(Body("t1")):
        written.logger.warning("slow")
    written.logger.warning("quiet")
    first, second = written.stream.getvalue().splitlines()
    assert first.endswith(" WARNING tool: slow [task t1]")
    assert second.endswith(" WARNING tool: quiet")


def test_nobody_writes_a_line_of_their_own_into_the_log() -> None:
    """Ours: an id that somebody made up is in the audit trail as they sent it."""
    written = Written(TextLines(), TaskContext())
    made_up = "x\n2026-01-01 INFO awhile.audit: admin stopped all\u2028\x1b[2J"
    written.logger.warning("saw %s", made_up, extra={"task_id": made_up})
    [line] = written.stream.getvalue().splitlines()
    assert line.isprintable()


def test_a_redaction_rewrites_words_and_tracebacks() -> None:
    """Ours: a secret reaches no log, neither as an argument nor in an error's text."""
    written = as_json(lambda text: text.replace("hunter2", "…"))
    try:
        raise ValueError("password hunter2")
    except ValueError:
        written.logger.exception("signed in with %s", "hunter2")
    text = written.stream.getvalue()
    assert "hunter2" not in text
    assert written.objects[0]["message"] == "signed in with …"
    assert "ValueError: password …" in written.objects[0]["exception"]


def test_what_could_not_be_redacted_is_left_out() -> None:
    """Ours: a line less is better than a secret more."""

    def broken(_text: str) -> str:
        raise RuntimeError("no rule")

    written = as_json(broken)
    written.logger.info("hunter2")
    assert "hunter2" not in written.stream.getvalue()
    assert "could not redact" in written.objects[0]["message"]


def test_our_own_loggers_bear_the_task_without_any_set_up(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: for whoever uses the library in a program with logging of its own."""
    logger = task_logger("awhile.test")
    with about(Body("t1")):
        logger.warning("here")
    assert vars(caplog.records[0])["task_id"] == "t1"
