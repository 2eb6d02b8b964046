"""What a person says of a run: a title, that it is pinned, what becomes of it when they leave.

Kept beside the run's statement and gone with it. One small JSON file for each run that has any
(source: ours).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from awhile.ask.results.storage import name_of

if TYPE_CHECKING:
    from awhile.ask.results.storage import Storage

_SUFFIX = ".label"

LONGEST_TITLE = 200
"""Characters of a title."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What was said of one run; the defaults are those of a run of which nothing was said."""

    title: str | None = None
    """Shown in place of the question."""
    pinned: bool = False
    stop_when_left: bool = False
    """Whether whoever shows the run to a person stops it once that person has left."""


class Labels:
    """The labels in one storage, by run id. Its methods may block."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def save(self, run_id: str, label: Label) -> None:
        """Keep a label; the file appears whole or not at all."""
        if label == Label():
            self.delete(run_id)
            return
        content = json.dumps(asdict(label), ensure_ascii=False).encode()
        self._storage.write(name_of(run_id, _SUFFIX), content)

    def load(self, run_id: str) -> Label:
        """The label of a run."""
        return _read(self._storage.read([name_of(run_id, _SUFFIX)]).get(f"{run_id}{_SUFFIX}"))

    def load_all(self) -> dict[str, Label]:
        """The labels of all runs that have any."""
        found = self._storage.read(self._storage.names(_SUFFIX))
        return {name.removesuffix(_SUFFIX): _read(content) for name, content in found.items()}

    def delete(self, run_id: str) -> None:
        """Forget a label; nothing happens if there is none."""
        self._storage.delete(name_of(run_id, _SUFFIX))

    def run_ids(self) -> list[str]:
        """The runs that have a label."""
        return [name.removesuffix(_SUFFIX) for name in self._storage.names(_SUFFIX)]


def _read(content: bytes | None) -> Label:
    try:
        return Label() if content is None else Label(**json.loads(content))
    except json.JSONDecodeError:
        return Label()


__all__ = ["LONGEST_TITLE", "Label", "Labels"]
