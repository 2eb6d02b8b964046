"""Where results live: one Parquet file a run, and what was derived from it."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

__all__ = ["ResultFolder"]


class ResultFolder:
    """The results in one folder, by run id. The folder is made when the first path is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, run_id: str) -> Path:
        """Where the result of a run is, or will be. Readable by this user only."""
        self._check(run_id)
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._folder / f"{run_id}.parquet"

    def draft(self, run_id: str) -> Path:
        """A name of its own for the result of one execution, until `keep` makes it the run's.

        A run may be executed again while an earlier worker, frozen for a while, still believes it
        has it: that one must neither write nor remove what the later one wrote.
        """
        path = self.path(run_id)
        return path.with_name(f".{run_id}.{uuid4().hex}.parquet")

    def keep(self, run_id: str, draft: Path) -> Path:
        """Make a finished draft the result of the run; where it is now."""
        return draft.replace(self.path(run_id))

    def delete(self, run_id: str) -> None:
        """Delete a result and the sorted copies made of it; nothing happens if there is none."""
        self._check(run_id)
        for path in self._folder.glob(f".{run_id}.*"):
            path.unlink(missing_ok=True)
        (self._folder / f"{run_id}.parquet").unlink(missing_ok=True)

    @staticmethod
    def _check(run_id: str) -> None:
        # Ids are letters and digits; anything else could name a file somewhere else.
        if not run_id.isalnum():
            raise ValueError(f"{run_id!r} is no run id; ids are letters and digits")
