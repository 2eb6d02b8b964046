"""What a person says of a run: a title, that it is pinned, what becomes of it when they leave.

Kept beside the run's statement and gone with it. One small JSON file for each run that has any
(source: ours).
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

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
    """The labels in one folder, by run id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "labels"

    def save(self, run_id: str, label: Label) -> None:
        """Keep a label; the file appears whole or not at all."""
        path = self._path(run_id)
        if label == Label():
            path.unlink(missing_ok=True)
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(label), ensure_ascii=False), encoding="utf-8")
        os.replace(draft, path)  # noqa: PTH105 - atomic also where the target exists

    def load(self, run_id: str) -> Label:
        """The label of a run."""
        try:
            return Label(**json.loads(self._path(run_id).read_text(encoding="utf-8")))
        except (FileNotFoundError, json.JSONDecodeError):
            return Label()

    def delete(self, run_id: str) -> None:
        """Forget a label; nothing happens if there is none."""
        self._path(run_id).unlink(missing_ok=True)

    def run_ids(self) -> list[str]:
        """The runs that have a label."""
        return [path.stem for path in self._folder.glob("*.json")]

    def _path(self, run_id: str) -> Path:
        if not run_id.isalnum():  # ids are hexadecimal; this is what keeps a path from escaping
            raise ValueError(f"{run_id!r} is no run id")
        return self._folder / f"{run_id}.json"


__all__ = ["LONGEST_TITLE", "Label", "Labels"]
