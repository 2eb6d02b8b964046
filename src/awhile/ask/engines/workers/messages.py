"""What travels between a pool and its worker processes. Both run the same code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from awhile.ask.engines.contract import Column, CutBy, Estimate, Stage
from awhile.ask.engines.parameters import Scalar
from awhile.ask.schema import Schema

__all__ = [
    "Answered",
    "Begun",
    "Connected",
    "Described",
    "Failed",
    "Fetched",
    "Interrupt",
    "Interrupted",
    "Looked",
    "NotOpened",
    "Opened",
    "Order",
    "OutOfReach",
    "Progressed",
    "Refused",
    "ToDescribe",
    "ToEnd",
    "ToEstimate",
    "ToLook",
    "ToOpen",
    "ToRun",
]


@dataclass(frozen=True, slots=True)
class ToOpen:
    """Open the database (it is closed again by itself when nothing follows)."""


@dataclass(frozen=True, slots=True)
class ToDescribe:
    """Read the schema card of `principal`, spending about `seconds` on statistics."""

    seconds: float
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ToLook:
    """Say what identifies the catalog as `principal` sees it."""

    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ToEstimate:
    """Say what a query would cost; it is not run."""

    sql: str
    parameters: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ToRun:
    """Run one SELECT and write at most `rows` and `bytes` of it to `destination`.

    `seconds` is what is left of its time: the pool keeps that, and a server that is told it, too,
    stops by itself should everybody else be gone.
    """

    sql: str
    rows: int
    bytes: int
    destination: Path
    seconds: float | None = None
    parameters: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ToEnd:
    """End what another worker, killed meanwhile, may have left running on a server."""

    token: object


Order = ToOpen | ToDescribe | ToLook | ToEstimate | ToRun | ToEnd


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the order that is being carried out; the answer is `Interrupted` or its ending."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The worker has taken up an order. Before this comes, nothing has been done about it."""


@dataclass(frozen=True, slots=True)
class Connected:
    """What `ToEnd` needs to find on the server what this worker runs there."""

    token: object


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """What `Connected` gives where something may run on a server, and nothing there can be asked
    about it."""


@dataclass(frozen=True, slots=True)
class Opened:
    pass


@dataclass(frozen=True, slots=True)
class NotOpened:
    """The database could not be opened: why, and what to do, as a sentence."""

    message: str


@dataclass(frozen=True, slots=True)
class Described:
    """`catalog` identifies the catalog that the schema was read from."""

    catalog: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class Looked:
    catalog: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The estimate, None where there is none; or, of `ToEnd`, that nothing runs any more."""

    estimate: Estimate | None


@dataclass(frozen=True, slots=True)
class Progressed:
    percent: float | None
    rows: int
    stage: Stage


@dataclass(frozen=True, slots=True)
class Fetched:
    columns: tuple[Column, ...]
    row_count: int
    cut_by: CutBy | None


@dataclass(frozen=True, slots=True)
class Failed:
    message: str
    line: int | None = None
    column: int | None = None
    unknown_name: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    word: str
    why: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The query has ended here; `confirmed` says whether it is known to have ended on its server,
    too, where there is one."""

    confirmed: bool = True
