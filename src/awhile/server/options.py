"""How one tool's calls are run: declared once, with the tool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from awhile.errors import SettingsError
from awhile.runtime.limits import Limits

if TYPE_CHECKING:
    from awhile.runtime.bodies import RunIn
    from awhile.runtime.outside import Stop

TaskSupport = Literal["forbidden", "optional", "required"]
"""Whether a tool's calls may, or must, become tasks (MCP 2025-11-25, ``execution.taskSupport``)."""

Rerun = Literal["never", "safe"]
"""Whether a body may be run again after its worker was lost."""

MAX_ATTEMPTS = 3
"""How often a body that is safe to run again is run at most (source: ours)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """One task tool. See `awhile.server.tasks.Tasks.tool` for what each means."""

    name: str
    run_parameters: tuple[str, ...]
    run_in: RunIn
    task_support: TaskSupport
    inline_seconds: float
    rerun: Rerun
    kept: Literal["when_slow", "always"]
    request_key: str | None
    keep_seconds: float | None
    give_up_seconds: float
    grace_seconds: float
    work_seconds: float | None
    answer_seconds: float | None
    unobserved_seconds: float | None
    stop: Stop | None
    asks_by_answer: bool = True

    def __post_init__(self) -> None:
        bounds = {
            "inline_seconds": (self.inline_seconds, 0, 3600),
            "give_up_seconds": (self.give_up_seconds, 0.1, 86_400),
            "grace_seconds": (self.grace_seconds, 0, 3600),
            "work_seconds": (self.work_seconds, 0.01, 365 * 86_400),
            "answer_seconds": (self.answer_seconds, 0.01, 365 * 86_400),
            "unobserved_seconds": (self.unobserved_seconds, 1, 365 * 86_400),
            "keep_seconds": (self.keep_seconds, 0, 10 * 365 * 86_400),
        }
        if self.task_support == "forbidden" and self.kept == "always":
            raise SettingsError(
                f"Tool {self.name!r} forbids tasks but has kept='always', which keeps each call as "
                "one. Leave one of the two out."
            )
        for name, (value, low, high) in bounds.items():
            if value is not None and not low <= value <= high:
                raise SettingsError(
                    f"{name} of tool {self.name!r} is {value!r}; it has to be between {low} and "
                    f"{high} seconds."
                )

    @property
    def max_attempts(self) -> int:
        """How often the body may be started in all."""
        return MAX_ATTEMPTS if self.rerun == "safe" else 1

    @property
    def waits_inline(self) -> bool:
        """Whether a caller may have to wait on its stream for a body that ends with it."""
        return self.task_support != "required" and self.kept == "when_slow"

    @property
    def answers_at_once(self) -> bool:
        """Whether a caller that takes tasks is answered with one as soon as it is kept."""
        at_once = self.task_support == "required" or self.inline_seconds == 0
        return self.kept == "always" and at_once

    @property
    def limits(self) -> Limits:
        """How long the work may take."""
        return Limits(
            give_up_seconds=self.give_up_seconds,
            work_seconds=self.work_seconds,
            answer_seconds=self.answer_seconds,
        )

    @property
    def unobserved_ms(self) -> int | None:
        """How long the work goes on while nobody looks, in milliseconds; None for as it takes."""
        return None if self.unobserved_seconds is None else round(self.unobserved_seconds * 1000)

    @property
    def keep_ms(self) -> int | None:
        """How long a result lives after its end, in milliseconds; None for ever."""
        return None if self.keep_seconds is None else round(self.keep_seconds * 1000)
