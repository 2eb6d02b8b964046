"""How long callers and work are waited for: the settings of one `Tasks`."""

from __future__ import annotations

from dataclasses import dataclass

from awhile.errors import SettingsError


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """See `awhile.server.tasks.Tasks` for what each means."""

    inline_limit_seconds: float
    abandoned_seconds: float
    companion_tools: bool
    listen_seconds: float
    listen_streams: int

    def __post_init__(self) -> None:
        bounds = {
            "inline_limit_seconds": (self.inline_limit_seconds, 0.05, 3600),
            "abandoned_seconds": (self.abandoned_seconds, 0, 86_400),
            "listen_seconds": (self.listen_seconds, 0.05, 7 * 86_400),
        }
        for name, (value, low, high) in bounds.items():
            if not low <= value <= high:
                raise SettingsError(
                    f"{name} is {value!r}; it has to be between {low} and {high} seconds."
                )
        if self.listen_streams < 0:
            raise SettingsError(
                f"listen_streams is {self.listen_streams!r}; use 0 to serve no listen streams."
            )
