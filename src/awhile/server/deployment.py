"""Where a server's tasks are and how its process works: what an operator decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from awhile.errors import SettingsError
from awhile.stores.bounds import Bounds
from awhile.stores.open import open_store
from awhile.stores.sealing import sealed

if TYPE_CHECKING:
    from awhile.server.operating import Operating
    from awhile.stores.contract import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """See `awhile.server.tasks.Tasks` for what each means."""

    store: str | Store | None
    slots: int
    lease_seconds: float
    drain_seconds: float
    gone_tool_seconds: float
    max_queued: int | None
    max_queued_per_owner: int | None
    max_running_per_owner: int | None
    operating: Operating

    def __post_init__(self) -> None:
        if isinstance(self.store, str):
            open_store(self.store)  # opens nothing yet, but refuses a bad URL here and now
        if self.slots < 0:
            raise SettingsError(
                f"slots is {self.slots!r}; use 0 for a server that leaves all work to workers."
            )
        if self.drain_seconds < 0:
            raise SettingsError(f"drain_seconds is {self.drain_seconds!r}; use 0 to wait for none.")
        if self.gone_tool_seconds <= 0:
            raise SettingsError(
                f"gone_tool_seconds is {self.gone_tool_seconds!r}: tasks would end before any "
                "worker could have said that it knows their tool; use some minutes."
            )

        for name in ("max_queued", "max_queued_per_owner", "max_running_per_owner"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SettingsError(
                    f"{name} is {value!r}: nothing could ever wait, or run; use at least 1, or "
                    "None for no bound."
                )

    @property
    def bounds(self) -> Bounds:
        """How much may wait, and run, at once."""
        return Bounds(
            queued=self.max_queued,
            queued_per_owner=self.max_queued_per_owner,
            running_per_owner=self.max_running_per_owner,
        )

    def unopened(self) -> Store:
        """The store, to be opened.

        Raises:
            SettingsError: there is none.
        """
        if self.store is None:
            raise SettingsError(
                "Tasks() names no store, so no task could be kept. Serve the module by `awhile "
                "serve module:server --store sqlite:///tasks.db`, or name one: "
                "Tasks('sqlite:///tasks.db')."
            )
        store = open_store(self.store) if isinstance(self.store, str) else self.store
        codec = self.operating.codec
        return store if codec is None else sealed(store, codec)
