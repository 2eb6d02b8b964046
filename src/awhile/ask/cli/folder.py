"""What lies in the data folder: results, the page's key, and which servers are running."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator

TOKEN_BYTES = 24


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One server of this data folder, as it announced itself."""

    url: str
    pid: int
    database: str
    """The path of the database it serves."""


class DataFolder:
    """The data folder, made on the way.

    Raises:
        SettingsError: it cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = path / "results"
        self._servers = path / "servers"
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._servers.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error.strerror) from error
        if not os.access(path, os.W_OK | os.X_OK):
            raise self._unwritable("permission denied")

    def page_token(self) -> str:
        """The key of the page: kept, so that an open page goes on after a restart."""
        file = self.path / "page-key"
        try:
            # Only this user may read it: whoever has it may read and stop everything.
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return file.read_text(encoding="ascii").strip()
        with os.fdopen(descriptor, "w", encoding="ascii") as new:
            token = secrets.token_urlsafe(TOKEN_BYTES)
            new.write(token)
        return token

    @contextmanager
    def announced(self, url: str, database: Path) -> Generator[None]:
        """Let other programs of this data folder find this server, for as long as it runs."""
        file = self._servers / f"{os.getpid()}.json"
        draft = file.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(RunningServer(url, os.getpid(), str(database)))))
        draft.replace(file)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    def running_servers(self) -> list[RunningServer]:
        """Servers that announced themselves and whose process lives, the newest first."""
        found: list[tuple[float, RunningServer]] = []
        for file in self._servers.glob("*.json"):
            try:
                server = RunningServer(**json.loads(file.read_text()))
                at = file.stat().st_mtime
            except (OSError, ValueError, TypeError):
                continue  # it ended just now
            if _alive(server.pid):
                found.append((at, server))
            else:
                file.unlink(missing_ok=True)  # it was killed
        return [server for _, server in sorted(found, key=lambda one: one[0], reverse=True)]

    def _unwritable(self, why: str | None) -> SettingsError:
        return SettingsError(
            f"The data folder {str(self.path)!r} cannot be written ({why}), so nothing could be "
            "kept. Make it writable, or choose another with --data-folder."
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


__all__ = ["DataFolder", "RunningServer"]
